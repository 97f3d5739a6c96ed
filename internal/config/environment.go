package config

// Environment is what AIPERF_* variables tune; the zero value is not valid, see Default.
type Environment struct {
	HTTP HTTPTuning `yaml:"http"`
	// ForceContentParts writes the content of chat messages as a list of parts always.
	ForceContentParts bool          `yaml:"endpoint_force_content_parts"`
	Timing            TimingTuning  `yaml:"timing"`
	Metrics           MetricsTuning `yaml:"metrics"`
	UI                UITuning      `yaml:"ui"`
	GPU               CollectTuning `yaml:"gpu"`
	Server            CollectTuning `yaml:"server_metrics"`
	Dataset           DatasetTuning `yaml:"dataset"`
	Dev               DevTuning     `yaml:"dev"`
}

// HTTPTuning tunes connections.
type HTTPTuning struct {
	ConnectionLimit     int     `yaml:"connection_limit"`
	KeepaliveTimeout    Seconds `yaml:"keepalive_timeout"`
	SSLVerify           bool    `yaml:"ssl_verify"`
	TrustEnv            bool    `yaml:"trust_env"`  // honour HTTP_PROXY and its kin
	IPVersion           string  `yaml:"ip_version"` // 4, 6, auto
	TTLDNSCache         Seconds `yaml:"ttl_dns_cache"`
	ForceClose          bool    `yaml:"force_close"`
	SendBuffer          int     `yaml:"so_sndbuf"`           // bytes
	ReceiveBuffer       int     `yaml:"so_rcvbuf"`           // bytes
	MaxResponseBytes    int     `yaml:"max_response_bytes"`  // largest answer, inflated
	VideoPollInterval   Seconds `yaml:"video_poll_interval"` // of the endpoint type video_generation
	CancelSendTimeout   Seconds `yaml:"request_cancellation_send_timeout"`
	SessionAffinity     bool    `yaml:"x_session_affinity_from_correlation_id"`
	SessionIDHeader     bool    `yaml:"x_session_id_from_correlation_id"`
	SMGRoutingKeyHeader bool    `yaml:"x_smg_routing_key_from_correlation_id"`
	DynamoSessionHeader bool    `yaml:"x_dynamo_session_id_from_correlation_id"`
}

// TimingTuning tunes the scheduler.
type TimingTuning struct {
	CancelDrainTimeout     Seconds `yaml:"cancel_drain_timeout"`
	RateRampUpdateInterval Seconds `yaml:"rate_ramp_update_interval"`
	HighResTimer           bool    `yaml:"high_res_timer"`
	MaxCatchup             Seconds `yaml:"max_catchup_seconds"`
}

// MetricsTuning tunes notices and list metrics.
type MetricsTuning struct {
	UsagePctDiffThreshold float64 `yaml:"usage_pct_diff_threshold"`         // percent
	OSLMismatchPct        float64 `yaml:"osl_mismatch_pct_threshold"`       // percent
	OSLMismatchMaxTokens  int     `yaml:"osl_mismatch_max_token_threshold"` // tokens
	ListBackend           string  `yaml:"list_backend"`                     // ragged, tdigest
	TDigestCompression    int     `yaml:"tdigest_compression"`
}

// UITuning tunes the console.
type UITuning struct {
	ConsoleExportWidth int     `yaml:"console_export_width"` // columns without a terminal
	MinUpdatePercent   float64 `yaml:"min_update_percent"`
}

// CollectTuning tunes one collector beside the run.
type CollectTuning struct {
	CollectionInterval   Seconds  `yaml:"collection_interval"`
	FlushPeriod          Seconds  `yaml:"collection_flush_period,omitempty"`
	ReachabilityTimeout  Seconds  `yaml:"reachability_timeout"`
	DefaultDCGMEndpoints []string `yaml:"default_dcgm_endpoints,omitempty"`
}

// DatasetTuning tunes the preparation of data.
type DatasetTuning struct {
	ConfigurationTimeout Seconds `yaml:"configuration_timeout"`
	MediaDownloadTimeout Seconds `yaml:"media_download_timeout"`
	MediaDownloadMax     int     `yaml:"media_download_max_concurrency"`
}

// DevTuning shows metrics that are hidden otherwise.
type DevTuning struct {
	Mode                bool `yaml:"mode"`
	InternalMetrics     bool `yaml:"show_internal_metrics"`
	ExperimentalMetrics bool `yaml:"show_experimental_metrics"`
}
