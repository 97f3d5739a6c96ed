package config

import (
	"aiperf/internal/base/redact"
	"aiperf/internal/base/setting"
)

// DatasetType is the source of the conversations.
type DatasetType string

// The sources of conversations.
const (
	DatasetSynthetic DatasetType = "synthetic"
	DatasetFile      DatasetType = "file"
	DatasetPublic    DatasetType = "public"
)

// Sampling is the order in which conversations are selected.
type Sampling string

// The sampling strategies.
const (
	SampleSequential Sampling = "sequential"
	SampleRandom     Sampling = "random"
	SampleShuffle    Sampling = "shuffle"
)

// Dataset describes the conversations of a run.
type Dataset struct {
	Name             string      `yaml:"name"`
	Type             DatasetType `yaml:"type"`
	SystemPrompt     string      `yaml:"system_prompt,omitempty"`
	SystemPromptFile string      `yaml:"system_prompt_file,omitempty"`
	RandomSeed       *Seed       `yaml:"random_seed,omitempty"` // nil: the run's seed
	Sampling         Sampling    `yaml:"sampling"`
	// Entries is the number of conversations to generate or to take; 0 with a file or a public data set means all.
	Entries int `yaml:"entries,omitempty"`

	// Files.
	Path    string  `yaml:"path,omitempty"`
	Records Records `yaml:"records,omitempty"` // rows given in the configuration instead of a file
	Format  string  `yaml:"format,omitempty"`  // file type in snake case; empty: detected from the content

	InputColumn string `yaml:"input_column,omitempty"` // key or column of the prompts in a file; empty: text, prompt and other usual names

	CacheBust *CacheBust `yaml:"cache_bust,omitempty"` // nil: as set in Prompts
	// PayloadRows means that rows of a mooncake_trace follow GenAI-Perf's payload files: a delay applies after its row, and unknown keys go into the
	// body.
	PayloadRows bool `yaml:"payload_rows,omitempty"`

	// Files of type random_pool: number of items of each kind per request; nil: the batch sizes of prompts, images, audio and video.
	PromptBatchSize *int `yaml:"prompt_batch_size,omitempty"`
	ImageBatchSize  *int `yaml:"image_batch_size,omitempty"`
	AudioBatchSize  *int `yaml:"audio_batch_size,omitempty"`
	VideoBatchSize  *int `yaml:"video_batch_size,omitempty"`

	// Public data sets.
	Dataset       string            `yaml:"dataset,omitempty"`
	HFSubset      string            `yaml:"hf_subset,omitempty"`
	DatasetPath   string            `yaml:"dataset_path,omitempty"` // local copy of the data set's repository; empty: download it
	HFWekaDataset string            `yaml:"hf_weka_dataset,omitempty"`
	Filters       map[string]string `yaml:"filters,omitempty"`

	// Synthetic data. Prompts and PrefixPrompts also apply to files where their keys make sense.
	Prompts        *Prompts       `yaml:"prompts,omitempty"`
	PrefixPrompts  *PrefixPrompts `yaml:"prefix_prompts,omitempty"`
	Turns          *Distribution  `yaml:"turns,omitempty"`      // turns per conversation; nil: one
	TurnDelay      *Distribution  `yaml:"turn_delay,omitempty"` // ms before each further turn; nil: none
	TurnDelayRatio float64        `yaml:"turn_delay_ratio"`     // factor for all delays, generated or read
	Images         *Images        `yaml:"images,omitempty"`
	Audio          *Audio         `yaml:"audio,omitempty"`
	Video          *Video         `yaml:"video,omitempty"`
	Rankings       *Rankings      `yaml:"rankings,omitempty"`

	// Traces.
	Synthesis         *Synthesis    `yaml:"synthesis,omitempty"`
	OSL               *Distribution `yaml:"osl,omitempty"`        // for records of a file without an output length
	BlockSize         int           `yaml:"block_size,omitempty"` // tokens per hash block; 0: the type's default
	IgnoreTraceDelays bool          `yaml:"ignore_trace_delays,omitempty"`
	InterTurnDelayCap *Seconds      `yaml:"inter_turn_delay_cap_seconds,omitempty"`

	// Traces of agents (weka_trace, tracelab, and public data sets of these types).
	UseThinkTimeOnly bool     `yaml:"use_think_time_only,omitempty"`
	MaxContextLength *int     `yaml:"max_context_length,omitempty"` // maximum tokens of a prompt with its answer; nil: no limit
	TraceIdleGapCap  *Seconds `yaml:"trace_idle_gap_cap_seconds,omitempty"`

	// Traces in columns (baseten_trace).
	SessionSampleRatio *float64 `yaml:"trace_session_sample_ratio,omitempty"`
	MaxIdleGapCap      *Seconds `yaml:"max_idle_gap_cap_seconds,omitempty"`
	ReplaySpeedup      *float64 `yaml:"replay_speedup,omitempty"`
	OpenLoopReplay     *bool    `yaml:"open_loop_replay,omitempty"` // nil: true
	OpenLoopStrict     bool     `yaml:"open_loop_strict,omitempty"`
	OmitKVHints        bool     `yaml:"omit_kv_hints,omitempty"`
	ForceMinTokens     *bool    `yaml:"force_min_tokens,omitempty"` // nil: true
}

