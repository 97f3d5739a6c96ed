package config

import (
	"aiperf/internal/base/redact"
	"aiperf/internal/base/setting"
)

// Artifacts sets the output files of a run.
type Artifacts struct {
	Dir    string `yaml:"dir"`              // empty until filled in from DefaultDir
	Prefix string `yaml:"prefix,omitempty"` // as given; empty: the default names
	// Summary lists the summary files besides the CSV, which is always written; empty: none.
	Summary Formats `yaml:"summary"`
	// Records lists the per-record files; empty: none.
	Records         Formats  `yaml:"records"`
	Raw             bool     `yaml:"raw"`
	Trace           bool     `yaml:"trace"` // write HTTP trace timestamps to the record files
	SliceDuration   *Seconds `yaml:"slice_duration,omitempty"`
	ShowTraceTiming bool     `yaml:"show_trace_timing"`
	AutoPlot        bool     `yaml:"auto_plot"`
	PlotRequired    bool     `yaml:"plot_required"`
	OutputsJSON     bool     `yaml:"export_outputs_json"`
	HTML            bool     `yaml:"export_html,omitempty"`
	// KeepPrevious moves the results of the previous run to a directory next to Dir instead of deleting them.
	KeepPrevious bool `yaml:"-"`
	// OldFiles is the base name of the GenAI-Perf files that the run also writes; empty = none. With it, the console report has GenAI-Perf's title.
	OldFiles string `yaml:"-"`
	// UserFiles are additional output files, made from the values of the run.
	UserFiles []UserFile `yaml:"user_files,omitempty"`
}

// Tokenizer sets how text is converted to tokens.
type Tokenizer struct {
	// Name is a model id, a path, an encoding name or "builtin"; empty: each model's name.
	Name              string `yaml:"name,omitempty"`
	Revision          string `yaml:"revision"`
	TrustRemoteCode   bool   `yaml:"trust_remote_code"`
	ApplyChatTemplate bool   `yaml:"apply_chat_template"`
}

// GPUTelemetry sets which GPU metrics are collected.
type GPUTelemetry struct {
	Enabled     bool     `yaml:"enabled"`
	URLs        []string `yaml:"urls"`
	MetricsFile string   `yaml:"metrics_file,omitempty"`
	Collector   string   `yaml:"collector"` // dcgm, pynvml, amdsmi
	Mode        string   `yaml:"mode"`      // summary, realtime_dashboard
	// Pods are the pods of the server, as namespace/name: only their GPUs count where an exporter says which pod uses a GPU. Empty: all GPUs count.
	Pods []string `yaml:"pods,omitempty"`
}

// GPULive is the mode that shows GPU metrics during the run.
const GPULive = "realtime_dashboard"

// ServerMetrics sets which Prometheus endpoints of servers are read.
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
	// Pages are complete URLs of metrics pages that were found before the run, on another machine.
	Pages []string `yaml:"pages,omitempty"`
	// Services are the hosts and ports, among the URLs of the endpoint, whose pods have these pages. Their own page would be that of any one pod.
	Services []string `yaml:"services,omitempty"`
}

// NetworkLatency sets whether and how the network latency is measured.
type NetworkLatency struct {
	Enabled      bool     `yaml:"enabled"`
	PingInterval Seconds  `yaml:"ping_interval"`
	MeanMs       *float64 `yaml:"mean_ms,omitempty"` // a given value instead of a measured one
}

// OTel is the streaming export of metrics.
type OTel struct {
	MetricsURL         string            `yaml:"metrics_url,omitempty"`
	StreamMetrics      bool              `yaml:"stream_metrics_enabled"`
	StreamTiming       bool              `yaml:"stream_timing_enabled"`
	StreamTraces       bool              `yaml:"stream_traces_enabled"`
	ResourceAttributes map[string]string `yaml:"custom_resource_attributes,omitempty"`
	GenAIProvider      string            `yaml:"gen_ai_provider,omitempty"`
}

// MLflow is the upload to an MLflow tracker; an empty TrackingURI means none.
type MLflow struct {
	TrackingURI   string            `yaml:"tracking_uri,omitempty"`
	Experiment    string            `yaml:"experiment"`
	RunName       string            `yaml:"run_name,omitempty"`
	Tags          map[string]string `yaml:"tags,omitempty"`
	ParentRunID   string            `yaml:"parent_run_id,omitempty"`
	ArtifactGlobs []string          `yaml:"artifact_globs,omitempty"`
}

