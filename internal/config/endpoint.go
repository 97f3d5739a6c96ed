package config

import (
	"aiperf/internal/base/redact"
	"aiperf/internal/base/setting"
)

// Models lists the requested models and the way to choose among them.
type Models struct {
	Strategy ModelStrategy `yaml:"strategy"`
	Items    []Model       `yaml:"items"`
}

// ModelStrategy chooses the model of a turn.
type ModelStrategy string

// The ways to choose among several models.
const (
	ModelRoundRobin ModelStrategy = "round_robin"
	ModelRandom     ModelStrategy = "random"
	ModelWeighted   ModelStrategy = "weighted"
)

// Model is one model of the run.
type Model struct {
	Name   string   `yaml:"name"`
	Weight *float64 `yaml:"weight,omitempty"` // share, 0 to 1; only with ModelWeighted
	Lora   string   `yaml:"lora,omitempty"`   // adapter whose name, as listed by the server, is requested instead of the model's
	// Tokenizer is the model's own tokenizer, instead of the common one; nil if it has none.
	Tokenizer *ModelTokenizer `yaml:"tokenizer,omitempty"`
}

// ModelTokenizer is the tokenizer of one model. A file may contain only its name.
type ModelTokenizer struct {
	Name string `yaml:"name"`
}

// Asked returns the model name in requests: the adapter's if there is one. Results and tokenizers use the name of the model.
func (m *Model) Asked() string {
	if m.Lora != "" {
		return m.Lora
	}
	return m.Name
}

// TokenizerOf returns the name of a model's tokenizer: its own, the common one, or the name of the model.
func (b *Benchmark) TokenizerOf(m *Model) string {
	switch {
	case m.Tokenizer != nil && m.Tokenizer.Name != "":
		return m.Tokenizer.Name
	case b.Tokenizer.Name != "":
		return b.Tokenizer.Name
	}
	return m.Name
}

// OneTokenizer applies the common tokenizer to every model.
func (b *Benchmark) OneTokenizer() {
	for i := range b.Models.Items {
		b.Models.Items[i].Tokenizer = nil
	}
}

// Weights returns the shares of the models in order; nil if they are not chosen by weight.
func (m Models) Weights() (list []float64) {
	if m.Strategy != ModelWeighted {
		return nil
	}
	for i := range m.Items {
		list = append(list, Value(m.Items[i].Weight))
	}
	return list
}

// Asked returns the model names in requests, in order.
func (m Models) Asked() []string {
	names := make([]string, len(m.Items))
	for i := range m.Items {
		names[i] = m.Items[i].Asked()
	}
	return names
}

// Names returns the model names in order.
func (m Models) Names() []string {
	names := make([]string, len(m.Items))
	for i := range m.Items {
		names[i] = m.Items[i].Name
	}
	return names
}

