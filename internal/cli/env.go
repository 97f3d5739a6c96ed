package cli

import (
	"fmt"
	"sort"
	"strings"

	"aiperf/internal/cli/args"
	"aiperf/internal/config"
	"aiperf/internal/suggest"
)

// envPrefix begins every variable that is ours.
const envPrefix = "AIPERF_"

// envVar is one variable and where its value goes.
type envVar struct {
	name string // without the prefix
	set  func(e *config.Environment, value string) error
}

// envVars are all variables of the contract (spec: cli, section 11). What some of them tune has no effect, see ignoredSettings.
var envVars = []envVar{
	{"HTTP_CONNECTION_LIMIT", envInt(">= 1", func(e *config.Environment) *int { return &e.HTTP.ConnectionLimit })},
	{"HTTP_KEEPALIVE_TIMEOUT", envSeconds(">= 0", func(e *config.Environment) *config.Seconds { return &e.HTTP.KeepaliveTimeout })},
	{"HTTP_SSL_VERIFY", envBool(func(e *config.Environment) *bool { return &e.HTTP.SSLVerify })},
	{"HTTP_TRUST_ENV", envBool(func(e *config.Environment) *bool { return &e.HTTP.TrustEnv })},
	{"HTTP_IP_VERSION", envChoice([]string{"4", "6", "auto"}, func(e *config.Environment) *string { return &e.HTTP.IPVersion })},
	{"HTTP_TTL_DNS_CACHE", envSeconds(">= 0", func(e *config.Environment) *config.Seconds { return &e.HTTP.TTLDNSCache })},
	{"HTTP_FORCE_CLOSE", envBool(func(e *config.Environment) *bool { return &e.HTTP.ForceClose })},
	{"HTTP_SO_RCVBUF", envInt(">= 1024", func(e *config.Environment) *int { return &e.HTTP.ReceiveBuffer })},
	{"HTTP_SO_SNDBUF", envInt(">= 1024", func(e *config.Environment) *int { return &e.HTTP.SendBuffer })},
	{"HTTP_MAX_RESPONSE_BYTES", envInt(">= 65536", func(e *config.Environment) *int { return &e.HTTP.MaxResponseBytes })},
	{"HTTP_VIDEO_POLL_INTERVAL", envSeconds("> 0", func(e *config.Environment) *config.Seconds { return &e.HTTP.VideoPollInterval })},
	{"HTTP_REQUEST_CANCELLATION_SEND_TIMEOUT", envSeconds("> 0", func(e *config.Environment) *config.Seconds { return &e.HTTP.CancelSendTimeout })},
	{"HTTP_X_SESSION_AFFINITY_FROM_CORRELATION_ID", envBool(func(e *config.Environment) *bool { return &e.HTTP.SessionAffinity })},
	{"HTTP_X_SESSION_ID_FROM_CORRELATION_ID", envBool(func(e *config.Environment) *bool { return &e.HTTP.SessionIDHeader })},
	{"HTTP_X_SMG_ROUTING_KEY_FROM_CORRELATION_ID", envBool(func(e *config.Environment) *bool { return &e.HTTP.SMGRoutingKeyHeader })},
	{"HTTP_X_DYNAMO_SESSION_ID_FROM_CORRELATION_ID", envBool(func(e *config.Environment) *bool { return &e.HTTP.DynamoSessionHeader })},
	{"ENDPOINT_FORCE_CONTENT_PARTS", envBool(func(e *config.Environment) *bool { return &e.ForceContentParts })},
	{"TIMING_CANCEL_DRAIN_TIMEOUT", envSeconds(">= 1, <= 300", func(e *config.Environment) *config.Seconds { return &e.Timing.CancelDrainTimeout })},
	{"TIMING_RATE_RAMP_UPDATE_INTERVAL", envSeconds(">= 0.01, <= 10", func(e *config.Environment) *config.Seconds { return &e.Timing.RateRampUpdateInterval })},
	{"TIMING_HIGH_RES_TIMER", envBool(func(e *config.Environment) *bool { return &e.Timing.HighResTimer })},
	{"TIMING_MAX_CATCHUP_SECONDS", envSeconds(">= 0, <= 10", func(e *config.Environment) *config.Seconds { return &e.Timing.MaxCatchup })},
	{"METRICS_USAGE_PCT_DIFF_THRESHOLD", envFloat(">= 0", func(e *config.Environment) *float64 { return &e.Metrics.UsagePctDiffThreshold })},
	{"METRICS_OSL_MISMATCH_PCT_THRESHOLD", envFloat(">= 0", func(e *config.Environment) *float64 { return &e.Metrics.OSLMismatchPct })},
	{"METRICS_OSL_MISMATCH_MAX_TOKEN_THRESHOLD", envInt(">= 0", func(e *config.Environment) *int { return &e.Metrics.OSLMismatchMaxTokens })},
	{"METRICS_LIST_BACKEND", envChoice([]string{"ragged", "tdigest"}, func(e *config.Environment) *string { return &e.Metrics.ListBackend })},
	{"METRICS_TDIGEST_COMPRESSION", envInt(">= 1", func(e *config.Environment) *int { return &e.Metrics.TDigestCompression })},
	{"UI_CONSOLE_EXPORT_WIDTH", envInt(">= 1", func(e *config.Environment) *int { return &e.UI.ConsoleExportWidth })},
	{"UI_MIN_UPDATE_PERCENT", envFloat(">= 0", func(e *config.Environment) *float64 { return &e.UI.MinUpdatePercent })},
	{"GPU_COLLECTION_INTERVAL", envSeconds("> 0", func(e *config.Environment) *config.Seconds { return &e.GPU.CollectionInterval })},
	{"GPU_REACHABILITY_TIMEOUT", envSeconds("> 0", func(e *config.Environment) *config.Seconds { return &e.GPU.ReachabilityTimeout })},
	{"GPU_DEFAULT_DCGM_ENDPOINTS", func(e *config.Environment, v string) error {
		e.GPU.DefaultDCGMEndpoints = strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(` ,"[]`, r) })
		return nil
	}},
	{"SERVER_METRICS_COLLECTION_INTERVAL", envSeconds("> 0", func(e *config.Environment) *config.Seconds { return &e.Server.CollectionInterval })},
	{"SERVER_METRICS_COLLECTION_FLUSH_PERIOD", envSeconds(">= 0", func(e *config.Environment) *config.Seconds { return &e.Server.FlushPeriod })},
	{"SERVER_METRICS_REACHABILITY_TIMEOUT", envSeconds("> 0", func(e *config.Environment) *config.Seconds { return &e.Server.ReachabilityTimeout })},
	{"DATASET_CONFIGURATION_TIMEOUT", envSeconds("> 0", func(e *config.Environment) *config.Seconds { return &e.Dataset.ConfigurationTimeout })},
	{"DATASET_MEDIA_DOWNLOAD_TIMEOUT", envSeconds("> 0", func(e *config.Environment) *config.Seconds { return &e.Dataset.MediaDownloadTimeout })},
	{"DATASET_MEDIA_DOWNLOAD_MAX_CONCURRENCY", envInt(">= 1", func(e *config.Environment) *int { return &e.Dataset.MediaDownloadMax })},
	{"DEV_MODE", envBool(func(e *config.Environment) *bool { return &e.Dev.Mode })},
	{"DEV_SHOW_INTERNAL_METRICS", envBool(func(e *config.Environment) *bool { return &e.Dev.InternalMetrics })},
	{"DEV_SHOW_EXPERIMENTAL_METRICS", envBool(func(e *config.Environment) *bool { return &e.Dev.ExperimentalMetrics })},
}

