package config

import (
	"fmt"
	"math"
)

func (v *violations) dataset(b *Benchmark) {
	if len(b.Datasets) != 1 {
		v.when(true, "benchmark.datasets", "must hold one dataset, not %d", len(b.Datasets))
		return
	}
	d := b.Dataset()
	path := "benchmark.datasets." + d.Name
	v.when(d.Name == "", "benchmark.datasets[0].name", "is empty")
	v.oneOf(path+".type", string(d.Type), "synthetic", "file", "public")
	v.oneOf(path+".sampling", string(d.Sampling), "sequential", "random", "shuffle")
	v.when(d.SystemPrompt != "" && d.SystemPromptFile != "", path+".system_prompt", "excludes system_prompt_file")
	v.when(!measure(d.TurnDelayRatio), path+".turn_delay_ratio", "must be >= 0 and finite, not %v", d.TurnDelayRatio)
	v.when(d.InterTurnDelayCap != nil && !(*d.InterTurnDelayCap >= 0), path+".inter_turn_delay_cap_seconds", "must be >= 0")
	v.when(d.Entries < 0, path+".entries", "must be >= 1")
	v.when(d.BlockSize < 0, path+".block_size", "must be >= 1")
	switch d.Type {
	case DatasetFile:
		v.when(d.Path == "", path+".path", "is empty")
	case DatasetSynthetic:
		v.when(d.Entries < 1, path+".entries", "must be >= 1")
		v.when(d.Prompts == nil || d.Prompts.ISL == nil, path+".prompts.isl", "is missing")
		v.when(d.Prompts != nil && d.Prompts.BatchSize < 1, path+".prompts.batch_size", "must be >= 1")
	}
	v.prompts(path+".prompts", d.Prompts)
	v.distribution(path+".osl", d.OSL)
	v.distribution(path+".turns", d.Turns)
	v.distribution(path+".turn_delay", d.TurnDelay)
	if r := d.Rankings; r != nil {
		v.distribution(path+".rankings.passages", r.Passages)
		v.distribution(path+".rankings.passage_tokens", r.PassageTokens)
		v.distribution(path+".rankings.query_tokens", r.QueryTokens)
	}
	v.prefixes(path+".prefix_prompts", d.PrefixPrompts)
	v.synthesis(path+".synthesis", d.Synthesis)
}

func (v *violations) prompts(path string, p *Prompts) {
	if p == nil {
		return
	}
	v.distribution(path+".isl", p.ISL)
	v.distribution(path+".osl", p.OSL)
	v.when(p.BlockSize < 0, path+".block_size", "must be >= 1")
	sum := 0.0
	for i, pair := range p.SequenceDistribution {
		at := fmt.Sprintf("%s.sequence_distribution[%d]", path, i)
		v.distribution(at+".isl", &pair.ISL)
		v.distribution(at+".osl", &pair.OSL)
		v.when(!(pair.Probability >= 0 && pair.Probability <= 100), at+".probability", "must be 0 to 100 percent, not %v", pair.Probability)
		sum += pair.Probability
	}
	v.when(len(p.SequenceDistribution) > 0 && !(math.Abs(sum-100) <= 1e-4), path+".sequence_distribution", "has probabilities that sum to %g, not 100 percent", sum)
}

func (v *violations) prefixes(path string, p *PrefixPrompts) {
	if p == nil {
		return
	}
	v.when((p.PoolSize > 0 || p.Length > 0) && (p.SharedSystemLength > 0 || p.UserContextLength > 0), path,
		"holds both a pool and a shared system or user context length")
	for _, one := range []struct {
		key string
		n   int
	}{{"pool_size", p.PoolSize}, {"length", p.Length}, {"shared_system_length", p.SharedSystemLength}, {"user_context_length", p.UserContextLength}} {
		v.when(one.n < 0, path+"."+one.key, "must be >= 1, not %d", one.n)
	}
}

func (v *violations) synthesis(path string, s *Synthesis) {
	if s == nil {
		return
	}
	for _, one := range []struct {
		key string
		f   float64
	}{
		{"speedup_ratio", s.SpeedupRatio}, {"prefix_len_multiplier", s.PrefixLenMultiplier}, {"prompt_len_multiplier", s.PromptLenMultiplier},
		{"output_len_multiplier", s.OutputLenMultiplier},
	} {
		v.when(!(one.f > 0 && measure(one.f)), path+"."+one.key, "must be > 0 and finite, not %v", one.f)
	}
	v.when(s.PrefixRootMultiplier < 1, path+".prefix_root_multiplier", "must be >= 1, not %d", s.PrefixRootMultiplier)
	v.atLeast1(path+".max_isl", s.MaxISL)
	v.atLeast1(path+".max_osl", s.MaxOSL)
}

func (v *violations) distribution(path string, d *Distribution) {
	if d == nil {
		return
	}
	for _, one := range []struct {
		key string
		f   *float64
	}{{"", d.Value}, {".mean", d.Mean}, {".stddev", d.Stddev}} {
		v.when(one.f != nil && !measure(*one.f), path+one.key, "must be >= 0 and finite, not %v", value(one.f))
	}
	v.when(d.Mean == nil && d.Value == nil, path, "has neither mean nor value")
	v.when(d.Median != nil && (d.Mean == nil || *d.Median > *d.Mean || !(*d.Median > 0)), path+".median", "must be > 0 and not above mean")
	v.when(d.Min != nil && d.Max != nil && *d.Min > *d.Max, path, "min is above max")
}

// measure tells whether a number can be an amount of something: from 0 on, not infinite, not NaN.
func measure(f float64) bool { return f >= 0 && f <= math.MaxFloat64 }
