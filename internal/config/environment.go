package config

import (
	"encoding/json"
	"fmt"

	"aiperf/internal/base/redact"
	"aiperf/internal/base/setting"
)

// Environment holds the settings of AIPERF_* variables. The zero value is invalid; see Default.
type Environment struct {
	HTTP HTTPTuning `yaml:"http"`
	// ForceContentParts always writes the content of chat messages as a list of parts.
	ForceContentParts bool           `yaml:"endpoint_force_content_parts"`
	Timing            TimingTuning   `yaml:"timing"`
	Metrics           MetricsTuning  `yaml:"metrics"`
	UI                UITuning       `yaml:"ui"`
	GPU               CollectTuning  `yaml:"gpu"`
	Server            CollectTuning  `yaml:"server_metrics"`
	Network           NetworkTuning  `yaml:"network_latency"`
	OTel              OTelTuning     `yaml:"otel"`
	MLflow            UploadTuning   `yaml:"mlflow"`
	WandB             UploadTuning   `yaml:"wandb"`
	Dataset           DatasetTuning  `yaml:"dataset"`
	Accuracy          AccuracyTuning `yaml:"accuracy"`
	API               APITuning      `yaml:"api_server"`
	DAG               DAGTuning      `yaml:"dag"`
	Dev               DevTuning      `yaml:"dev"`
}

// HTTPTuning configures connections.
type HTTPTuning struct {
	ConnectionLimit     int     `yaml:"connection_limit"`
	KeepaliveTimeout    Seconds `yaml:"keepalive_timeout"`
	SSLVerify           bool    `yaml:"ssl_verify"`
	TrustEnv            bool    `yaml:"trust_env"`  // use HTTP_PROXY and related variables
	IPVersion           string  `yaml:"ip_version"` // 4, 6, auto
	TTLDNSCache         Seconds `yaml:"ttl_dns_cache"`
	ForceClose          bool    `yaml:"force_close"`
	SendBuffer          int     `yaml:"so_sndbuf"`           // bytes
	ReceiveBuffer       int     `yaml:"so_rcvbuf"`           // bytes
	MaxResponseBytes    int     `yaml:"max_response_bytes"`  // maximum size of an answer, decompressed
	VideoPollInterval   Seconds `yaml:"video_poll_interval"` // for the endpoint type video_generation
	CancelSendTimeout   Seconds `yaml:"request_cancellation_send_timeout"`
	SessionAffinity     bool    `yaml:"x_session_affinity_from_correlation_id"`
	SessionIDHeader     bool    `yaml:"x_session_id_from_correlation_id"`
	SMGRoutingKeyHeader bool    `yaml:"x_smg_routing_key_from_correlation_id"`
	DynamoSessionHeader bool    `yaml:"x_dynamo_session_id_from_correlation_id"`
}

// TimingTuning configures the scheduler.
type TimingTuning struct {
	CancelDrainTimeout     Seconds `yaml:"cancel_drain_timeout"`
	RateRampUpdateInterval Seconds `yaml:"rate_ramp_update_interval"`
	HighResTimer           bool    `yaml:"high_res_timer"`
	MaxCatchup             Seconds `yaml:"max_catchup_seconds"`
	NoFailFast             bool    `yaml:"no_fail_fast"` // continue even if no connection succeeds; --no-fail-fast
}

// DAGTuning configures sessions that start other sessions.
type DAGTuning struct {
	FailFast bool `yaml:"fail_fast"` // a failed request of a started session ends its graph
}

// MetricsTuning configures warnings and list metrics.
type MetricsTuning struct {
	UsagePctDiffThreshold float64 `yaml:"usage_pct_diff_threshold"`         // percent
	OSLMismatchPct        float64 `yaml:"osl_mismatch_pct_threshold"`       // percent
	OSLMismatchMaxTokens  int     `yaml:"osl_mismatch_max_token_threshold"` // tokens
	ListBackend           string  `yaml:"list_backend"`                     // ragged, tdigest
	TDigestCompression    int     `yaml:"tdigest_compression"`
}