// WandB is the upload to Weights & Biases; an empty Project means none.
type WandB struct {
	Project string   `yaml:"project,omitempty"`
	Entity  string   `yaml:"entity,omitempty"`
	RunName string   `yaml:"run_name,omitempty"`
	Tags    []string `yaml:"tags,omitempty"`
}

// Runtime configures the tool itself. None of its values may affect a result.
type Runtime struct {
	UI               UI             `yaml:"ui"`
	Workers          *int           `yaml:"workers,omitempty"`
	RecordProcessors *int           `yaml:"record_processors,omitempty"`
	Communication    *Communication `yaml:"communication,omitempty"`
	APIPort          *int           `yaml:"api_port,omitempty"`
	APIHost          string         `yaml:"api_host,omitempty"`
	APIToken         string         `yaml:"api_token,omitempty"`      // secret; empty = a random one
	Web              string         `yaml:"web,omitempty"`            // host:port of the live page, or auto; empty = none
	MetricsListen    string         `yaml:"metrics_listen,omitempty"` // host:port of the Prometheus page; empty = none
	StatsInterval    *Seconds       `yaml:"stats_interval,omitempty"` // nil: 30 s, or 5 s with the dashboard
	PluginsLock      string         `yaml:"plugins_lock,omitempty"`   // lock file that the installed plug-ins must agree with; empty = none
}

// UI is the live view of a run.
type UI string

// The live views.
const (
	UIDashboard UI = "dashboard"
	UISimple    UI = "simple"
	UINone      UI = "none"
)

// Communication is accepted for compatibility with old command lines and has no effect: a single process needs no message bus.
type Communication struct {
	Type string `yaml:"type"`
	Host string `yaml:"host,omitempty"`
	Path string `yaml:"path,omitempty"`
}

// Logging is the level of log lines: TRACE, DEBUG, INFO, NOTICE, WARNING, SUCCESS, ERROR or CRITICAL.
type Logging struct {
	Level string `yaml:"level"`
}

// Accuracy grades the answers to a benchmark.
type Accuracy struct {
	Benchmark    string   `yaml:"benchmark"`
	Tasks        []string `yaml:"tasks,omitempty"`
	NShots       *int     `yaml:"n_shots,omitempty"`
	EnableCoT    *bool    `yaml:"enable_cot,omitempty"`
	Grader       string   `yaml:"grader,omitempty"`
	SystemPrompt *string  `yaml:"system_prompt,omitempty"`
	Verbose      bool     `yaml:"verbose,omitempty"`
	DatasetPath  string   `yaml:"dataset_path,omitempty"` // local copy of the data set's repository; empty = download it
}

var tokenizerRows = group("Tokenizer", []setting.Row{
	{Flags: []string{"--tokenizer"}, Files: true, Key: "tokenizer.name", Common: true, Kind: setting.Text, Default: "the model's own", Help: "tokenizer: model id, folder, encoding name or builtin"},
	{Flags: []string{"--tokenizer-revision"}, Key: "tokenizer.revision", Kind: setting.Text, Absent: true, Default: "main", Help: "branch, tag or commit of the tokenizer"},
	{Flags: []string{"--tokenizer-trust-remote-code"}, Key: "tokenizer.trust_remote_code", Kind: setting.Bool, Help: "accepted: code of a repository is never run here"},
	{Flags: []string{"--apply-chat-template"}, Key: "tokenizer.apply_chat_template", Kind: setting.Bool, Help: "count tokens after the model's chat template"},
})

var goodputRows = group("Goodput", []setting.Row{
	{Flags: []string{"--goodput", "-g"}, Key: "slos", Manual: true, Common: true, Kind: setting.Text, Tokens: true, Help: "thresholds that make a request good: \"ttft<200ms request_latency<2s\", or \"tag:number tag:number\""},
})