// Endpoint sets where requests go, their format, and the connections.
type Endpoint struct {
	URLs        []string `yaml:"urls"` // base URLs with scheme, without trailing slash, in order, with duplicates; "mock://…" is the embedded server
	URLStrategy string   `yaml:"url_strategy"`
	Type        string   `yaml:"type"` // snake-case name of the endpoint type
	// Path replaces the type's request path; nil keeps it, empty means the base URL itself.
	Path                *string         `yaml:"path,omitempty"`
	APIKey              string          `yaml:"api_key,omitempty"` // secret; empty sends no key
	Timeout             Seconds         `yaml:"timeout"`           // total time limit of one request; 0 and Forever mean no limit
	Streaming           bool            `yaml:"streaming"`
	Transport           string          `yaml:"transport,omitempty"`        // http (default if empty) or grpc
	GRPCMethod          string          `yaml:"grpc_method,omitempty"`      // package.Service/Method; empty: the endpoint type's default
	GRPCDescriptors     string          `yaml:"grpc_descriptors,omitempty"` // file; empty: the server's reflection service
	Backend             string          `yaml:"backend,omitempty"`          // backend of Triton: tensorrtllm (default if empty), vllm
	ConnectionReuse     ConnectionReuse `yaml:"connection_reuse"`
	HTTPVersion         string          `yaml:"http_version"` // 1.1 or 2
	TLS                 TLS             `yaml:"tls"`
	Proxy               string          `yaml:"proxy,omitempty"`           // URL of a proxy; empty: none, or the environment's (environment.http.trust_env)
	Socket              string          `yaml:"uds_path,omitempty"`        // Unix socket to connect to; URLs still set Host and path
	LocalAddresses      []string        `yaml:"local_addresses,omitempty"` // IP addresses of this machine that connections leave from, in turn
	Capture             string          `yaml:"capture,omitempty"`         // packet capture for timestamps: off (default if empty), on, auto
	UseLegacyMaxTokens  bool            `yaml:"use_legacy_max_tokens"`
	UseServerTokenCount bool            `yaml:"use_server_token_count"`
	PerChunkUsage       bool            `yaml:"per_chunk_usage"`
	Template            *Template       `yaml:"template,omitempty"`
	Headers             Headers         `yaml:"headers"`
	Extra               Extra           `yaml:"extra"`
	DownloadVideo       bool            `yaml:"download_video_content"`
	RequestContentType  string          `yaml:"request_content_type,omitempty"`
	SessionHeader       string          `yaml:"session_header,omitempty"`
	UUIDAndStrip        bool            `yaml:"uuid_and_strip"`
	WaitForModelTimeout Seconds         `yaml:"wait_for_model_timeout"` // 0: no wait
	WaitForModelEvery   Seconds         `yaml:"wait_for_model_interval"`
	WaitForModelMode    string          `yaml:"wait_for_model_mode"` // inference, models, both
	Probe               *bool           `yaml:"probe,omitempty"`     // send one request before the load to detect the server; nil: only in interactive runs
	RequireCompletion   bool            `yaml:"require_stream_completion,omitempty"`
	ResetKVCache        *ResetKVCache   `yaml:"reset_kv_cache,omitempty"`
	ServerProfiler      *ServerProfiler `yaml:"server_profiler,omitempty"`
}

// TLS holds the settings of https connections. Files are PEM.
type TLS struct {
	CAFile     string `yaml:"ca_file,omitempty"`     // root certificates instead of the system's
	CertFile   string `yaml:"cert_file,omitempty"`   // client certificate
	KeyFile    string `yaml:"key_file,omitempty"`    // private key of the client certificate
	ServerName string `yaml:"server_name,omitempty"` // name to request and verify instead of the URL's host
	Insecure   bool   `yaml:"insecure"`              // accept any certificate
}

// HTTP2 is the HTTPVersion of HTTP/2.
const HTTP2 = "2"

// ConnectionReuse sets how requests share TCP connections.
type ConnectionReuse string

// The connection strategies.
const (
	ReusePooled ConnectionReuse = "pooled"
	ReuseNever  ConnectionReuse = "never"
	ReuseSticky ConnectionReuse = "sticky-user-sessions"
)

// Template is the request body of endpoint type template.
type Template struct {
	Body          string `yaml:"body"`
	ResponseField string `yaml:"response_field"`
}

// Default paths of the hooks, which are vLLM's.
const (
	ResetPath         = "/reset_prefix_cache"
	ProfilerStartPath = "/start_profile"
	ProfilerStopPath  = "/stop_profile"
)

// ResetKVCache is the hook that clears the server's prefix cache before a run.
type ResetKVCache struct {
	Path       string   `yaml:"path,omitempty"`              // empty: ResetPath
	Timeout    *Seconds `yaml:"timeout_seconds,omitempty"`   // per request; nil: 30 s
	MaxRetryBy *Seconds `yaml:"max_retry_seconds,omitempty"` // how long to retry while the server is busy; nil: 60 s
}

// ServerProfiler is the pair of hooks around the profiling phases.
type ServerProfiler struct {
	StartPath string   `yaml:"start_path,omitempty"` // empty: ProfilerStartPath
	StopPath  string   `yaml:"stop_path,omitempty"`  // empty: ProfilerStopPath
	Timeout   *Seconds `yaml:"timeout_seconds,omitempty"`
}

