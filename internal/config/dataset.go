package config

// DatasetType tells where conversations come from.
type DatasetType string

// The sources of conversations.
const (
	DatasetSynthetic DatasetType = "synthetic"
	DatasetFile      DatasetType = "file"
	DatasetPublic    DatasetType = "public"
)

// Sampling is the order in which conversations are taken.
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
	// Entries is the number of conversations to make or to take; 0 with a file or a public set is all of them.
	Entries int `yaml:"entries,omitempty"`

	// File.
	Path   string `yaml:"path,omitempty"`
	Format string `yaml:"format,omitempty"` // snake-case file type; empty: recognised from the content

	// Public.
	Dataset       string            `yaml:"dataset,omitempty"`
	HFSubset      string            `yaml:"hf_subset,omitempty"`
	HFWekaDataset string            `yaml:"hf_weka_dataset,omitempty"`
	Filters       map[string]string `yaml:"filters,omitempty"`

	// Synthetic. Prompts and PrefixPrompts also serve files as far as their keys apply.
	Prompts        *Prompts       `yaml:"prompts,omitempty"`
	PrefixPrompts  *PrefixPrompts `yaml:"prefix_prompts,omitempty"`
	Turns          *Distribution  `yaml:"turns,omitempty"`      // turns of a conversation; nil: one
	TurnDelay      *Distribution  `yaml:"turn_delay,omitempty"` // ms before a following turn; nil: none
	TurnDelayRatio float64        `yaml:"turn_delay_ratio"`     // multiplies every delay, generated or read
	Images         *Images        `yaml:"images,omitempty"`
	Audio          *Audio         `yaml:"audio,omitempty"`
	Video          *Video         `yaml:"video,omitempty"`
	Rankings       *Rankings      `yaml:"rankings,omitempty"`

	// Traces.
	Synthesis         *Synthesis    `yaml:"synthesis,omitempty"`
	OSL               *Distribution `yaml:"osl,omitempty"`        // for file records that state no output length
	BlockSize         int           `yaml:"block_size,omitempty"` // tokens of one hash block; 0: the type's own
	IgnoreTraceDelays bool          `yaml:"ignore_trace_delays,omitempty"`
	InterTurnDelayCap *Seconds      `yaml:"inter_turn_delay_cap_seconds,omitempty"`
}

// Prompts describes generated text.
type Prompts struct {
	ISL       *Distribution `yaml:"isl,omitempty"`        // input tokens of a prompt; nil only with files
	OSL       *Distribution `yaml:"osl,omitempty"`        // requested output tokens; nil requests no length
	BlockSize int           `yaml:"block_size,omitempty"` // tokens of one hash block; 0: 512
	BatchSize int           `yaml:"batch_size"`
	CacheBust CacheBust     `yaml:"cache_bust"`
	Corpus    string        `yaml:"corpus,omitempty"` // sonnet, coding, random; empty: sonnet
	// SequenceDistribution replaces ISL and OSL by weighted pairs; empty: not used.
	SequenceDistribution []SequencePair `yaml:"sequence_distribution,omitempty"`
	RandomRangeRatio     string         `yaml:"random_range_ratio,omitempty"`
	RandomCorpusStyle    string         `yaml:"random_corpus_style"`
}

// CacheBust says where a marker that defeats prefix caches goes.
type CacheBust struct {
	Target string `yaml:"target"`
}

// SequencePair is one weighted pair of lengths.
type SequencePair struct {
	ISL         Distribution `yaml:"isl"`
	OSL         Distribution `yaml:"osl"`
	Probability float64      `yaml:"probability"` // percent; the pairs of a run sum to 100
}

// PrefixPrompts describes text in front of prompts. Zero is off for each.
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

// DefaultSynthesis changes nothing.
func DefaultSynthesis() Synthesis {
	return Synthesis{SpeedupRatio: 1, PrefixLenMultiplier: 1, PrefixRootMultiplier: 1, PromptLenMultiplier: 1, OutputLenMultiplier: 1}
}
