package agentic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/base/rng"
)

// Config holds the distributions of a workload. Lengths are in tokens, times in ms.
type Config struct {
	NewTokens     Biased       `json:"new_tokens_per_turn"`
	Output        Lognormal    `json:"generation_length"`
	Delay         Delay        `json:"inter_turn_delay"`
	Reset         *ResetChance `json:"reset"` // nil = never
	Turns         *TurnCount   `json:"turns"` // nil = sessions end by length and chance
	MaxPrompt     int          `json:"max_prompt_tokens"`
	BlockSize     int          `json:"block_size"`
	Cache         Cache        `json:"cache"`
	RestartChance float64      `json:"restart_initial_probability"` // chance of a split for the first session; falls to 0 over three quarters of the sessions
	RestartTurns  [2]int       `json:"restart_turn_range"`          // first turn and end (exclusive) of the range for a split
}

// Lognormal is a log-normal distribution. A draw outside of its bounds is repeated. Missing mu and sigma are computed from mean and median.
type Lognormal struct {
	Mu     float64  `json:"mu"`
	Sigma  float64  `json:"sigma"`
	Mean   float64  `json:"mean"`
	Median float64  `json:"median"`
	Min    *float64 `json:"min"`
	Max    *float64 `json:"max"`
}

// Biased is a distribution whose draws are multiplied by a factor.
type Biased struct {
	Lognormal
	Bias float64 `json:"bias"`
}

// Delay is the distribution of pauses: a fraction of quick agent turns, the rest are human turns.
type Delay struct {
	AgenticFraction float64   `json:"agentic_fraction"`
	Agentic         Lognormal `json:"agentic_delay"`
	Human           Lognormal `json:"human_delay"`
	Max             *float64  `json:"max"`
}

// ResetChance is the probability that a session ends before a turn: Chance with an empty context, Scaling times that with a full one.
type ResetChance struct {
	Chance  float64 `json:"base_probability"`
	Scaling float64 `json:"context_scaling"`
}

// TurnCount is the distribution of the number of turns.
type TurnCount struct {
	Mean     float64 `json:"mean"`
	Median   float64 `json:"median"`
	Min      int     `json:"min"`
	Max      int     `json:"max"`
	Truncate bool    `json:"allow_truncation"`
	Attempts int     `json:"max_session_attempts"`
}

// Cache holds the prefix layers: of all sessions, of a group, of one session.
type Cache struct {
	Layer1  int       `json:"layer1_tokens"`
	Layer15 int       `json:"layer1_5_tokens"`
	Layer2  Lognormal `json:"layer2"`
	Groups  Groups    `json:"layer1_5_groups"`
}

// Groups controls how sessions are assigned to groups, by Zipf's law.
type Groups struct {
	Number int     `json:"num_groups"`
	Alpha  float64 `json:"zipf_alpha"`
}

// lognormal returns the distribution including the bias.
func (b Biased) lognormal() Lognormal {
	l := b.Lognormal
	l.Mu += math.Log(b.Bias)
	return l
}

// maxDraws is the maximum number of draws for a number within its bounds; after that it is clamped.
const maxDraws = 100

func (l *Lognormal) draw(s *rng.Stream) float64 {
	v := math.Exp(s.Gauss(l.Mu, l.Sigma))
	for range maxDraws {
		if (l.Min == nil || v >= *l.Min) && (l.Max == nil || v <= *l.Max) {
			return v
		}
		v = math.Exp(s.Gauss(l.Mu, l.Sigma))
	}
	if l.Min != nil {
		v = max(v, *l.Min)
	}
	if l.Max != nil {
		v = min(v, *l.Max)
	}
	return v
}

func (c *TurnCount) draw(s *rng.Stream) int {
	l := lognormal(c.Mean, c.Median)
	return min(c.Max, max(c.Min, int(math.RoundToEven(l.draw(s)))))
}