var endpointRows = group("Endpoint", []setting.Row{
	{Flags: []string{"--model", "--model-names", "-m"}, Key: "models.items", Manual: true, Common: true, Kind: setting.Text, List: true, Help: "model names; several are used in turn"},
	{Flags: []string{"--model-selection-strategy"}, Key: "models.strategy", Kind: setting.Enum, Choices: []string{"round_robin", "random", "weighted"}, Default: "round_robin", Help: "choice among several models for each prompt"},
	{Secret: redact.Address, Flags: []string{"--endpoint", "--custom-endpoint"}, Key: "endpoint.path", Manual: true, Common: true, Kind: setting.Text, Empty: true, Help: "request path; overrides the path of the endpoint type"},
	{Flags: []string{"--endpoint-type"}, Key: "endpoint.type", Manual: true, Common: true, Kind: setting.Enum, Default: "chat", Help: "API that the server speaks"},
	{Flags: []string{"--streaming"}, Key: "endpoint.streaming", Common: true, Kind: setting.Bool, Help: "stream the answers; ignored by endpoint types that cannot stream"},
	{Secret: redact.Address, Flags: []string{"--url", "-u"}, Key: "endpoint.urls", Manual: true, Common: true, Kind: setting.Text, Default: "http://localhost:8000", List: true, Help: "base URL of the server, several in turn; mock://?ttft=50ms starts a simulated one"},
	{Flags: []string{"--url-strategy"}, Key: "endpoint.url_strategy", Kind: setting.Enum, Choices: []string{"round_robin"}, Default: "round_robin", Help: "choice among several URLs"},
	{Flags: []string{"--request-timeout-seconds"}, Key: "endpoint.timeout", Common: true, Unit: "s", Kind: setting.Float, Bounds: "> 0", KeyBounds: ">= 0", Default: "21600", Inf: true, Help: "time limit for one request, in s"},
	{Flags: []string{"--wait-for-model-timeout"}, Key: "endpoint.wait_for_model_timeout", Unit: "s", Kind: setting.Float, Bounds: ">= 0", Default: "0", Help: "longest wait for the model to answer before the run, in s"},
	{Flags: []string{"--wait-for-model-mode"}, Key: "endpoint.wait_for_model_mode", Kind: setting.Enum, Choices: []string{"models", "inference", "both"}, Default: "inference", Help: "kind of the readiness check"},
	{Flags: []string{"--wait-for-model-interval"}, Key: "endpoint.wait_for_model_interval", Unit: "s", Kind: setting.Float, Bounds: "> 0", Default: "5", Help: "pause between two readiness probes, in s"},
	{Flags: []string{"--reset-kv-cache"}, Key: "endpoint.reset_kv_cache", Manual: true, Kind: setting.Bool, Help: "empty the prefix cache of each server before every run (POST)"},
	{Flags: []string{"--reset-kv-cache-timeout-seconds"}, Key: "endpoint.reset_kv_cache.timeout_seconds", Unit: "s", Kind: setting.Float, Bounds: "> 0", Default: "30", Help: "time limit for each cache reset, in s; implies --reset-kv-cache"},
	{Flags: []string{"--reset-kv-cache-path"}, Key: "endpoint.reset_kv_cache.path", Kind: setting.Text, Default: "/reset_prefix_cache", Help: "server path of the cache reset (SGLang: /flush_cache); implies --reset-kv-cache"},
	{Flags: []string{"--server-profiler"}, Key: "endpoint.server_profiler", Manual: true, Kind: setting.Bool, Help: "start each server's own profiler during the measured phases (POST)"},
	{Flags: []string{"--server-profiler-timeout-seconds"}, Key: "endpoint.server_profiler.timeout_seconds", Unit: "s", Kind: setting.Float, Bounds: "> 0", Default: "30", Help: "time limit for each profiler request, in s; implies --server-profiler"},
	{Flags: []string{"--server-profiler-start-path"}, Key: "endpoint.server_profiler.start_path", Kind: setting.Text, Default: "/start_profile", Help: "server path that starts the profiler; implies --server-profiler"},
	{Flags: []string{"--server-profiler-stop-path"}, Key: "endpoint.server_profiler.stop_path", Kind: setting.Text, Default: "/stop_profile", Help: "server path that stops the profiler; implies --server-profiler"},
	{Secret: redact.Secret, Flags: []string{"--api-key"}, Key: "endpoint.api_key", Common: true, Kind: setting.Text, Absent: true, Help: "bearer token, or env:NAME of an environment variable; never written to files"},
	{Flags: []string{"--transport", "--transport-type"}, Key: "endpoint.transport", Kind: setting.Enum, Choices: []string{"http", "grpc"}, Help: "transport, if the endpoint type has both; by default from the URL's scheme"},
	{Flags: []string{"--grpc-method"}, Key: "endpoint.grpc_method", Kind: setting.Text, Help: "gRPC method package.Service/Method; kserve: ModelInfer instead of the stream"},
	{Flags: []string{"--grpc-descriptors"}, Key: "endpoint.grpc_descriptors", Kind: setting.Path, Help: "descriptor set (protoc) of dynamic_grpc's method; without it, server reflection"},
	{Flags: []string{"--backend"}, Key: "endpoint.backend", Kind: setting.Enum, Choices: []string{"tensorrtllm", "vllm"}, Help: "Triton backend whose input tensors kserve sends"},
	{Flags: []string{"--use-legacy-max-tokens"}, Key: "endpoint.use_legacy_max_tokens", Kind: setting.Bool, Help: "send max_tokens, not max_completion_tokens"},
	{Flags: []string{"--use-server-token-count"}, Key: "endpoint.use_server_token_count", Common: true, Kind: setting.Bool, Help: "use the token counts that the server reports (usage)"},
	{Flags: []string{"--connection-reuse-strategy"}, Key: "endpoint.connection_reuse", Kind: setting.Enum, Choices: []string{"pooled", "never", "sticky-user-sessions"}, Default: "pooled", Help: "how requests share connections"},
	{Flags: []string{"--http-version"}, Key: "endpoint.http_version", Kind: setting.Enum, Choices: []string{"1.1", "2"}, Default: "1.1", Help: "HTTP version; 2 shares connections: over TLS if offered, over http:// always"},
	{Flags: []string{"--tls-ca-file"}, Key: "endpoint.tls.ca_file", Kind: setting.Path, Help: "PEM file of trusted root certificates; replaces the system's"},
	{Flags: []string{"--tls-cert-file"}, Key: "endpoint.tls.cert_file", Kind: setting.Path, Help: "PEM file of the client's certificate; needs --tls-key-file"},
	{Flags: []string{"--tls-key-file"}, Key: "endpoint.tls.key_file", Kind: setting.Path, Help: "PEM file of the private key of --tls-cert-file"},
	{Flags: []string{"--tls-server-name"}, Key: "endpoint.tls.server_name", Kind: setting.Text, Help: "TLS server name to request and verify; default: the URL's host"},
	{Flags: []string{"--tls-insecure"}, Key: "endpoint.tls.insecure", Kind: setting.Bool, Help: "accept any server certificate"},
	{Secret: redact.Address, Flags: []string{"--proxy"}, Key: "endpoint.proxy", Kind: setting.Text, Help: "HTTP proxy, http://[USER:PASSWORD@]HOST:PORT; default: none, unless AIPERF_HTTP_TRUST_ENV is set"},
	{Flags: []string{"--uds-path"}, Key: "endpoint.uds_path", Kind: setting.Path, Help: "Unix socket to connect to; --url gives Host and path, or unix:///PATH"},
	{Flags: []string{"--local-address"}, Key: "endpoint.local_addresses", Kind: setting.Text, List: true, Help: "IP address of this machine that connections leave from, several in turn; each adds local ports"},
	{Flags: []string{"--capture"}, Key: "endpoint.capture", Kind: setting.Enum, Choices: []string{"off", "on", "auto"}, Default: "off", Help: "arrival times from a packet capture (Linux, CAP_NET_RAW); auto: if permitted"},
	{Flags: []string{"--download-video-content"}, Key: "endpoint.download_video_content", Kind: setting.Bool, Help: "fetch finished videos as part of the request"},
	{Flags: []string{"--request-content-type"}, Key: "endpoint.request_content_type", Kind: setting.Enum, Choices: []string{"application/json", "multipart/form-data"}, Help: "encoding of request bodies, if the endpoint type has several"},
	{Flags: []string{"--session-header"}, Key: "endpoint.session_header", Kind: setting.Text, Absent: true, Help: "header that carries the session id"},
	{Flags: []string{"--uuid-and-strip"}, Key: "endpoint.uuid_and_strip", Kind: setting.Bool, Help: "send a repeated image of a session by its id only"},
	{Flags: []string{"--probe"}, FalseNames: []string{"--no-probe"}, Key: "endpoint.probe", Kind: setting.Bool, Default: "on in a terminal", Help: "send one request before the load and report how the server behaves"},
	{Flags: []string{"--require-stream-completion"}, Key: "endpoint.require_stream_completion", Kind: setting.Bool, Help: "count incomplete or broken streams as failed (chat with --streaming)"},
	{Flags: []string{"--per-chunk-usage"}, Key: "endpoint.per_chunk_usage", Kind: setting.Bool, Help: "read usage from every chunk of a stream"},
})