// Prompts describes generated text.
type Prompts struct {
	ISL       *Distribution `yaml:"isl,omitempty"`        // input tokens per prompt; nil only with files
	OSL       *Distribution `yaml:"osl,omitempty"`        // requested output tokens; nil requests no length
	BlockSize int           `yaml:"block_size,omitempty"` // tokens per hash block; 0: 512
	BatchSize int           `yaml:"batch_size"`
	CacheBust CacheBust     `yaml:"cache_bust"`
	Corpus    string        `yaml:"corpus,omitempty"` // sonnet, coding, random; empty: sonnet
	// SequenceDistribution replaces ISL and OSL by weighted pairs; empty: unused.
	SequenceDistribution []SequencePair `yaml:"sequence_distribution,omitempty"`
	RandomRangeRatio     string         `yaml:"random_range_ratio,omitempty"`
	RandomCorpusStyle    string         `yaml:"random_corpus_style"`
}

// CacheBustNone is the target that adds no marker.
const CacheBustNone = "none"

// CacheBustTargets are the possible positions of a marker.
var CacheBustTargets = []string{"none", "system_prefix", "system_suffix", "first_turn_prefix", "first_turn_suffix", "warmup_isolation_system", "warmup_isolation_first_turn"}

// CacheBustTarget returns the position of the marker that defeats prefix caches.
func (d *Dataset) CacheBustTarget() string {
	for _, c := range []*CacheBust{d.CacheBust, d.promptsBust()} {
		if c != nil && c.Target != "" {
			return c.Target
		}
	}
	return CacheBustNone
}

func (d *Dataset) promptsBust() *CacheBust {
	if d.Prompts == nil {
		return nil
	}
	return &d.Prompts.CacheBust
}

// CacheBust sets the position of a marker that defeats prefix caches.
type CacheBust struct {
	Target string `yaml:"target"`
}

// SequencePair is one weighted pair of lengths.
type SequencePair struct {
	ISL         Distribution `yaml:"isl"`
	OSL         Distribution `yaml:"osl"`
	Probability float64      `yaml:"probability"` // percent; the pairs of a run add up to 100
}

// PrefixPrompts describes text before the prompts. A value of 0 switches its part off.
type PrefixPrompts struct {
	PoolSize           int `yaml:"pool_size,omitempty"`
	Length             int `yaml:"length,omitempty"`               // tokens
	SharedSystemLength int `yaml:"shared_system_length,omitempty"` // tokens
	UserContextLength  int `yaml:"user_context_length,omitempty"`  // tokens
}

// Synthesis rescales a trace.
type Synthesis struct {
	SpeedupRatio         float64 `yaml:"speedup_ratio"`
	PrefixLenMultiplier  float64 `yaml:"prefix_len_multiplier"`
	PrefixRootMultiplier int     `yaml:"prefix_root_multiplier"`
	PromptLenMultiplier  float64 `yaml:"prompt_len_multiplier"`
	OutputLenMultiplier  float64 `yaml:"output_len_multiplier"`
	MaxISL               *int    `yaml:"max_isl,omitempty"`
	MaxOSL               *int    `yaml:"max_osl,omitempty"`
	AllowDatasetWrap     bool    `yaml:"allow_dataset_wrap,omitempty"`
}