// UITuning configures the console.
type UITuning struct {
	ConsoleExportWidth int     `yaml:"console_export_width"` // columns if the output is not a terminal
	MinUpdatePercent   float64 `yaml:"min_update_percent"`
	LiveFile           bool    `yaml:"live_file"` // write the file that aiperf watch reads
}

// CollectTuning configures one collector that runs next to the load.
type CollectTuning struct {
	CollectionInterval   Seconds  `yaml:"collection_interval"`
	FlushPeriod          Seconds  `yaml:"collection_flush_period,omitempty"`
	ReachabilityTimeout  Seconds  `yaml:"reachability_timeout"`
	DefaultDCGMEndpoints []string `yaml:"default_dcgm_endpoints,omitempty"`
	FinalScrapeGraceNs   int      `yaml:"final_scrape_grace_ns,omitempty"` // readings up to this long after the end still count
	ScrapeTimeout        Seconds  `yaml:"scrape_timeout,omitempty"`        // maximum wait for the last reading
}

// NetworkTuning configures the network probes.
type NetworkTuning struct {
	MinSamples     int     `yaml:"min_samples"` // per server
	ConnectTimeout Seconds `yaml:"connect_timeout"`
}

// OTelTuning configures the export to an OpenTelemetry collector.
type OTelTuning struct {
	FlushInterval  Seconds `yaml:"flush_interval"` // time between two exports
	MaxBatch       int     `yaml:"max_batch_records"`
	MaxBuffered    int     `yaml:"max_buffered_records"`
	RequestTimeout Seconds `yaml:"request_timeout"`
}

// UploadTuning configures the upload to a tracker.
type UploadTuning struct {
	ExportTimeout Seconds `yaml:"export_timeout"` // for the whole upload
}

// DatasetTuning configures the preparation of data.
type DatasetTuning struct {
	ConfigurationTimeout Seconds `yaml:"configuration_timeout"`
	MediaDownloadTimeout Seconds `yaml:"media_download_timeout"`
	MediaDownloadMax     int     `yaml:"media_download_max_concurrency"`

	Weka          WekaTuning     `yaml:"weka"`
	TraceLab      TraceLabTuning `yaml:"tracelab"`
	BasetenColumn string         `yaml:"baseten_session_column"` // column that names the session of a row
}

// WekaTuning configures how the agents of a recording are distinguished (package weka).
type WekaTuning struct {
	SplitAgents     bool    `yaml:"split_flattened_agents"`
	ToolMessages    bool    `yaml:"tool_shaped_messages"`
	SeamMaxGap      Seconds `yaml:"seam_max_gap_seconds"`
	SeamMinOverlap  float64 `yaml:"seam_min_overlap_ratio"`
	AuxMaxRequests  int     `yaml:"aux_max_requests"`
	AuxRatio        float64 `yaml:"aux_isl_ratio"`
	AuxFloor        int     `yaml:"aux_isl_floor"` // tokens
	AuxCrossModel   bool    `yaml:"aux_cross_model"`
	ReductionMaxOut int     `yaml:"aux_reduction_osl_max"` // tokens
	ReductionRatio  float64 `yaml:"aux_reduction_ratio"`
	GroupMin        int     `yaml:"worker_group_min"`
	Workers         int     `yaml:"parallel_workers"`
	Threshold       int     `yaml:"parallel_threshold"`
}

// TraceLabTuning configures how the agents of a TraceLab recording are matched with those that they started.
type TraceLabTuning struct {
	SubagentJoin      bool    `yaml:"subagent_join"`
	CodexSubagentJoin bool    `yaml:"codex_subagent_join"`
	MinSpawn          float64 `yaml:"min_spawn_ms"`
}

