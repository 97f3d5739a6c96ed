package config

// Artifacts says what a run leaves on disk.
type Artifacts struct {
	Dir    string `yaml:"dir"`              // empty until DefaultDir is filled in
	Prefix string `yaml:"prefix,omitempty"` // as given; empty: the default names
	// Summary lists the summary files beside the CSV, which is always written; empty: none.
	Summary Formats `yaml:"summary"`
	// Records lists the per-record files; empty: none.
	Records         Formats  `yaml:"records"`
	Raw             bool     `yaml:"raw"`
	Trace           bool     `yaml:"trace"` // HTTP trace instants in the record files
	SliceDuration   *Seconds `yaml:"slice_duration,omitempty"`
	ShowTraceTiming bool     `yaml:"show_trace_timing"`
	AutoPlot        bool     `yaml:"auto_plot"`
	PlotRequired    bool     `yaml:"plot_required"`
	OutputsJSON     bool     `yaml:"export_outputs_json"`
}

// Tokenizer says how text becomes tokens.
type Tokenizer struct {
	// Name is a model id, a path, an encoding name or "builtin"; empty: each model's own name.
	Name              string `yaml:"name,omitempty"`
	Revision          string `yaml:"revision"`
	TrustRemoteCode   bool   `yaml:"trust_remote_code"`
	ApplyChatTemplate bool   `yaml:"apply_chat_template"`
}

// GPUTelemetry says which GPU figures are collected.
type GPUTelemetry struct {
	Enabled     bool     `yaml:"enabled"`
	URLs        []string `yaml:"urls"`
	MetricsFile string   `yaml:"metrics_file,omitempty"`
	Collector   string   `yaml:"collector"` // dcgm, pynvml, amdsmi
	Mode        string   `yaml:"mode"`      // summary, realtime_dashboard
}

// ServerMetrics says which Prometheus endpoints of servers are read.
type ServerMetrics struct {
	Enabled   bool      `yaml:"enabled"`
	URLs      []string  `yaml:"urls"`
	Formats   []string  `yaml:"formats"`
	Discovery Discovery `yaml:"discovery"`
}

// Discovery finds metric endpoints in a cluster.
type Discovery struct {
	Mode          string  `yaml:"mode"`
	LabelSelector string  `yaml:"label_selector,omitempty"`
	Namespace     string  `yaml:"namespace,omitempty"`
	Timeout       Seconds `yaml:"timeout_seconds"`
}

// NetworkLatency says whether and how the network's share is measured.
type NetworkLatency struct {
	Enabled      bool     `yaml:"enabled"`
	PingInterval Seconds  `yaml:"ping_interval"`
	MeanMs       *float64 `yaml:"mean_ms,omitempty"` // given, not measured
}

// OTel is the streaming export of metrics.
type OTel struct {
	MetricsURL         string            `yaml:"metrics_url,omitempty"`
	StreamMetrics      bool              `yaml:"stream_metrics_enabled"`
	StreamTiming       bool              `yaml:"stream_timing_enabled"`
	ResourceAttributes map[string]string `yaml:"custom_resource_attributes,omitempty"`
	GenAIProvider      string            `yaml:"gen_ai_provider,omitempty"`
}

// MLflow is the upload to an MLflow tracker; an empty TrackingURI is none.
type MLflow struct {
	TrackingURI   string            `yaml:"tracking_uri,omitempty"`
	Experiment    string            `yaml:"experiment"`
	RunName       string            `yaml:"run_name,omitempty"`
	Tags          map[string]string `yaml:"tags,omitempty"`
	ParentRunID   string            `yaml:"parent_run_id,omitempty"`
	ArtifactGlobs []string          `yaml:"artifact_globs,omitempty"`
}

// WandB is the upload to Weights & Biases; an empty Project is none.
type WandB struct {
	Project string   `yaml:"project,omitempty"`
	Entity  string   `yaml:"entity,omitempty"`
	RunName string   `yaml:"run_name,omitempty"`
	Tags    []string `yaml:"tags,omitempty"`
}

// Runtime is how the tool itself runs. Nothing in it may change a result.
type Runtime struct {
	UI               UI             `yaml:"ui"`
	Workers          *int           `yaml:"workers,omitempty"`
	RecordProcessors *int           `yaml:"record_processors,omitempty"`
	Communication    *Communication `yaml:"communication,omitempty"`
	APIPort          *int           `yaml:"api_port,omitempty"`
	APIHost          string         `yaml:"api_host,omitempty"`
	StatsInterval    *Seconds       `yaml:"stats_interval,omitempty"` // nil: 5 s with the dashboard, else 30 s
}

// UI is the live view of a run.
type UI string

// The live views.
const (
	UIDashboard UI = "dashboard"
	UISimple    UI = "simple"
	UINone      UI = "none"
)

// Communication is accepted for the sake of old command lines; one process has no bus.
type Communication struct {
	Type string `yaml:"type"`
	Host string `yaml:"host,omitempty"`
	Path string `yaml:"path,omitempty"`
}

// Logging is the level of log lines: TRACE, DEBUG, INFO, NOTICE, WARNING, SUCCESS, ERROR or CRITICAL.
type Logging struct {
	Level string `yaml:"level"`
}

// Accuracy grades answers of a benchmark.
type Accuracy struct {
	Benchmark    string   `yaml:"benchmark"`
	Tasks        []string `yaml:"tasks,omitempty"`
	NShots       *int     `yaml:"n_shots,omitempty"`
	EnableCoT    *bool    `yaml:"enable_cot,omitempty"`
	Grader       string   `yaml:"grader,omitempty"`
	SystemPrompt *string  `yaml:"system_prompt,omitempty"`
	Verbose      bool     `yaml:"verbose,omitempty"`
}