// unsupportedVars are known variables of what is not built yet, or of what one process has no use for.
var unsupportedVars = []string{
	"DATASET_PUBLIC_DATASET_TIMEOUT", "DATASET_MMAP_CACHE_ENABLED", "DATASET_MMAP_CACHE_DIR", "DATASET_INLINE_RECORDS_WARN_THRESHOLD",
	"UI_REALTIME_METRICS_INTERVAL", "UI_REALTIME_METRICS_ENABLED", "WORKER_CPU_UTILIZATION_FACTOR", "WORKER_MAX_WORKERS_CAP",
	"RECORD_PROCESSOR_SCALE_FACTOR", "RECORD_PROCESS_RECORDS_TIMEOUT", "SERVICE_PROFILE_CONFIGURE_TIMEOUT", "SERVICE_HEALTH_HOST",
	"SERVICE_HEALTH_PORT", "SERVICE_WARMUP_PROGRESS_LOG_INTERVAL", "API_SERVER_HOST", "API_SERVER_PORT", "API_SERVER_CORS_ORIGINS",
	"CHAT_CONNECT_TIMEOUT", "CHAT_READ_TIMEOUT", "NETWORK_LATENCY_DEFAULT_PROBE_INTERVAL", "NETWORK_LATENCY_MIN_SAMPLES",
	"NETWORK_LATENCY_CONNECT_TIMEOUT", "OTEL_FLUSH_INTERVAL_SECONDS", "OTEL_MAX_BATCH_RECORDS", "OTEL_MAX_BUFFERED_RECORDS",
	"OTEL_REQUEST_TIMEOUT_SECONDS", "MLFLOW_EXPORT_TIMEOUT_SECONDS", "WANDB_EXPORT_TIMEOUT_SECONDS", "TOKENIZER_PRELOAD_TIMEOUT",
	"ACCURACY_LCB_RELEASE_TAG", "SEARCH_PLANNER_SLA_PRECISION_DEFAULT", "SEARCH_PLANNER_DEFAULT_WARMUP_SECONDS", "DAG_FAIL_FAST",
}