// lognormal returns the distribution with a mean and a median: mu = ln median, sigma = sqrt(2 ln(mean/median)).
func lognormal(mean, median float64) Lognormal {
	return Lognormal{Mean: mean, Median: median, Mu: math.Log(median), Sigma: math.Sqrt(2 * math.Log(mean/median))}
}

// Default returns the default distributions.
func Default() *Config {
	return &Config{
		NewTokens: Biased{lognormal(3500, 1800), 1}, Output: lognormal(500, 300),
		Delay: Delay{AgenticFraction: 0.7, Agentic: lognormal(2500, 1800), Human: lognormal(40000, 25000)},
		Reset: &ResetChance{0.02, 2}, MaxPrompt: 200000, BlockSize: 512,
		Cache:        Cache{Layer1: 32000, Layer15: 20000, Layer2: lognormal(10000, 5000), Groups: Groups{50, 1.2}},
		RestartTurns: [2]int{5, 15},
	}
}

// bundled are the named configurations.
var bundled = map[string]string{"default": `{
  "new_tokens_per_turn": {"mean": 6000, "median": 6000, "max": 10000, "bias": 1.1}, "generation_length": {"mean": 1000, "median": 1000, "max": 1500},
  "inter_turn_delay": {"agentic_fraction": 0.7, "agentic_delay": {"mean": 2500, "median": 1800, "max": 10000}, "human_delay": {"mean": 40000, "median": 25000, "max": 120000}},
  "reset": {"base_probability": 0.01, "context_scaling": 1.5}, "max_prompt_tokens": 167000, "block_size": 512,
  "cache": {"layer1_tokens": 32000, "layer1_5_tokens": 0, "layer2": {"mean": 15000, "median": 5000, "max": 30000}, "layer1_5_groups": {"num_groups": 1, "zipf_alpha": 0.6}}}`}

// maxConfig is the maximum size of a configuration, in bytes.
const maxConfig = 1 << 20

// Load reads a configuration: a bundled name, a file, or the manifest of an earlier run; "" = the default. name is used for the name of the output
// directory.
func Load(from string) (c *Config, name string, err error) {
	if from == "" {
		return Default(), "default", nil
	}
	name = from
	text := []byte(bundled[from])
	if len(text) == 0 {
		if text, err = boundedfile.ReadAll(from, maxConfig); errors.Is(err, os.ErrNotExist) {
			return nil, "", fmt.Errorf("%w; the only bundled configuration is named \"default\"", err)
		} else if err != nil {
			return nil, "", err
		}
		name = strings.TrimSuffix(filepath.Base(from), filepath.Ext(from))
	}
	var manifest struct {
		Params json.RawMessage `json:"generation_params"`
	}
	if json.Unmarshal(text, &manifest) == nil && manifest.Params != nil {
		text = manifest.Params
	}
	if c, err = parse(text); err != nil {
		return nil, "", fmt.Errorf("%s: %w", from, err)
	}
	return c, name, nil
}