// DefaultSynthesis returns a Synthesis that changes nothing.
func DefaultSynthesis() Synthesis {
	return Synthesis{SpeedupRatio: 1, PrefixLenMultiplier: 1, PrefixRootMultiplier: 1, PromptLenMultiplier: 1, OutputLenMultiplier: 1}
}

var inputRows = group("Input", []setting.Row{
	{Secret: redact.Member, Flags: []string{"--extra-inputs"}, Key: "endpoint.extra", Manual: true, Common: true, Kind: setting.Text, List: true, Whole: true, Help: "members added to every request body: key:value or a JSON object"},
	{Secret: redact.HeaderLine, Flags: []string{"--header", "-H"}, Hidden: []string{"--H"}, Key: "endpoint.headers", Manual: true, Common: true, Kind: setting.Text, List: true, Whole: true, Help: "header of every request: \"Name: value\""},
	{Flags: []string{"--input-file"}, Key: "datasets.main.path", Manual: true, Common: true, Kind: setting.Path, Absent: true, Help: "prompts from this file or directory"},
	{Flags: []string{"--public-dataset"}, Key: "datasets.main.dataset", Manual: true, Common: true, Kind: setting.Enum, Help: "published dataset from the Hugging Face hub or its cache"},
	{Flags: []string{"--hf-subset"}, Key: "datasets.main.hf_subset", Kind: setting.Text, Help: "subset (configuration) of the public dataset"},
	{Flags: []string{"--public-dataset-path"}, Key: "datasets.main.dataset_path", Kind: setting.Path, Folder: true, Help: "directory with a copy of the public dataset's repository; nothing is fetched"},
	{Flags: []string{"--hf-weka-dataset"}, Key: "datasets.main.hf_weka_dataset", Kind: setting.Text, Help: "recorded agents in the schema of Weka: OWNER/NAME of the hub"},
	{Flags: []string{"--dataset-filter"}, Key: "datasets.main.filters", Manual: true, Kind: setting.Text, List: true, Whole: true, Help: "keep the sessions of an exgentic dataset where key=value: harness, source_model, benchmark"},
	{Flags: []string{"--custom-dataset-type"}, Key: "datasets.main.format", Manual: true, Common: true, Kind: setting.Enum, Help: "format of the input file; recognised from its content when absent"},
	{Flags: []string{"--input-column"}, Key: "datasets.main.input_column", Kind: setting.Text, Default: "text, prompt, question, instruction, input or query", Help: "key or column of the prompts in the input file"},
	{Flags: []string{"--ignore-trace-delays"}, Key: "datasets.main.ignore_trace_delays", Kind: setting.Bool, Help: "recorded agents: send without the recorded delays"},
	{Flags: []string{"--use-think-time-only"}, Key: "datasets.main.use_think_time_only", Kind: setting.Bool, Help: "recorded agents: keep think times instead of recorded start times"},
	{Flags: []string{"--max-context-length"}, Key: "datasets.main.max_context_length", Kind: setting.Int, Bounds: ">= 1", Help: "skip agent traces with more prompt and answer tokens"},
	{Flags: []string{"--dataset-sampling-strategy"}, Key: "datasets.main.sampling", Kind: setting.Enum, Choices: []string{"sequential", "random", "shuffle"}, Default: "sequential", Help: "order of the conversations"},
	{Flags: []string{"--allow-dataset-wrap"}, FalseNames: []string{"--no-allow-dataset-wrap"}, Key: "datasets.main.synthesis.allow_dataset_wrap", Kind: setting.Bool, Help: "agentic replay: allow several lanes per recording if recordings are too few"},
	{Flags: []string{"--random-seed"}, Key: "random_seed", Manual: true, Common: true, Kind: setting.Int, Bounds: ">= 0", Big: true, Default: "entropy; 42 when repeating or sweeping", Help: "random seed; the same seed sends the same requests"},
	{Flags: []string{"--trace-session-sample-ratio"}, Key: "datasets.main.trace_session_sample_ratio", Kind: setting.Float, Bounds: "> 0, <= 1", Help: "baseten_trace: share of the sessions to take"},
	{Flags: []string{"--config", "-f"}, Hidden: []string{"--user-config-file"}, Common: true, Kind: setting.Path, Absent: true, Help: "configuration file in YAML, for example the output of --dry-run"},
})

