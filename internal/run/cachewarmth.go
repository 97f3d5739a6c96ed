package run

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/artifact"
	"aiperf/internal/report/runfiles"
	"aiperf/internal/run/inputs"
	"aiperf/internal/run/results"
	"aiperf/internal/sim/mockserver"
)

// maxSiblings is the largest number of neighbouring directories that are searched.
const maxSiblings = 50

// newPrefixes makes the collector of prompts. The telemetry must start before the first request.
func (o *runResources) newPrefixes() *metric.Prefixes {
	return metric.NewPrefixes(func() bool {
		return o.exporters.CountsCache() || o.opts.Worker != nil && o.opts.Worker.CacheCounters
	})
}

// cacheUse returns what is known about the server's prefix cache: from the usage in the answers, else from the server's counters. If the server
// reports neither, the result names an earlier run that sent the same prompts.
func (o *runResources) cacheUse(window metric.Window) metric.CacheUse {
	if !results.Generates(o.results.Endpoint) || o.machines != nil && !o.machines.Complete() { // the servers saw prompts that nobody knows here
		return metric.CacheUse{}
	}
	u := o.prefixes.Use()
	if o.prefixes.Tokens() > 0 {
		o.exporters.CacheCounters(&u, o.prefixes.Tokens(), window)
	}
	if u.CacheSource == "" {
		u = metric.CacheUse{EarlierRun: earlierRun(o.cfg, o.opts)}
	}
	return u
}

// earlierRun returns a neighbouring directory whose run sent the same prompts to the same servers. It returns "" if there is none, or if the run uses
// new prompts or empties the cache.
func earlierRun(cfg *config.Benchmark, opts *Options) string {
	bust := cfg.Dataset().CacheBustTarget()
	if bust != config.CacheBustNone && !inputs.WarmupOnly(bust) || cfg.Endpoint.ResetKVCache != nil {
		return ""
	}
	for _, u := range cfg.Endpoint.URLs {
		if strings.HasPrefix(u, mockserver.Scheme) { // each run starts its own simulated server
			return ""
		}
	}
	var settings map[string]any
	if json.Unmarshal(opts.InputConfig, &settings) != nil {
		return ""
	}
	own := promptsOf(settings, opts.Info.RandomSeed.String())
	if own == nil {
		return ""
	}
	for _, dir := range siblings(cfg.Artifacts.Dir) {
		s, err := runfiles.Open(dir).Summary()
		if err != nil {
			continue
		}
		if sent, _ := s.Stat("request_count", "avg"); sent > 0 && reflect.DeepEqual(promptsOf(s.Config, s.RandomSeed), own) {
			return dir
		}
	}
	return ""
}

// siblings returns the directory with the previous results of dir, and the first maxSiblings directories next to dir.
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
		if len(list) > maxSiblings {
			break
		}
	}
	return list
}

// promptsOf returns the settings that decide which prompts are sent to which servers; nil if each run draws new prompts. seed is the seed of the run, in
// digits; "" = none was given.
func promptsOf(settings map[string]any, seed string) []any {
	datasets, _ := settings["datasets"].([]any)
	endpoint, _ := settings["endpoint"].(map[string]any)
	if seed == "" {
		for _, one := range datasets {
			if d, _ := one.(map[string]any); d["type"] == string(config.DatasetSynthetic) && d["random_seed"] == nil {
				return nil
			}
		}
	}
	if len(datasets) == 0 || endpoint["urls"] == nil {
		return nil
	}
	return []any{seed, datasets, endpoint["urls"], endpoint["path"], settings["models"]}
}