var outputRows = group("Output", []setting.Row{
	{Flags: []string{"--artifact-dir", "--output-artifact-dir"}, Folder: true, Key: "artifacts.dir", Common: true, Kind: setting.Path, Absent: true, Default: "artifacts/<model>-openai-<type>-<load>", Help: "output directory of the run"},
	{Flags: []string{"--profile-export-prefix", "--profile-export-file"}, Key: "artifacts.prefix", Common: true, Kind: setting.Path, Help: "base name of the result files"},
	{Flags: []string{"--export-level", "--profile-export-level"}, Key: "artifacts.records", Manual: true, Common: true, Kind: setting.Enum, Choices: []string{"summary", "records", "raw"}, Default: "records", Help: "detail of the files: summary, one line per request, or all bytes"},
	{Flags: []string{"--slice-duration"}, Key: "artifacts.slice_duration", Unit: "s", Kind: setting.Float, Bounds: "> 0", Help: "length of time slices for extra figures, in s"},
	{Flags: []string{"--auto-plot"}, FalseNames: []string{"--no-auto-plot"}, Key: "artifacts.auto_plot", Manual: true, Kind: setting.Bool, Help: "draw plots into plots/ after the run; some recipes always do"},
	{Flags: []string{"--plot-required"}, Key: "artifacts.plot_required", Kind: setting.Bool, Help: "fail when the plots after the run cannot be drawn"},
	{Flags: []string{"--export-html"}, Key: "artifacts.export_html", Kind: setting.Bool, Help: "write report.html, a single self-contained file"},
	{Flags: []string{"--export-outputs-json"}, Key: "artifacts.export_outputs_json", Kind: setting.Bool, Help: "write the text of every answer into outputs.json"},
	{Secret: redact.Address, Flags: []string{"--otel-url"}, Key: "otel.metrics_url", Kind: setting.Text, Help: "stream metrics to this OpenTelemetry collector"},
	{Flags: []string{"--stream"}, Key: "otel.stream_metrics_enabled", Manual: true, Kind: setting.Enum, Choices: []string{"metrics", "timing", "default", "traces", "none"}, Default: "metrics timing", List: true, Help: "data to stream: request metrics, load, both, or a span per request"},
	{Flags: []string{"--otel-resource-attributes"}, Key: "otel.custom_resource_attributes", Manual: true, Kind: setting.Text, List: true, Help: "attributes of the stream: key=value"},
	{Flags: []string{"--gen-ai-provider"}, Key: "otel.gen_ai_provider", Kind: setting.Text, Help: "provider name in the stream"},
	{Secret: redact.Address, Flags: []string{"--mlflow-tracking-uri"}, Key: "mlflow.tracking_uri", Kind: setting.Text, Help: "upload results to this MLflow server"},
	{Flags: []string{"--mlflow-experiment"}, Key: "mlflow.experiment", Kind: setting.Text, Help: "MLflow experiment"},
	{Flags: []string{"--mlflow-run-name"}, Key: "mlflow.run_name", Kind: setting.Text, Help: "MLflow run name"},
	{Flags: []string{"--mlflow-tag"}, Key: "mlflow.tags", Manual: true, Kind: setting.Text, List: true, Whole: true, Help: "MLflow tags: key:value"},
	{Flags: []string{"--mlflow-parent-run-id"}, Key: "mlflow.parent_run_id", Kind: setting.Text, Help: "MLflow parent run"},
	{Flags: []string{"--mlflow-artifact-glob"}, Key: "mlflow.artifact_globs", Kind: setting.Text, List: true, Help: "files to upload to MLflow"},
	{Flags: []string{"--wandb-project"}, Key: "wandb.project", Kind: setting.Text, Help: "upload results to this Weights & Biases project"},
	{Flags: []string{"--wandb-entity"}, Key: "wandb.entity", Kind: setting.Text, Help: "Weights & Biases entity"},
	{Flags: []string{"--wandb-run-name"}, Key: "wandb.run_name", Kind: setting.Text, Help: "Weights & Biases run name"},
	{Flags: []string{"--wandb-tag"}, Key: "wandb.tags", Kind: setting.Text, List: true, Help: "Weights & Biases tags"},
})

var httpTraceRows = group("HTTP Trace", []setting.Row{
	{Flags: []string{"--export-http-trace"}, Key: "artifacts.trace", Kind: setting.Bool, Help: "write the timestamps of every request into the record files"},
	{Flags: []string{"--show-trace-timing"}, Key: "artifacts.show_trace_timing", Kind: setting.Bool, Help: "print the table of HTTP phases"},
})