// readEnvironment reads the AIPERF_* variables of an environment ("KEY=value").
func readEnvironment(environ []string, into *config.Environment) (problems, warnings []string) {
	known := map[string]envVar{}
	names := make([]string, 0, len(envVars)+len(unsupportedVars))
	for _, v := range envVars {
		known[v.name] = v
		names = append(names, envPrefix+v.name)
	}
	idle := map[string]bool{}
	for _, n := range unsupportedVars {
		idle[n] = true
		names = append(names, envPrefix+n)
	}
	environ = append([]string(nil), environ...)
	sort.Strings(environ)
	for _, entry := range environ {
		key, value, _ := strings.Cut(entry, "=")
		name, ours := strings.CutPrefix(key, envPrefix)
		if !ours || value == "" {
			continue
		}
		v, ok := known[name]
		switch {
		case ok:
			if err := v.set(into, value); err != nil {
				problems = append(problems, fmt.Sprintf("environment variable %s: %q %v", key, value, err))
			}
		case idle[name]:
			warnings = append(warnings, key+" is set, but what it tunes is not built yet")
		default:
			hint := ""
			if near := suggest.Name(key, names); near != "" {
				hint = "; did you mean " + near + "?"
			}
			warnings = append(warnings, key+" is set, but no such variable exists"+hint)
		}
	}
	return problems, warnings
}

func envInt(bounds string, field func(*config.Environment) *int) func(*config.Environment, string) error {
	return func(e *config.Environment, value string) error {
		n, err := args.ParseInt(value)
		if err == nil {
			err = args.CheckBounds(float64(n), bounds)
		}
		if err == nil {
			*field(e) = int(n)
		}
		return err
	}
}

func envFloat(bounds string, field func(*config.Environment) *float64) func(*config.Environment, string) error {
	return func(e *config.Environment, value string) error {
		f, err := args.ParseFloat(value, false)
		if err == nil {
			err = args.CheckBounds(f, bounds)
		}
		if err == nil {
			*field(e) = f
		}
		return err
	}
}

func envSeconds(bounds string, field func(*config.Environment) *config.Seconds) func(*config.Environment, string) error {
	return envFloat(bounds, func(e *config.Environment) *float64 { return (*float64)(field(e)) })
}

func envBool(field func(*config.Environment) *bool) func(*config.Environment, string) error {
	return func(e *config.Environment, value string) error {
		b, err := args.ParseBool(value)
		if err == nil {
			*field(e) = b
		}
		return err
	}
}

func envChoice(choices []string, field func(*config.Environment) *string) func(*config.Environment, string) error {
	return func(e *config.Environment, value string) error {
		c, ok := args.Choice(value, choices)
		if !ok {
			return fmt.Errorf("is not one of %s", strings.Join(choices, ", "))
		}
		*field(e) = c
		return nil
	}
}