// AccuracyTuning configures accuracy benchmarks.
type AccuracyTuning struct {
	LCBReleaseTag  string `yaml:"lcb_release_tag"`  // release of LiveCodeBench
	BFCLVersionPin string `yaml:"bfcl_version_pin"` // release of bfcl-eval; "any" accepts every release
}

// APITuning configures the API that reports the progress of a run.
type APITuning struct {
	Port            int     `yaml:"port,omitempty"` // 0 = no API, unless runtime.api_port is set
	Host            string  `yaml:"host,omitempty"`
	Token           string  `yaml:"token,omitempty"`        // secret
	CORSOrigins     string  `yaml:"cors_origins,omitempty"` // JSON list of the pages whose scripts may access the API; "*" = any
	ShutdownTimeout Seconds `yaml:"shutdown_timeout"`
}

// OriginList returns the entries of CORSOrigins.
func (a *APITuning) OriginList() (list []string, err error) {
	if a.CORSOrigins == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(a.CORSOrigins), &list); err != nil {
		return nil, fmt.Errorf("%q: want a JSON list of origins, such as [\"http://localhost:3000\"]", a.CORSOrigins)
	}
	return list, nil
}

// DevTuning shows metrics that are hidden by default.
type DevTuning struct {
	Mode                bool `yaml:"mode"`
	InternalMetrics     bool `yaml:"show_internal_metrics"`
	ExperimentalMetrics bool `yaml:"show_experimental_metrics"`
}

// EnvPrefix is the prefix of all our environment variables.
const EnvPrefix = "AIPERF_"