// parse parses distributions and takes missing ones from the default. Unknown keys are errors, because their settings would have no effect.
func parse(text []byte) (*Config, error) {
	c := Default()
	var given struct {
		Output *json.RawMessage `json:"generation_length"`
		New    *json.RawMessage `json:"new_tokens_per_turn"`
		Delay  struct {
			Agentic *json.RawMessage `json:"agentic_delay"`
			Human   *json.RawMessage `json:"human_delay"`
		} `json:"inter_turn_delay"`
		Cache struct {
			Layer2 *json.RawMessage `json:"layer2"`
		} `json:"cache"`
	}
	if err := json.Unmarshal(text, &given); err != nil {
		return nil, err
	}
	for raw, l := range map[**json.RawMessage]*Lognormal{
		&given.Output: &c.Output, &given.New: &c.NewTokens.Lognormal, &given.Delay.Agentic: &c.Delay.Agentic, &given.Delay.Human: &c.Delay.Human, &given.Cache.Layer2: &c.Cache.Layer2,
	} {
		if *raw != nil { // the file replaces the whole distribution
			*l = Lognormal{}
		}
	}
	if given.New != nil {
		c.NewTokens.Bias = 1
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(c); err != nil {
		return nil, err
	}
	if c.Turns != nil && c.Turns.Attempts == 0 {
		c.Turns.Attempts = 100
	}
	return c, c.Check()
}

// Check completes the distributions and returns an error if they are invalid.
func (c *Config) Check() error {
	for name, l := range map[string]*Lognormal{
		"generation_length": &c.Output, "new_tokens_per_turn": &c.NewTokens.Lognormal, "inter_turn_delay.agentic_delay": &c.Delay.Agentic,
		"inter_turn_delay.human_delay": &c.Delay.Human, "cache.layer2": &c.Cache.Layer2,
	} {
		if err := l.complete(); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	share := func(p float64) bool { return p >= 0 && p <= 1 }
	t := c.Turns
	for _, one := range []struct {
		bad bool
		why string
	}{
		{!(c.NewTokens.Bias > 0), "new_tokens_per_turn.bias: must be above 0"},
		{!share(c.Delay.AgenticFraction), "inter_turn_delay.agentic_fraction: must be 0 to 1"},
		{c.Delay.Max != nil && *c.Delay.Max < 0, "inter_turn_delay.max: must not be negative"},
		{c.Reset != nil && (!share(c.Reset.Chance) || !(c.Reset.Scaling >= 1)), "reset: base_probability must be 0 to 1, context_scaling at least 1"},
		{c.BlockSize < 1, "block_size: must be at least 1"},
		{c.Cache.Layer1 < 0 || c.Cache.Layer15 < 0, "cache: layers must not be negative"},
		{c.Cache.Groups.Number < 1 || c.Cache.Groups.Number > maxGroups || !(c.Cache.Groups.Alpha >= 0), "cache.layer1_5_groups: num_groups must be 1 to 1000, zipf_alpha at least 0"},
		{c.BlockSize > 0 && blocksOf(c.Cache.Layer15, c.BlockSize) > groupBlocks, "cache.layer1_5_tokens: more than 200 blocks"},
		{c.MaxPrompt < 2, "max_prompt_tokens: must be at least 2"},
		{!share(c.RestartChance), "restart_initial_probability: must be 0 to 1"},
		{c.RestartTurns[0] < 1 || c.RestartTurns[1] <= c.RestartTurns[0], "restart_turn_range: must be two numbers, at least 1, in ascending order"},
		{t != nil && (c.Reset != nil || c.RestartChance > 0), "turns: cannot be combined with reset (set it to null) or restart_initial_probability (set it to 0)"},
		{t != nil && !(t.Min >= 1 && float64(t.Min) <= t.Median && t.Median <= t.Mean && t.Mean <= float64(t.Max)), "turns: needs 1 <= min <= median <= mean <= max"},
	} {
		if one.bad {
			return errors.New(one.why)
		}
	}
	return nil
}

// complete computes mu and sigma if only mean and median are given.
func (l *Lognormal) complete() error {
	switch {
	case l.Mu != 0 || l.Sigma != 0:
		if !(l.Sigma >= 0) {
			return fmt.Errorf("sigma %g: must not be negative", l.Sigma)
		}
	case !(l.Median > 0) || !(l.Mean >= l.Median) || math.IsInf(l.Mean, 0):
		return fmt.Errorf("mean %g, median %g: a log-normal distribution needs a median above 0 and a mean of at least the median", l.Mean, l.Median)
	default:
		l.Mu, l.Sigma = math.Log(l.Median), math.Sqrt(2*math.Log(l.Mean/l.Median))
	}
	if l.Min != nil && l.Max != nil && *l.Min > *l.Max {
		return fmt.Errorf("min %g is above max %g", *l.Min, *l.Max)
	}
	return nil
}
