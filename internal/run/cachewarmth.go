package run

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"aiperf/internal/artifact"
	"aiperf/internal/assembly"
	"aiperf/internal/config"
	"aiperf/internal/metric"
	"aiperf/internal/runfiles"
	"aiperf/internal/telemetry/servermetrics"
)

const (
	otherTraffic = 0.25 // by which the server's count of prompt tokens may differ from the run's, as a share; beyond it others used the server
	mostSiblings = 50   // directories beside that of the run that are looked at
)

// newPrefixes makes what collects the prompts. The telemetry starts before the first request.
func (o *opened) newPrefixes() *metric.Prefixes {
	return metric.NewPrefixes(func() bool { return o.watched != nil && o.watched.servers != nil && o.watched.servers.CountsCache() })
}

// cacheUse returns what is known of the server's prefix cache: from usage, else from the server's counters. Where the server reports nothing, it names an
// earlier run that sent the same prompts.
func (o *opened) cacheUse(cfg *config.Benchmark, opts *Options, window metric.Window) metric.CacheUse {
	if !assembly.Generates(o.results.Endpoint) {
		return metric.CacheUse{}
	}
	u := o.prefixes.Use()
	if o.prefixes.Tokens() > 0 {
		o.watched.cacheCounters(&u, o.prefixes.Tokens(), window)
	}
	if u.CacheSource == "" {
		u = metric.CacheUse{EarlierRun: earlierRun(cfg, opts)}
	}
	return u
}

// cacheCounters fills in the share of the server's counters where usage has none, if they count about as many prompt tokens as the run sent. Where workers hand
// prompts to each other, usage counts them as cached: then nothing is known to be in excess.
func (w *watched) cacheCounters(u *metric.CacheUse, tokens float64, window metric.Window) {
	if w.servers == nil {
		return
	}
	l, ok := w.servers.CacheLookups(servermetrics.Window{From: window.From, To: window.To})
	if l.Transferred > 0 {
		u.CacheExpectedMax = 100
	}
	if u.CacheSource == "" && ok && l.Asked > 0 && math.Abs(l.Asked/tokens-1) <= otherTraffic {
		u.CacheSource, u.CacheReported = l.Name, 100*min(1, l.Found/l.Asked)
	}
}

// earlierRun returns a directory beside that of the run whose run sent the same prompts to the same servers; "" = there is none, or the run makes its
// prompts new or the cache empty.
func earlierRun(cfg *config.Benchmark, opts *Options) string {
	bust := cfg.Dataset().CacheBustTarget()
	if bust != config.CacheBustNone && !isolates(bust) || cfg.Endpoint.ResetKVCache != nil {
		return ""
	}
	for _, u := range cfg.Endpoint.URLs {
		if strings.HasPrefix(u, mockScheme) { // each run starts its own
			return ""
		}
	}
	var settings map[string]any
	if json.Unmarshal(opts.InputConfig, &settings) != nil {
		return ""
	}
	own := promptsOf(settings)
	if own == nil {
		return ""
	}
	for _, dir := range siblings(cfg.Artifacts.Dir) {
		s, err := runfiles.Open(dir).Summary()
		if err != nil {
			continue
		}
		if sent, _ := s.Stat("request_count", "avg"); sent > 0 && reflect.DeepEqual(promptsOf(s.Config), own) {
			return dir
		}
	}
	return ""
}

// siblings are the directory of the results before those of a directory, and the first directories beside it.
func siblings(dir string) []string {
	list := []string{artifact.Previous(dir)}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return list
	}
	entries, _ := os.ReadDir(filepath.Dir(dir))
	for _, e := range entries {
		path := filepath.Join(filepath.Dir(dir), e.Name())
		if e.IsDir() && path != dir && path != artifact.Previous(dir) {
			list = append(list, path)
		}
		if len(list) > mostSiblings {
			break
		}
	}
	return list
}

// promptsOf are the settings that decide which prompts are sent where; nil = they are drawn anew in each run.
func promptsOf(settings map[string]any) []any {
	datasets, _ := settings["datasets"].([]any)
	endpoint, _ := settings["endpoint"].(map[string]any)
	seed := settings["random_seed"]
	if seed == nil {
		for _, one := range datasets {
			if d, _ := one.(map[string]any); d["type"] == config.DatasetSynthetic && d["random_seed"] == nil {
				return nil
			}
		}
	}
	if len(datasets) == 0 || endpoint["urls"] == nil {
		return nil
	}
	return []any{seed, datasets, endpoint["urls"], endpoint["path"], settings["models"]}
}
