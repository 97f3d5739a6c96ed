package config

import (
	"fmt"
	"math"
	"strings"
)

func (v *violations) dataset(b *Benchmark) {
	if len(b.Datasets) != 1 {
		v.addIf(true, "benchmark.datasets", "must hold one dataset, not %d", len(b.Datasets))
		return
	}
	d := b.Dataset()
	path := "benchmark.datasets." + d.Name
	v.addIf(d.Name == "", "benchmark.datasets[0].name", "is missing or empty: give the dataset a name, for example main")
	v.oneOf(path+".type", string(d.Type), "synthetic", "file", "public")
	v.addIf(d.SystemPrompt != "" && d.SystemPromptFile != "", path+".system_prompt", "excludes %s", v.spelling(path+".system_prompt_file"))
	v.addIf(d.Entries < 0, path+".entries", "must be >= 1")
	v.addIf(d.BlockSize < 0, path+".block_size", "must be >= 1")
	if d.CacheBust != nil && d.CacheBust.Target != "" {
		v.oneOf(path+".cache_bust.target", d.CacheBust.Target, CacheBustTargets...)
	}
	for key, n := range map[string]*int{"prompt": d.PromptBatchSize, "image": d.ImageBatchSize, "audio": d.AudioBatchSize, "video": d.VideoBatchSize} {
		v.addIf(n != nil && *n < 0, path+"."+key+"_batch_size", "must be >= 0")
		v.count(path+"."+key+"_batch_size", Value(n), maxItems, "for a request")
	}
	switch d.Type {
	case DatasetFile:
		v.addIf(d.Path == "" && d.Records == nil, path+".path", "is empty")
		v.addIf(d.Path != "" && d.Records != nil, path+".records", "excludes %s: give the rows here or in a file", v.spelling(path+".path"))
		v.addIf(d.Records != nil && d.Records.Count() == 0, path+".records", "has no rows")
	case DatasetPublic:
		v.addIf(d.Dataset == "", path+".dataset", "is empty")
	case DatasetSynthetic:
		v.addIf(d.Entries == 0, path+".entries", "must be >= 1")
		v.addIf(d.Prompts == nil || d.Prompts.ISL == nil, path+".prompts.isl", "is missing")
	}
	v.prompts(path+".prompts", d.Prompts)
	if d.Type == DatasetSynthetic {
		v.generated(path, d)
	}
	v.distribution(path+".osl", d.OSL)
	v.amount(path+".turns", d.Turns, maxTurns, "turns")
	v.addIf(d.Turns != nil && d.Turns.Mean == nil && !(d.Turns.MeanOr(1) >= 1), path+".turns", "must be >= 1 on average, not %v", d.Turns.MeanOr(1))
	v.distribution(path+".turn_delay", d.TurnDelay)
	if r := d.Rankings; r != nil {
		v.amount(path+".rankings.passages", r.Passages, maxItems, "passages")
		v.amount(path+".rankings.passage_tokens", r.PassageTokens, maxPrompt, "tokens")
		v.amount(path+".rankings.query_tokens", r.QueryTokens, maxPrompt, "tokens")
	}
	v.prefixes(path+".prefix_prompts", d.PrefixPrompts)
	v.images(path+".images", d.Images)
	v.audio(path+".audio", d.Audio)
	v.video(path+".video", d.Video)
}

func (v *violations) prompts(path string, p *Prompts) {
	if p == nil {
		return
	}
	v.amount(path+".isl", p.ISL, maxPrompt, "tokens")
	v.count(path+".batch_size", p.BatchSize, maxItems, "texts")
	v.distribution(path+".osl", p.OSL)
	v.addIf(p.BlockSize < 0, path+".block_size", "must be >= 1")
	sum := 0.0
	for i, pair := range p.SequenceDistribution {
		at := fmt.Sprintf("%s.sequence_distribution[%d]", path, i)
		v.amount(at+".isl", &pair.ISL, maxPrompt, "tokens")
		v.distribution(at+".osl", &pair.OSL)
		v.addIf(!(pair.Probability >= 0 && pair.Probability <= 100), at+".probability", "must be 0 to 100 percent, not %v", pair.Probability)
		sum += pair.Probability
	}
	v.addIf(len(p.SequenceDistribution) > 0 && !(math.Abs(sum-100) <= 1e-4), path+".sequence_distribution", "has probabilities that sum to %g, not 100 percent", sum)
}

func (v *violations) prefixes(path string, p *PrefixPrompts) {
	if p == nil {
		return
	}
	v.count(path+".length", p.Length, maxPrompt, "tokens")
	v.count(path+".shared_system_length", p.SharedSystemLength, maxPrompt, "tokens")
	v.count(path+".user_context_length", p.UserContextLength, maxPrompt, "tokens")
	pooled := float64(p.PoolSize) * float64(max(1, p.Length))
	v.addIf(pooled > maxPool, path+".pool_size", "%d: all prefixes would have %.3g tokens; allowed: up to %.3g", p.PoolSize, pooled, float64(maxPool))
	pool, shared := path+".pool_size", path+".shared_system_length"
	if p.PoolSize == 0 {
		pool = path + ".length"
	}
	if p.SharedSystemLength == 0 {
		shared = path + ".user_context_length"
	}
	v.addIf((p.PoolSize > 0 || p.Length > 0) && (p.SharedSystemLength > 0 || p.UserContextLength > 0), pool,
		"and %s: give a prefix pool or shared lengths, not both", v.spelling(shared))
}

func (v *violations) distribution(path string, d *Distribution) {
	if d == nil {
		return
	}
	if key, err := d.fault(); err != nil {
		v.addIf(true, path+strings.TrimSuffix(key, ".value"), "%v", err)
	}
}

// measure reports whether a number is a valid amount: >= 0, finite, not NaN.
func measure(f float64) bool { return f >= 0 && f <= math.MaxFloat64 }