var conversationInputRows = group("Conversation Input", []setting.Row{
	{Flags: []string{"--num-sessions", "--conversation-num", "--num-conversations"}, Key: "phases.profiling.sessions", Common: true, Kind: setting.Int, Bounds: ">= 1", Zero: true, Sweep: true, Help: "stop starting sessions after this many"},
	{Flags: []string{"--num-dataset-entries", "--num-prompts"}, Key: "datasets.main.entries", Manual: true, Common: true, Kind: setting.Int, Bounds: ">= 1", Default: "--num-sessions, else --request-count, else 100", Help: "conversations to generate"},
	{Flags: []string{"--session-turns-mean", "--conversation-turn-mean"}, Key: "datasets.main.turns.mean", Common: true, Kind: setting.Int, Bounds: ">= 1", Default: "1", Sweep: true, Help: "mean number of turns of a conversation"},
	{Flags: []string{"--session-turns-stddev", "--conversation-turn-stddev"}, Key: "datasets.main.turns.stddev", Kind: setting.Int, Bounds: ">= 0", Default: "0", Help: "standard deviation of the number of turns; rounded up"},
	{Flags: []string{"--session-turn-delay-mean", "--conversation-turn-delay-mean"}, Key: "datasets.main.turn_delay.mean", Unit: "ms", Kind: setting.Float, Bounds: ">= 0", Default: "0", Help: "mean delay before each later turn, in ms"},
	{Flags: []string{"--session-turn-delay-stddev", "--conversation-turn-delay-stddev"}, Key: "datasets.main.turn_delay.stddev", Unit: "ms", Kind: setting.Float, Bounds: ">= 0", Default: "0", Help: "standard deviation of the delay between turns, in ms"},
	{Flags: []string{"--session-delay-ratio", "--conversation-turn-delay-ratio"}, Key: "datasets.main.turn_delay_ratio", Kind: setting.Float, Bounds: ">= 0", Default: "1", Help: "factor for every delay between turns, generated or read"},
	{Flags: []string{"--inter-turn-delay-cap-seconds"}, Key: "datasets.main.inter_turn_delay_cap_seconds", Unit: "s", Kind: setting.Float, Bounds: ">= 0", Help: "upper limit for the delay between turns of a trace, in s"},
	{Flags: []string{"--max-idle-gap-cap-seconds"}, Key: "datasets.main.max_idle_gap_cap_seconds", Unit: "s", Kind: setting.Float, Bounds: "> 0", Help: "baseten_trace: upper limit for a pause of the whole trace, in s"},
	{Flags: []string{"--replay-speedup"}, Key: "datasets.main.replay_speedup", Kind: setting.Float, Bounds: "> 0", Help: "baseten_trace: replay faster by this factor"},
	{Flags: []string{"--open-loop-replay"}, FalseNames: []string{"--no-open-loop-replay"}, Key: "datasets.main.open_loop_replay", Kind: setting.Bool, Default: "on", Help: "baseten_trace: send at the recorded times; off: sessions wait for answers"},
	{Flags: []string{"--open-loop-strict"}, Key: "datasets.main.open_loop_strict", Kind: setting.Bool, Help: "baseten_trace: treat every row as a separate session"},
	{Flags: []string{"--omit-kv-hints"}, Key: "datasets.main.omit_kv_hints", Kind: setting.Bool, Help: "baseten_trace: omit hash_ids and block_size from the bodies"},
	{Flags: []string{"--force-min-tokens"}, FalseNames: []string{"--no-force-min-tokens"}, Key: "datasets.main.force_min_tokens", Kind: setting.Bool, Default: "on", Help: "baseten_trace: send the recorded output length as min_tokens"},
})

