package run

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/artifact"
	"aiperf/internal/sim/mockserver"
)

// listening starts a simulated server that outlives a run.
func listening(t *testing.T, knobs string) string {
	t.Helper()
	o, err := mockserver.ParseQuery(knobs)
	if err != nil {
		t.Fatal(err)
	}
	s, err := mockserver.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.URL()
}

// seeded is a run of 12 prompts of some 600 tokens, the same in every run.
func seeded(t *testing.T, dir, url string, change func(*config.Benchmark)) *metric.Run {
	t.Helper()
	b := whole(dir, url, 12)
	b.Dataset().Entries, b.Dataset().Prompts.ISL = 12, config.Normal(600, 0)
	if change != nil {
		change(b)
	}
	seed := config.Seed("7")
	input, err := (&config.Run{SchemaVersion: config.SchemaVersion, RandomSeed: &seed, Benchmark: *b}).InputConfig()
	if err != nil {
		t.Fatal(err)
	}
	run, err := Run(t.Context(), b, &seed, Options{Version: "test", Err: new(locked), InputConfig: input, Info: metric.RunInfo{RandomSeed: "7"}})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// TestWarmCacheOfAServer: the second of two equal runs meets a cache that the first one filled; usage or counters tell, and verdict and files say it. The first
// run has nothing to say, also where its own prompts share much.
func TestWarmCacheOfAServer(t *testing.T) {
	testhome.Slow(t)
	for _, c := range []struct {
		name, knobs, source string
		counters            bool
		change              func(*config.Benchmark)
		warm                bool // the second run
	}{
		{"usage", "on", "usage", false, nil, true},
		{"counters", "counters", "vllm:prefix_cache_hits", true, nil, true},
		{"shared system prompt", "on", "usage", false, func(b *config.Benchmark) {
			b.Dataset().PrefixPrompts = &config.PrefixPrompts{SharedSystemLength: 400}
			b.Dataset().Prompts.ISL = config.Normal(200, 0)
		}, false},
		{"turns", "on", "usage", false, func(b *config.Benchmark) {
			b.Dataset().Turns = config.Normal(4, 0)
			b.Dataset().Entries = 3
		}, false},
		{"repeated prompts", "on", "usage", false, func(b *config.Benchmark) { b.Dataset().Entries = 3 }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			url, top := listening(t, "ttft=1ms&itl=0&tokens=4&prefix-cache="+c.knobs), t.TempDir()
			change := func(b *config.Benchmark) {
				if b.ServerMetrics.Enabled = c.counters; c.change != nil {
					c.change(b)
				}
			}
			cold := seeded(t, filepath.Join(top, "a"), url, change)
			if v := cold.Validity; v.CacheSource != c.source || v.Excess() > 0 || strings.Contains(v.Reason+strings.Join(v.Notes, " "), "a cache") {
				t.Errorf("cold: %+v: %s %q", v.CacheUse, v.Sentence(), v.Notes)
			}
			if !c.warm {
				return
			}
			dir := filepath.Join(top, "b")
			v := seeded(t, dir, url, change).Validity
			if !v.Warm() || v.Verdict == metric.VerdictValid || !strings.Contains(v.Reason, "of the prompt tokens came from a cache, but this run's prompts share only 0 %") ||
				!strings.Contains(v.Reason, "change --random-seed, or use --cache-bust or --reset-kv-cache") {
				t.Errorf("warm: %+v: %s", v.CacheUse, v.Sentence())
			}
			data, err := os.ReadFile(filepath.Join(dir, "profile_export_aiperf.json"))
			if err != nil || !strings.Contains(string(data), `"prompt_cache_source": "`+c.source+`"`) || !strings.Contains(string(data), `"prompt_cache_reported_percent"`) {
				t.Errorf("the summary: %v", err)
			}
		})
	}
}

// TestEarlierRunOfTheSamePrompts: where the server reports nothing, an earlier run in the same directory is named that sent the same prompts to the same server; not
// where this run makes its prompts new, sends others or asks another server.
func TestEarlierRunOfTheSamePrompts(t *testing.T) {
	testhome.Slow(t)
	top := t.TempDir()
	url := listening(t, "ttft=1ms&itl=0&tokens=4")
	first := filepath.Join(top, "a")
	if v := seeded(t, first, url, nil).Validity; v.EarlierRun != "" {
		t.Errorf("the first run: %+v", v.CacheUse)
	}
	for name, c := range map[string]struct {
		url    string
		change func(*config.Benchmark)
		want   string
	}{
		"same":    {url, nil, first},
		"others":  {url, func(b *config.Benchmark) { b.Dataset().Prompts.ISL = config.Normal(90, 0) }, ""},
		"server":  {listening(t, "ttft=1ms&itl=0&tokens=4"), nil, ""},
		"busted":  {url, func(b *config.Benchmark) { b.Dataset().CacheBust = &config.CacheBust{Target: "system_prefix"} }, ""},
		"emptied": {url, func(b *config.Benchmark) { b.Endpoint.ResetKVCache = &config.ResetKVCache{} }, ""},
	} {
		dir := filepath.Join(top, name)
		v := seeded(t, dir, c.url, c.change).Validity
		if noted := strings.Contains(strings.Join(v.Notes, " "), "The run in "+first+" sent the same prompts to this server before"); v.EarlierRun != c.want || noted != (c.want != "") {
			t.Errorf("%s: %q, notes %q", name, v.EarlierRun, v.Notes)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	unseeded := map[string]any{"datasets": []any{map[string]any{"type": "synthetic"}}, "endpoint": map[string]any{"urls": []any{url}}}
	if promptsOf(unseeded, "") != nil {
		t.Error("runs that draw new prompts without a seed are taken for runs with the same prompts")
	}
	if reflect.DeepEqual(promptsOf(unseeded, "7"), promptsOf(unseeded, "8")) {
		t.Error("runs with different seeds are taken for runs with the same prompts")
	}
	if err := os.Rename(first, artifact.Previous(filepath.Join(top, "x"))); err != nil {
		t.Fatal(err)
	}
	if v := seeded(t, filepath.Join(top, "x"), url, nil).Validity; v.EarlierRun != artifact.Previous(filepath.Join(top, "x")) {
		t.Errorf("the results before those of a directory: %+v", v.CacheUse)
	}
}
