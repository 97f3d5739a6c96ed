package config

import (
	"fmt"
	"math"
	"strings"
)

// maxPrompt is the maximum mean length of generated prompts, in tokens. It is many times the longest context of any model.
const maxPrompt = 10_000_000

// maxDataset is the maximum number of tokens of all generated prompts, which inputs.json lists: some 100 GB.
const maxDataset = 20_000_000_000

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
	v.oneOf(path+".cache_bust.target", d.CacheBustTarget(), CacheBustTargets...)
	for key, n := range map[string]*int{"prompt": d.PromptBatchSize, "image": d.ImageBatchSize, "audio": d.AudioBatchSize, "video": d.VideoBatchSize} {
		v.addIf(n != nil && *n < 0, path+"."+key+"_batch_size", "must be >= 0")
	}
	switch d.Type {
	case DatasetFile:
		v.addIf(d.Path == "" && d.Records == nil, path+".path", "is empty")
		v.addIf(d.Path != "" && d.Records != nil, path+".records", "excludes %s: give the rows here or in a file", v.spelling(path+".path"))
		v.addIf(d.Records != nil && d.Records.Count() == 0, path+".records", "has no rows")
	case DatasetPublic:
		v.addIf(d.Dataset == "", path+".dataset", "is empty")
	case DatasetSynthetic:
		v.addIf(d.Entries < 1, path+".entries", "must be >= 1")
		v.addIf(d.Prompts == nil || d.Prompts.ISL == nil, path+".prompts.isl", "is missing")
	}
	v.prompts(path+".prompts", d.Prompts)
	if d.Type == DatasetSynthetic && d.Prompts != nil {
		tokens := float64(d.Entries) * max(1, d.Turns.MeanOr(1)) * max(1, d.Prompts.ISL.MeanOr(0))
		v.addIf(tokens > maxDataset, path+".entries", "and %s: %.3g prompt tokens in all would be made and listed in inputs.json; allowed: up to %.3g",
			v.spelling(path+".prompts.isl.mean"), tokens, float64(maxDataset))
	}
	v.distribution(path+".osl", d.OSL)
	v.distribution(path+".turns", d.Turns)
	v.addIf(d.Turns != nil && d.Turns.Mean == nil && !(d.Turns.MeanOr(1) >= 1), path+".turns", "must be >= 1 on average, not %v", d.Turns.MeanOr(1))
	v.distribution(path+".turn_delay", d.TurnDelay)
	if r := d.Rankings; r != nil {
		v.distribution(path+".rankings.passages", r.Passages)
		v.distribution(path+".rankings.passage_tokens", r.PassageTokens)
		v.distribution(path+".rankings.query_tokens", r.QueryTokens)
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
	v.distribution(path+".isl", p.ISL)
	v.addIf(p.ISL != nil && p.ISL.MeanOr(0) > maxPrompt, path+".isl.mean", "must be at most %d tokens on average", maxPrompt)
	v.distribution(path+".osl", p.OSL)
	v.addIf(p.BlockSize < 0, path+".block_size", "must be >= 1")
	sum := 0.0
	for i, pair := range p.SequenceDistribution {
		at := fmt.Sprintf("%s.sequence_distribution[%d]", path, i)
		v.distribution(at+".isl", &pair.ISL)
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