var serverMetricsRows = group("Server Metrics", []setting.Row{
	{Secret: redact.Address, Flags: []string{"--server-metrics"}, Key: "server_metrics.urls", Manual: true, Kind: setting.Text, List: true, Optional: true, Help: "more Prometheus endpoints (URL or host:port) besides /metrics of each server"},
	{Flags: []string{"--no-server-metrics"}, Key: "server_metrics.enabled", Manual: true, Kind: setting.Bool, Help: "do not collect server metrics"},
	{Flags: []string{"--server-metrics-formats"}, Key: "server_metrics.formats", Kind: setting.Enum, Choices: []string{"json", "csv", "jsonl", "parquet"}, Default: "json csv", List: true, Help: "files to write for server metrics"},
})

var gpuTelemetryRows = group("GPU Telemetry", []setting.Row{
	{Secret: redact.Address, Flags: []string{"--gpu-telemetry"}, Key: "gpu_telemetry.urls", Manual: true, Kind: setting.Text, List: true, Optional: true, Help: "GPU metrics: URLs of DCGM exporters, pynvml, amdsmi, dashboard, a metrics CSV; localhost:9400 and :9401 are always tried"},
	{Flags: []string{"--no-gpu-telemetry"}, Key: "gpu_telemetry.enabled", Manual: true, Kind: setting.Bool, Help: "do not collect GPU figures"},
})

var networkLatencyRows = group("Network Latency", []setting.Row{
	{Flags: []string{"--network-latency-automatic"}, Key: "network_latency.enabled", Kind: setting.Bool, Help: "measure the network latency; adds latencies minus it (network_adjusted_…)"},
	{Flags: []string{"--network-latency-mean"}, Key: "network_latency.mean_ms", Unit: "ms", Kind: setting.Float, Bounds: ">= 0", Help: "subtract this network latency, in ms"},
	{Flags: []string{"--network-latency-ping-interval"}, Key: "network_latency.ping_interval", Unit: "s", Kind: setting.Float, Bounds: "> 0", Help: "pause between two measurements, in s"},
})

var uiRows = group("UI", []setting.Row{
	{Flags: []string{"--ui", "--ui-type"}, Key: "runtime.ui", Manual: true, Common: true, Kind: setting.Enum, Choices: []string{"dashboard", "simple", "none"}, Default: "dashboard; none without a terminal", Help: "live view of the run"},
	{Flags: []string{"--verbose-report"}, Kind: setting.Bool, Help: "a terminal gets all metric tables, as by --tables all"},
	{Flags: []string{"--tables"}, Key: "tables", Kind: setting.Enum, Choices: []string{"main", "all"}, Default: "main", Help: "metric tables that a terminal gets; files and pipes get all"},
})

var serviceRows = group("Service", []setting.Row{
	{Flags: []string{"--log-level"}, Key: "logging.level", Manual: true, Kind: setting.Enum, Choices: []string{"TRACE", "DEBUG", "INFO", "NOTICE", "WARNING", "SUCCESS", "ERROR", "CRITICAL"}, Default: "INFO", Help: "lowest log level to write"},
	{Flags: []string{"--verbose", "-v"}, Repeatable: true, Key: "logging.level", Manual: true, Kind: setting.Bool, Help: "debug log lines; twice: trace"},
	{Flags: []string{"--extra-verbose", "-vv"}, Key: "logging.level", Manual: true, Kind: setting.Bool, Help: "trace log lines"},
	{Flags: []string{"--record-processor-service-count", "--record-processors"}, Key: "runtime.record_processors", Kind: setting.Int, Bounds: ">= 1", NoEffect: "records are processed by one goroutine per core", Help: "accepted for old command lines"},
	{Flags: []string{"--api-port"}, Key: "runtime.api_port", Kind: setting.Int, Bounds: ">= 1, <= 65535", Help: "serve progress at http://HOST:PORT/api/progress, /api/metrics and /metrics during the run"},
	{Flags: []string{"--api-host"}, Key: "runtime.api_host", Kind: setting.Text, Default: "127.0.0.1", Help: "address of the API"},
	{Secret: redact.Secret, Flags: []string{"--api-token"}, Key: "runtime.api_token", Kind: setting.Text, Absent: true, Help: "access token of the API; random by default, part of the printed URL"},
	{Flags: []string{"--web"}, Key: "runtime.web", Kind: setting.Text, Alone: "auto", Help: "live page of the run in a browser; --web=HOST:PORT or =PORT, this machine only without a HOST", Default: "off; port 8090 or a free one"},
	{Flags: []string{"--metrics-listen"}, Key: "runtime.metrics_listen", Kind: setting.Text, Help: "live metrics for Prometheus at http://HOST:PORT/metrics; PORT alone listens on localhost only"},
	{Flags: []string{"--plugins-locked"}, Key: "runtime.plugins_lock", Kind: setting.Path, Help: "refuse plug-ins that differ from this lock file (aiperf plugins lock writes it)"},
	{Flags: []string{"--stats-interval"}, Key: "runtime.stats_interval", Unit: "s", Kind: setting.Float, Bounds: ">= 0, <= 1000", Default: "30; 5 with the dashboard", Help: "longest pause between two progress lines, in s; 0 = none"},
})

