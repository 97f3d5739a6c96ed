package config

// Images describes generated pictures of a turn.
type Images struct {
	BatchSize      int           `yaml:"batch_size"`
	Width          *Distribution `yaml:"width,omitempty"`  // pixels
	Height         *Distribution `yaml:"height,omitempty"` // pixels
	Format         string        `yaml:"format"`
	Source         string        `yaml:"source"`
	SourceSampling string        `yaml:"source_sampling"`
}

// Audio describes generated sound of a turn.
type Audio struct {
	BatchSize   int           `yaml:"batch_size"`
	Length      *Distribution `yaml:"length,omitempty"` // seconds
	Format      string        `yaml:"format"`
	SampleRates []float64     `yaml:"sample_rates"` // kHz
	Depths      []int         `yaml:"depths"`       // bits
	Channels    int           `yaml:"channels"`
}

// Video describes generated clips of a turn.
type Video struct {
	BatchSize int         `yaml:"batch_size"`
	Duration  Seconds     `yaml:"duration"`
	FPS       int         `yaml:"fps"`
	Width     *int        `yaml:"width,omitempty"`  // pixels
	Height    *int        `yaml:"height,omitempty"` // pixels
	Format    string      `yaml:"format"`
	Codec     string      `yaml:"codec"`
	SynthType string      `yaml:"synth_type"`
	Audio     *VideoAudio `yaml:"audio,omitempty"`
}

// VideoAudio is the sound track of a clip.
type VideoAudio struct {
	SampleRate float64 `yaml:"sample_rate"` // kHz
	Channels   int     `yaml:"channels"`
	Codec      string  `yaml:"codec,omitempty"`
	Depth      int     `yaml:"depth"` // bits
}

// Rankings describes generated queries and passages.
type Rankings struct {
	Passages      *Distribution `yaml:"passages,omitempty"`
	PassageTokens *Distribution `yaml:"passage_tokens,omitempty"`
	QueryTokens   *Distribution `yaml:"query_tokens,omitempty"`
}