var promptRows = group("Prompt", []setting.Row{
	{Flags: []string{"--batch-size-text", "--prompt-batch-size", "--batch-size", "-b"}, Key: "datasets.main.prompts.batch_size", Kind: setting.Int, Bounds: ">= 0", Default: "1", Help: "number of texts in one request; 0 = none"},
	{Flags: []string{"--prompt-corpus"}, Key: "datasets.main.prompts.corpus", Kind: setting.Enum, Choices: []string{"sonnet", "coding", "random"}, Default: "sonnet; coding for recorded agents", Help: "source text of generated prompts"},
})

var cacheBustRows = group("Cache Bust", []setting.Row{
	{Flags: []string{"--cache-bust"}, Key: "datasets.main.prompts.cache_bust.target", Kind: setting.Enum, Choices: CacheBustTargets, Default: "none", Help: "place of a unique marker that defeats prefix caches"},
})

var prefixPromptRows = group("Prefix Prompt", []setting.Row{
	{Flags: []string{"--num-prefix-prompts", "--prompt-prefix-pool-size", "--prefix-prompt-pool-size"}, Key: "datasets.main.prefix_prompts.pool_size", Kind: setting.Int, Bounds: ">= 0", Default: "0", Zero: true, Help: "number of shared prefixes; 0 = none"},
	{Flags: []string{"--prefix-prompt-length", "--prompt-prefix-length"}, Key: "datasets.main.prefix_prompts.length", Kind: setting.Int, Bounds: ">= 0", Default: "0; 100 with --num-prefix-prompts", Zero: true, Help: "length of a shared prefix, in tokens"},
	{Flags: []string{"--shared-system-prompt-length"}, Key: "datasets.main.prefix_prompts.shared_system_length", Common: true, Kind: setting.Int, Bounds: ">= 1", Help: "length of the system prompt shared by all sessions, in tokens"},
	{Flags: []string{"--user-context-prompt-length"}, Key: "datasets.main.prefix_prompts.user_context_length", Kind: setting.Int, Bounds: ">= 1", Help: "length of the own context of each session, in tokens"},
	{Flags: []string{"--system-prompt"}, Key: "datasets.main.system_prompt", Manual: true, Kind: setting.Text, Help: "system prompt of every conversation"},
	{Flags: []string{"--system-prompt-file"}, Key: "datasets.main.system_prompt_file", Manual: true, Kind: setting.Path, Help: "file with the system prompt of every conversation"},
})

var islRows = group("Input Sequence Length (ISL)", []setting.Row{
	{Flags: []string{"--isl", "--prompt-input-tokens-mean", "--synthetic-input-tokens-mean"}, Key: "datasets.main.prompts.isl.mean", Common: true, Kind: setting.Int, Bounds: ">= 0", Default: "550", Sweep: true, Help: "mean length of a prompt, in tokens"},
	{Flags: []string{"--isl-stddev", "--prompt-input-tokens-stddev", "--synthetic-input-tokens-stddev"}, Key: "datasets.main.prompts.isl.stddev", Common: true, Kind: setting.Float, Bounds: ">= 0", Default: "0", Sweep: true, Help: "standard deviation of the prompt length, in tokens"},
	{Flags: []string{"--isl-block-size", "--prompt-input-tokens-block-size", "--synthetic-input-tokens-block-size"}, Key: "datasets.main.prompts.block_size", Manual: true, Kind: setting.Int, Bounds: ">= 1", Default: "512; 16 for bailian_trace, 64 for tracelab", Help: "number of tokens per hash id of a trace"},
	{Flags: []string{"--seq-dist", "--sequence-distribution"}, Key: "datasets.main.prompts.sequence_distribution", Manual: true, Common: true, Kind: setting.Text, Help: "weighted pairs of lengths: \"256,128:40;512,256:60\", shares in percent"},
	{Flags: []string{"--random-range-ratio"}, Key: "datasets.main.prompts.random_range_ratio", Kind: setting.Text, Help: "draw lengths uniformly within this ratio around the mean"},
	{Flags: []string{"--random-corpus-style"}, Key: "datasets.main.prompts.random_corpus_style", Kind: setting.Enum, Choices: []string{"vllm", "sglang"}, Default: "vllm", Help: "tool whose random prompts are imitated"},
})