var workersRows = group("Workers", []setting.Row{
	{Flags: []string{"--workers-max", "--max-workers"}, Key: "runtime.workers", Kind: setting.Int, Bounds: ">= 1", NoEffect: "one process carries every connection; where it was the bottleneck, --machines local:N starts N of them", Help: "accepted for old command lines"},
})

var zmqCommunicationRows = group("ZMQ Communication", []setting.Row{
	{Flags: []string{"--zmq-host"}, Key: "runtime.communication.host", Manual: true, Kind: setting.Text, Absent: true, NoEffect: "there is no message bus inside one process", Help: "accepted for old command lines"},
	{Flags: []string{"--zmq-ipc-path"}, Key: "runtime.communication.path", Manual: true, Kind: setting.Path, Absent: true, NoEffect: "there is no message bus inside one process", Help: "accepted for old command lines"},
	{Flags: []string{"--zmq-dual-bind"}, Kind: setting.Bool, NoEffect: "there is no message bus inside one process", Help: "accepted for old command lines"},
})

var accuracyRows = group("Accuracy", []setting.Row{
	{Flags: []string{"--accuracy-benchmark"}, Key: "accuracy.benchmark", Kind: setting.Enum, Help: "accuracy benchmark to run and grade"},
	{Flags: []string{"--accuracy-tasks"}, Key: "accuracy.tasks", Kind: setting.Text, List: true, Help: "tasks of the benchmark; default: all"},
	{Flags: []string{"--accuracy-n-shots"}, Key: "accuracy.n_shots", Kind: setting.Int, Bounds: ">= 0, <= 32", Default: "the benchmark's own", Help: "number of worked examples before each problem"},
	{Flags: []string{"--accuracy-enable-cot"}, FalseNames: []string{"--accuracy-no-enable-cot"}, Key: "accuracy.enable_cot", Kind: setting.Bool, Default: "the benchmark's own", Help: "ask for reasoning before the answer"},
	{Flags: []string{"--accuracy-grader"}, Key: "accuracy.grader", Kind: setting.Enum, Default: "the benchmark's own", Help: "grading method"},
	{Flags: []string{"--accuracy-system-prompt"}, Key: "accuracy.system_prompt", Kind: setting.Text, Empty: true, Default: "the benchmark's own", Help: "system prompt of the problems; '' for none"},
	{Flags: []string{"--accuracy-verbose"}, Key: "accuracy.verbose", Kind: setting.Bool, Help: "print every graded answer"},
	{Flags: []string{"--accuracy-dataset-path"}, Key: "accuracy.dataset_path", Kind: setting.Path, Folder: true, Help: "directory with a copy of the benchmark's dataset repository; nothing is fetched"},
	{Env: "ACCURACY_LCB_RELEASE_TAG", Key: "environment.accuracy.lcb_release_tag", Kind: setting.Text, Help: "release of LiveCodeBench: vN, vA_vB or release_vN"},
	{Env: "ACCURACY_BFCL_VERSION_PIN", Key: "environment.accuracy.bfcl_version_pin", Kind: setting.Text, Help: "release of bfcl-eval whose problems bfcl_ast asks; any = no check"},
})