// environmentRows are the variables of the contract (spec: cli, section 11) that configure features of this build.
var environmentRows = group("Environment", []setting.Row{
	{Env: "HTTP_CONNECTION_LIMIT", Key: "environment.http.connection_limit", Kind: setting.Int, Bounds: ">= 1, <= 65000", NoEffect: "connections are not limited; a limit would cap the concurrency without notice", Help: "open connections"},
	{Env: "HTTP_KEEPALIVE_TIMEOUT", Key: "environment.http.keepalive_timeout", Kind: setting.Float, Bounds: ">= 0, <= 10000", Unit: "s", Help: "lifetime of an idle connection, in s"},
	{Env: "HTTP_SSL_VERIFY", Key: "environment.http.ssl_verify", Kind: setting.Bool, Help: "check the certificates of servers"},
	{Env: "HTTP_TRUST_ENV", Key: "environment.http.trust_env", Kind: setting.Bool, Help: "use the proxies of HTTP_PROXY, HTTPS_PROXY and NO_PROXY"},
	{Env: "HTTP_IP_VERSION", Key: "environment.http.ip_version", Kind: setting.Enum, Choices: []string{"4", "6", "auto"}, Help: "IP version of server addresses"},
	{Env: "HTTP_TTL_DNS_CACHE", Key: "environment.http.ttl_dns_cache", Kind: setting.Float, Bounds: ">= 0, <= 1000000", Unit: "s", Help: "lifetime of a resolved host name, in s"},
	{Env: "HTTP_FORCE_CLOSE", Key: "environment.http.force_close", Kind: setting.Bool, Help: "close the connection after every request"},
	{Env: "HTTP_SO_RCVBUF", Key: "environment.http.so_rcvbuf", Kind: setting.Int, Bounds: ">= 1024", Help: "receive buffer of a socket, in bytes"},
	{Env: "HTTP_SO_SNDBUF", Key: "environment.http.so_sndbuf", Kind: setting.Int, Bounds: ">= 1024", Help: "send buffer of a socket, in bytes"},
	{Env: "HTTP_MAX_RESPONSE_BYTES", Key: "environment.http.max_response_bytes", Kind: setting.Int, Bounds: ">= 65536", Help: "largest answer, decompressed, in bytes"},
	{Env: "HTTP_VIDEO_POLL_INTERVAL", Key: "environment.http.video_poll_interval", Kind: setting.Float, Bounds: ">= 0.001, <= 10", Unit: "s", Help: "pause between two polls of a job (video_generation), in s"},
	{Env: "HTTP_REQUEST_CANCELLATION_SEND_TIMEOUT", Key: "environment.http.request_cancellation_send_timeout", Kind: setting.Float, Bounds: "> 0, <= 3600", Unit: "s", Help: "longest time to send a request before its cancel timer starts, in s"},
	{Env: "HTTP_X_SESSION_AFFINITY_FROM_CORRELATION_ID", Key: "environment.http.x_session_affinity_from_correlation_id", Kind: setting.Bool, Help: "send X-Session-Affinity"},
	{Env: "HTTP_X_SESSION_ID_FROM_CORRELATION_ID", Key: "environment.http.x_session_id_from_correlation_id", Kind: setting.Bool, Help: "send X-Session-ID"},
	{Env: "HTTP_X_SMG_ROUTING_KEY_FROM_CORRELATION_ID", Key: "environment.http.x_smg_routing_key_from_correlation_id", Kind: setting.Bool, Help: "send X-SMG-Routing-Key"},
	{Env: "HTTP_X_DYNAMO_SESSION_ID_FROM_CORRELATION_ID", Key: "environment.http.x_dynamo_session_id_from_correlation_id", Kind: setting.Bool, Help: "send X-Dynamo-Session-ID"},
	{Env: "ENDPOINT_FORCE_CONTENT_PARTS", Key: "environment.endpoint_force_content_parts", Kind: setting.Bool, Help: "always write chat message content as a list of parts"},
	{Env: "TIMING_CANCEL_DRAIN_TIMEOUT", Key: "environment.timing.cancel_drain_timeout", Kind: setting.Float, Bounds: ">= 1, <= 300", Unit: "s", Help: "longest wait for answers after Ctrl-C, in s"},
	{Env: "TIMING_RATE_RAMP_UPDATE_INTERVAL", Key: "environment.timing.rate_ramp_update_interval", Kind: setting.Float, Bounds: ">= 0.01, <= 10", Unit: "s", NoEffect: "a rate ramp has no steps", Help: "step of a rate ramp"},
	{Env: "TIMING_HIGH_RES_TIMER", Key: "environment.timing.high_res_timer", Kind: setting.Bool, Help: "wake early and busy-wait until the deadline"},
	{Env: "TIMING_MAX_CATCHUP_SECONDS", Key: "environment.timing.max_catchup_seconds", Kind: setting.Float, Bounds: ">= 0, <= 10", Unit: "s", Help: "longest delay that a late schedule may catch up, in s"},
	{Env: "METRICS_USAGE_PCT_DIFF_THRESHOLD", Key: "environment.metrics.usage_pct_diff_threshold", Kind: setting.Float, Bounds: ">= 0, <= 100", Help: "smallest reported difference of token counts, in percent"},
	{Env: "METRICS_OSL_MISMATCH_PCT_THRESHOLD", Key: "environment.metrics.osl_mismatch_pct_threshold", Kind: setting.Float, Bounds: ">= 0, <= 100", Help: "smallest reported difference of output lengths, in percent"},
	{Env: "METRICS_OSL_MISMATCH_MAX_TOKEN_THRESHOLD", Key: "environment.metrics.osl_mismatch_max_token_threshold", Kind: setting.Int, Bounds: ">= 0", Help: "upper limit of that threshold, in tokens"},
	{Env: "METRICS_LIST_BACKEND", Key: "environment.metrics.list_backend", Kind: setting.Enum, Choices: []string{"ragged", "tdigest"}, NotBuilt: true, NoEffect: "sketches are not built yet; built is ragged, which is exact", Help: "exact or sketched list metrics"},
	{Env: "METRICS_TDIGEST_COMPRESSION", Key: "environment.metrics.tdigest_compression", Kind: setting.Int, Bounds: ">= 20, <= 10000", NoEffect: "list metrics are exact", Help: "size of a sketch"},
	{Env: "UI_CONSOLE_EXPORT_WIDTH", Key: "environment.ui.console_export_width", Kind: setting.Int, Bounds: ">= 1, <= 10000", Help: "columns of tables without a terminal"},
	{Env: "UI_LIVE_FILE", Key: "environment.ui.live_file", Kind: setting.Bool, Help: "write the progress file for aiperf watch"},
	{Env: "UI_MIN_UPDATE_PERCENT", Key: "environment.ui.min_update_percent", Kind: setting.Float, Bounds: ">= 0.01, <= 100", NoEffect: "the progress line is drawn by time", Help: "step of the progress line, in percent"},
	{Env: "GPU_COLLECTION_INTERVAL", Key: "environment.gpu.collection_interval", Kind: setting.Float, Bounds: ">= 0.01, <= 300", Unit: "s", Help: "pause between two readings"},
	{Env: "GPU_REACHABILITY_TIMEOUT", Key: "environment.gpu.reachability_timeout", Kind: setting.Float, Bounds: ">= 1, <= 300", Unit: "s", Help: "time limit for the answer of an exporter, in s"},
	{Env: "GPU_DEFAULT_DCGM_ENDPOINTS", Key: "environment.gpu.default_dcgm_endpoints", Kind: setting.Text, List: true, Help: "exporters to try"},
	{Env: "GPU_FINAL_SCRAPE_GRACE_NS", Key: "environment.gpu.final_scrape_grace_ns", Kind: setting.Int, Bounds: ">= 0, <= 60000000000", Help: "time after the run in which readings still count, in ns"},
	{Env: "SERVER_METRICS_SCRAPE_TIMEOUT", Key: "environment.server_metrics.scrape_timeout", Kind: setting.Float, Bounds: ">= 0.1, <= 600", Unit: "s", Help: "time limit for the last reading, in s"},
	{Env: "SERVER_METRICS_COLLECTION_INTERVAL", Key: "environment.server_metrics.collection_interval", Kind: setting.Float, Bounds: ">= 0.001, <= 300", Unit: "s", Help: "pause between two readings"},
	{Env: "SERVER_METRICS_COLLECTION_FLUSH_PERIOD", Key: "environment.server_metrics.collection_flush_period", Kind: setting.Float, Bounds: ">= 0, <= 30", Unit: "s", Help: "time of readings after the run, in s"},
	{Env: "SERVER_METRICS_REACHABILITY_TIMEOUT", Key: "environment.server_metrics.reachability_timeout", Kind: setting.Float, Bounds: ">= 1, <= 300", Unit: "s", Help: "time limit for the answer of a server, in s"},
	{Env: "NETWORK_LATENCY_MIN_SAMPLES", Key: "environment.network_latency.min_samples", Kind: setting.Int, Bounds: ">= 1, <= 100000", Help: "minimum number of round-trip probes per server"},
	{Env: "NETWORK_LATENCY_CONNECT_TIMEOUT", Key: "environment.network_latency.connect_timeout", Kind: setting.Float, Bounds: ">= 0.001, <= 300", Unit: "s", Help: "time limit for one probe, in s"},
	{Env: "OTEL_FLUSH_INTERVAL_SECONDS", Key: "environment.otel.flush_interval", Kind: setting.Float, Bounds: ">= 0.05, <= 300", Unit: "s", Help: "pause between two deliveries to the collector"},
	{Env: "OTEL_MAX_BATCH_RECORDS", Key: "environment.otel.max_batch_records", Kind: setting.Int, Bounds: ">= 1, <= 1000000", Help: "maximum number of spans in one delivery"},
	{Env: "OTEL_MAX_BUFFERED_RECORDS", Key: "environment.otel.max_buffered_records", Kind: setting.Int, Bounds: ">= 1, <= 10000000", Help: "maximum number of waiting spans; more are dropped and counted"},
	{Env: "OTEL_REQUEST_TIMEOUT_SECONDS", Key: "environment.otel.request_timeout", Kind: setting.Float, Bounds: ">= 0.1, <= 300", Unit: "s", Help: "time limit for a delivery, in s"},
	{Env: "MLFLOW_EXPORT_TIMEOUT_SECONDS", Key: "environment.mlflow.export_timeout", Kind: setting.Float, Bounds: ">= 0.1, <= 3600", Unit: "s", Help: "time limit for the upload to MLflow, in s"},
	{Env: "WANDB_EXPORT_TIMEOUT_SECONDS", Key: "environment.wandb.export_timeout", Kind: setting.Float, Bounds: ">= 0.1, <= 3600", Unit: "s", Help: "time limit for the upload to Weights & Biases, in s"},
	{Env: "DATASET_CONFIGURATION_TIMEOUT", Key: "environment.dataset.configuration_timeout", Kind: setting.Float, Bounds: "> 0, <= 100000", Unit: "s", NoEffect: "prompts are generated one by one; Ctrl-C stops a long start", Help: "time limit for the preparation of data, in s"},
	{Env: "DATASET_MEDIA_DOWNLOAD_TIMEOUT", Key: "environment.dataset.media_download_timeout", Kind: setting.Float, Bounds: "> 0, <= 100000", Unit: "s", Help: "time limit for the download of an image (image_retrieval), in s"},
	{Env: "DATASET_MEDIA_DOWNLOAD_MAX_CONCURRENCY", Key: "environment.dataset.media_download_max_concurrency", Kind: setting.Int, Bounds: ">= 1, <= 100", Help: "maximum number of parallel image downloads"},
	{Env: "DATASET_WEKA_SPLIT_FLATTENED_AGENTS", Key: "environment.dataset.weka.split_flattened_agents", Kind: setting.Bool, Help: "separate agents that were recorded in one list"},
	{Env: "DATASET_WEKA_TOOL_SHAPED_MESSAGES", Key: "environment.dataset.weka.tool_shaped_messages", Kind: setting.Bool, Help: "send tool answers as tool messages, not as user messages"},
	{Env: "DATASET_WEKA_SEAM_MAX_GAP_SECONDS", Key: "environment.dataset.weka.seam_max_gap_seconds", Kind: setting.Float, Bounds: ">= 0", Unit: "s", Help: "pause after which an agent continues only with enough context, in s"},
	{Env: "DATASET_WEKA_SEAM_MIN_OVERLAP_RATIO", Key: "environment.dataset.weka.seam_min_overlap_ratio", Kind: setting.Float, Bounds: ">= 0, <= 1", Help: "share of the context that counts as enough"},
	{Env: "DATASET_WEKA_AUX_MAX_REQUESTS", Key: "environment.dataset.weka.aux_max_requests", Kind: setting.Int, Bounds: ">= 0", Help: "maximum number of requests of an auxiliary agent; 0 = none"},
	{Env: "DATASET_WEKA_AUX_ISL_RATIO", Key: "environment.dataset.weka.aux_isl_ratio", Kind: setting.Float, Bounds: ">= 0", Help: "auxiliary agent: first prompt below this share of the main agent's longest"},
	{Env: "DATASET_WEKA_AUX_ISL_FLOOR", Key: "environment.dataset.weka.aux_isl_floor", Kind: setting.Int, Bounds: ">= 0", Help: "auxiliary agent: or first prompt below this number of tokens"},
	{Env: "DATASET_WEKA_AUX_CROSS_MODEL", Key: "environment.dataset.weka.aux_cross_model", Kind: setting.Bool, Help: "auxiliary agent: also every short agent of another model"},
	{Env: "DATASET_WEKA_AUX_REDUCTION_OSL_MAX", Key: "environment.dataset.weka.aux_reduction_osl_max", Kind: setting.Int, Bounds: ">= 0", Help: "upper limit for the tokens of a summary; 0 = no summaries"},
	{Env: "DATASET_WEKA_AUX_REDUCTION_RATIO", Key: "environment.dataset.weka.aux_reduction_ratio", Kind: setting.Float, Bounds: ">= 0", Help: "summary: minimum ratio of prompt tokens to summary tokens"},
	{Env: "DATASET_WEKA_WORKER_GROUP_MIN", Key: "environment.dataset.weka.worker_group_min", Kind: setting.Int, Bounds: ">= 0", Help: "minimum number of similar parallel agents that form a group; 0 = none"},
	{Env: "DATASET_WEKA_PARALLEL_WORKERS", Key: "environment.dataset.weka.parallel_workers", Kind: setting.Int, Bounds: ">= 0", NoEffect: "each prompt is generated when it is needed", Help: "number of processes that generate prompts"},
	{Env: "DATASET_WEKA_PARALLEL_THRESHOLD", Key: "environment.dataset.weka.parallel_threshold", Kind: setting.Int, Bounds: ">= 1", NoEffect: "each prompt is generated when it is needed", Help: "minimum number of traces for these processes"},
	{Env: "DATASET_TRACELAB_SUBAGENT_JOIN", Key: "environment.dataset.tracelab.subagent_join", Kind: setting.Bool, Help: "find the agents that a session of TraceLab started"},
	{Env: "DATASET_TRACELAB_CODEX_SUBAGENT_JOIN", Key: "environment.dataset.tracelab.codex_subagent_join", Kind: setting.Bool, Help: "find also the agents of Codex sessions"},
	{Env: "DATASET_TRACELAB_MIN_SPAWN_MS", Key: "environment.dataset.tracelab.min_spawn_ms", Unit: "ms", Kind: setting.Float, Bounds: ">= 0", Help: "minimum length of a tool call that started an agent, in ms"},
	{Env: "DATASET_BASETEN_SESSION_COLUMN", Key: "environment.dataset.baseten_session_column", Kind: setting.Text, Help: "column of a baseten_trace that names sessions"},
	{Env: "API_SERVER_PORT", Key: "environment.api_server.port", Kind: setting.Int, Bounds: ">= 1, <= 65535", Zero: true, Help: "port of the API, if --api-port is not given"},
	{Env: "API_SERVER_HOST", Key: "environment.api_server.host", Kind: setting.Text, Help: "address of the API, if --api-host is not given"},
	{Secret: redact.Secret, Env: "API_SERVER_TOKEN", Key: "environment.api_server.token", Kind: setting.Text, Absent: true, Help: "access token of the API, if --api-token is not given"},
	{Env: "API_SERVER_CORS_ORIGINS", Key: "environment.api_server.cors_origins", Kind: setting.Text, Help: "JSON list of web origins whose scripts may call the API"},
	{Env: "API_SERVER_SHUTDOWN_TIMEOUT", Key: "environment.api_server.shutdown_timeout", Kind: setting.Float, Bounds: ">= 0, <= 300", Unit: "s", Help: "time limit for API answers at the end of the run, in s"},
	{Env: "DAG_FAIL_FAST", Key: "environment.dag.fail_fast", Kind: setting.Bool, Help: "dag_jsonl: stop a graph after a failed request of a child session"},
	{Env: "DEV_MODE", Key: "environment.dev.mode", Kind: setting.Bool, NoEffect: "not built yet: there are no hidden metrics", Help: "show hidden metrics"},
	{Env: "DEV_SHOW_INTERNAL_METRICS", Key: "environment.dev.show_internal_metrics", Kind: setting.Bool, NoEffect: "not built yet: there are no hidden metrics", Help: "show internal metrics"},
	{Env: "DEV_SHOW_EXPERIMENTAL_METRICS", Key: "environment.dev.show_experimental_metrics", Kind: setting.Bool, NoEffect: "not built yet: there are no hidden metrics", Help: "show experimental metrics"},
})