var oslRows = group("Output Sequence Length (OSL)", []setting.Row{
	{Flags: []string{"--osl", "--prompt-output-tokens-mean", "--output-tokens-mean"}, Key: "datasets.main.prompts.osl.mean", Manual: true, Common: true, Kind: setting.Int, Bounds: ">= 0", Sweep: true, Help: "requested output length, in tokens"},
	{Flags: []string{"--osl-stddev", "--prompt-output-tokens-stddev", "--output-tokens-stddev"}, Key: "datasets.main.prompts.osl.stddev", Manual: true, Common: true, Kind: setting.Float, Bounds: ">= 0", Default: "0", Sweep: true, Help: "standard deviation of the output length, in tokens"},
})

var rankingsRows = group("Rankings", []setting.Row{
	{Flags: []string{"--rankings-passages-mean"}, Key: "datasets.main.rankings.passages.mean", Kind: setting.Int, Bounds: ">= 1", Default: "1", Help: "mean number of passages per request"},
	{Flags: []string{"--rankings-passages-stddev"}, Key: "datasets.main.rankings.passages.stddev", Kind: setting.Int, Bounds: ">= 0", Default: "0", Help: "standard deviation of the number of passages"},
	{Flags: []string{"--rankings-passages-prompt-token-mean"}, Key: "datasets.main.rankings.passage_tokens.mean", Kind: setting.Int, Bounds: ">= 1", Default: "550", Help: "mean length of a passage, in tokens"},
	{Flags: []string{"--rankings-passages-prompt-token-stddev"}, Key: "datasets.main.rankings.passage_tokens.stddev", Kind: setting.Int, Bounds: ">= 0", Default: "0", Help: "standard deviation of the passage length, in tokens"},
	{Flags: []string{"--rankings-query-prompt-token-mean"}, Key: "datasets.main.rankings.query_tokens.mean", Kind: setting.Int, Bounds: ">= 1", Default: "550", Help: "mean length of a query, in tokens"},
	{Flags: []string{"--rankings-query-prompt-token-stddev"}, Key: "datasets.main.rankings.query_tokens.stddev", Kind: setting.Int, Bounds: ">= 0", Default: "0", Help: "standard deviation of the query length, in tokens"},
})

var synthesisRows = group("Synthesis", []setting.Row{
	{Flags: []string{"--synthesis-speedup-ratio"}, Key: "datasets.main.synthesis.speedup_ratio", Kind: setting.Float, Bounds: "> 0", Default: "1", Help: "replay a trace faster by this factor"},
	{Flags: []string{"--synthesis-prefix-len-multiplier"}, Key: "datasets.main.synthesis.prefix_len_multiplier", Kind: setting.Float, Bounds: "> 0", Default: "1", Help: "factor for shared prefix lengths of a trace"},
	{Flags: []string{"--synthesis-prefix-root-multiplier"}, Key: "datasets.main.synthesis.prefix_root_multiplier", Kind: setting.Int, Bounds: ">= 1", Default: "1", Help: "number of copies of a trace's prefix tree"},
	{Flags: []string{"--synthesis-prompt-len-multiplier"}, Key: "datasets.main.synthesis.prompt_len_multiplier", Kind: setting.Float, Bounds: "> 0", Default: "1", Help: "factor for unshared prompt lengths of a trace"},
	{Flags: []string{"--synthesis-output-len-multiplier"}, Key: "datasets.main.synthesis.output_len_multiplier", Kind: setting.Float, Bounds: ">= 0", Default: "1", Help: "factor for output lengths of a trace"},
	{Flags: []string{"--synthesis-max-isl"}, Key: "datasets.main.synthesis.max_isl", Kind: setting.Int, Bounds: ">= 1", Help: "skip trace rows with longer inputs, in tokens"},
	{Flags: []string{"--synthesis-max-osl"}, Key: "datasets.main.synthesis.max_osl", Kind: setting.Int, Bounds: ">= 1", Help: "upper limit for output lengths of a trace, in tokens"},
})
