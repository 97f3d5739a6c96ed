package config

// Models names what is asked for and how several are chosen.
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
	Name       string   `yaml:"name"`
	Weight     *float64 `yaml:"weight,omitempty"` // share 0 to 1, only with ModelWeighted
	Lora       string   `yaml:"lora,omitempty"`
	Modalities []string `yaml:"modalities,omitempty"`
	Tokenizer  string   `yaml:"tokenizer,omitempty"`
}

// Names returns the model names in order.
func (m Models) Names() []string {
	names := make([]string, len(m.Items))
	for i := range m.Items {
		names[i] = m.Items[i].Name
	}
	return names
}

// Endpoint says where requests go, in which words, over which connections.
type Endpoint struct {
	URLs        []string `yaml:"urls"` // base URLs with scheme, no trailing slash, in order, duplicates kept; "mock://…" is the embedded server
	URLStrategy string   `yaml:"url_strategy"`
	Type        string   `yaml:"type"` // snake-case name of the endpoint type
	// Path replaces the type's own request path; nil keeps it, empty is the base URL itself.
	Path                *string         `yaml:"path,omitempty"`
	APIKey              string          `yaml:"api_key,omitempty"` // secret; empty sends none
	Timeout             Seconds         `yaml:"timeout"`           // total time of one request; 0 and Forever are without limit
	Streaming           bool            `yaml:"streaming"`
	Transport           string          `yaml:"transport,omitempty"` // empty: by URL scheme
	ConnectionReuse     ConnectionReuse `yaml:"connection_reuse"`
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
	WaitForModelTimeout Seconds         `yaml:"wait_for_model_timeout"` // 0 does not wait
	WaitForModelEvery   Seconds         `yaml:"wait_for_model_interval"`
	WaitForModelMode    string          `yaml:"wait_for_model_mode"` // inference, models, both
	ResetKVCache        *ResetKVCache   `yaml:"reset_kv_cache,omitempty"`
	ServerProfiler      *ServerProfiler `yaml:"server_profiler,omitempty"`
}

// ConnectionReuse says how TCP connections are shared between requests.
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

// ResetKVCache is the hook that empties the server's prefix cache before a run.
type ResetKVCache struct {
	Path       string   `yaml:"path,omitempty"` // empty: /reset_prefix_cache
	Timeout    *Seconds `yaml:"timeout_seconds,omitempty"`
	MaxRetryBy *Seconds `yaml:"max_retry_seconds,omitempty"`
}

// ServerProfiler is the pair of hooks around the profiling phases.
type ServerProfiler struct {
	StartPath string   `yaml:"start_path,omitempty"` // empty: /start_profile
	StopPath  string   `yaml:"stop_path,omitempty"`  // empty: /stop_profile
	Timeout   *Seconds `yaml:"timeout_seconds,omitempty"`
}
