package cli

import (
	"reflect"

	"aiperf/internal/config"
)

// ignoredSetting is a setting of the environment that this build reads and cannot follow, wherever it was made: in a variable or in a file.
type ignoredSetting struct {
	name   string // of the variable, without the prefix
	value  func(*config.Environment) any
	why    string
	refuse bool // the run would not be what was asked for
}

const (
	noCollection = "not built yet: nothing is collected"
	noMedia      = "not built yet: no media are fetched"
	noHidden     = "not built yet: there are no hidden metrics"
)

// ignoredSettings are the settings without effect. All others reach the run (package run).
var ignoredSettings = []ignoredSetting{
	{name: "HTTP_TRUST_ENV", value: func(e *config.Environment) any { return e.HTTP.TrustEnv }, why: "proxies are not built yet", refuse: true},
	{name: "METRICS_LIST_BACKEND", value: func(e *config.Environment) any { return e.Metrics.ListBackend }, why: "sketches are not built yet; built is ragged, which is exact", refuse: true},
	{name: "METRICS_TDIGEST_COMPRESSION", value: func(e *config.Environment) any { return e.Metrics.TDigestCompression }, why: "list metrics are exact"},
	{name: "HTTP_CONNECTION_LIMIT", value: func(e *config.Environment) any { return e.HTTP.ConnectionLimit }, why: "connections are not limited, a limit would be a hidden concurrency"},
	{name: "HTTP_VIDEO_POLL_INTERVAL", value: func(e *config.Environment) any { return e.HTTP.VideoPollInterval }, why: "not built yet: no endpoint type polls"},
	{name: "TIMING_RATE_RAMP_UPDATE_INTERVAL", value: func(e *config.Environment) any { return e.Timing.RateRampUpdateInterval }, why: "a rate ramp has no steps"},
	{name: "UI_MIN_UPDATE_PERCENT", value: func(e *config.Environment) any { return e.UI.MinUpdatePercent }, why: "the progress line is drawn by time"},
	{name: "GPU_COLLECTION_INTERVAL", value: func(e *config.Environment) any { return e.GPU.CollectionInterval }, why: noCollection},
	{name: "GPU_REACHABILITY_TIMEOUT", value: func(e *config.Environment) any { return e.GPU.ReachabilityTimeout }, why: noCollection},
	{name: "GPU_DEFAULT_DCGM_ENDPOINTS", value: func(e *config.Environment) any { return e.GPU.DefaultDCGMEndpoints }, why: noCollection},
	{name: "SERVER_METRICS_COLLECTION_INTERVAL", value: func(e *config.Environment) any { return e.Server.CollectionInterval }, why: noCollection},
	{name: "SERVER_METRICS_COLLECTION_FLUSH_PERIOD", value: func(e *config.Environment) any { return e.Server.FlushPeriod }, why: noCollection},
	{name: "SERVER_METRICS_REACHABILITY_TIMEOUT", value: func(e *config.Environment) any { return e.Server.ReachabilityTimeout }, why: noCollection},
	{name: "DATASET_CONFIGURATION_TIMEOUT", value: func(e *config.Environment) any { return e.Dataset.ConfigurationTimeout }, why: "prompts are made one by one; Ctrl-C ends a long start"},
	{name: "DATASET_MEDIA_DOWNLOAD_TIMEOUT", value: func(e *config.Environment) any { return e.Dataset.MediaDownloadTimeout }, why: noMedia},
	{name: "DATASET_MEDIA_DOWNLOAD_MAX_CONCURRENCY", value: func(e *config.Environment) any { return e.Dataset.MediaDownloadMax }, why: noMedia},
	{name: "DEV_MODE", value: func(e *config.Environment) any { return e.Dev.Mode }, why: noHidden},
	{name: "DEV_SHOW_INTERNAL_METRICS", value: func(e *config.Environment) any { return e.Dev.InternalMetrics }, why: noHidden},
	{name: "DEV_SHOW_EXPERIMENTAL_METRICS", value: func(e *config.Environment) any { return e.Dev.ExperimentalMetrics }, why: noHidden},
}

// tuned tells of every setting that differs from its default and has no effect.
func (r *resolver) tuned() {
	standard := config.DefaultEnvironment()
	for _, t := range ignoredSettings {
		switch differs := !reflect.DeepEqual(t.value(&r.run.Environment), t.value(&standard)); {
		case differs && t.refuse:
			r.fail("%s%s: %s", envPrefix, t.name, t.why)
		case differs:
			r.warn("%s%s has no effect: %s", envPrefix, t.name, t.why)
		}
	}
}
