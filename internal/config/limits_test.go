package config

import (
	"math"
	"strings"
	"testing"
)

// TestLimits: amounts of data that only fill memory or disk are refused with the setting and the limit. The largest allowed amounts pass.
func TestLimits(t *testing.T) {
	n := func(i int) *int { return &i }
	for name, c := range map[string]struct {
		change func(d *Dataset)
		want   string // "" = allowed
	}{
		"isl":         {func(d *Dataset) { d.Prompts.ISL = Normal(10_000_001, 0) }, "prompts.isl.mean must be at most 10000000 tokens, not 10000001"},
		"isl stddev":  {func(d *Dataset) { d.Prompts.ISL = Normal(1, 99_999_999_999) }, "prompts.isl.stddev must be at most 10000000 tokens, not 99999999999"},
		"isl value":   {func(d *Dataset) { d.Prompts.ISL = Fixed(2e7) }, "prompts.isl must be at most 10000000 tokens"},
		"isl maximum": {func(d *Dataset) { d.Prompts.ISL = &Distribution{Mean: Fixed(9).Value, Max: Fixed(1e12).Value} }, ""},
		"isl point":   {func(d *Dataset) { d.Prompts.ISL = &Distribution{Points: []Point{{1, 1e9}, {2e7, 1}}} }, "prompts.isl.points[1] must be at most"},
		"isl peak": {func(d *Dataset) {
			d.Prompts.ISL = &Distribution{Peaks: []Peak{{*Normal(1, 0), 1}, {*Normal(5, 2e7), 1}}}
		}, "prompts.isl.peaks[1].stddev must be at most"},
		"long prompts": {func(d *Dataset) { d.Prompts.ISL = Normal(10_000_000, 0) }, ""},
		"pair": {func(d *Dataset) {
			d.Prompts.SequenceDistribution = []SequencePair{{*Normal(2e7, 0), *Normal(1, 0), 100}}
		}, "sequence_distribution[0].isl.mean must be at most"},
		"texts":         {func(d *Dataset) { d.Prompts.BatchSize = 100_001 }, "prompts.batch_size must be at most 100000 texts, not 100001"},
		"tokens in all": {func(d *Dataset) { d.Prompts.BatchSize, d.Prompts.ISL = 100_000, Normal(100_000, 0) }, "prompts.isl.mean: 1e+12 prompt tokens in all"},
		"turns":         {func(d *Dataset) { d.Turns, d.Entries, d.Prompts.ISL = Normal(1, 100_001), 1, Normal(1, 0) }, "turns.stddev must be at most 100000 turns"},
		"turns in all":  {func(d *Dataset) { d.Turns, d.Prompts.ISL = Normal(1, 100_000), Normal(10_000, 0) }, "prompt tokens in all"},
		"passages":      {func(d *Dataset) { d.Rankings = &Rankings{Passages: Normal(1, 1e9)} }, "rankings.passages.stddev must be at most 100000 passages"},
		"passages in all": {func(d *Dataset) { d.Rankings = &Rankings{Passages: Normal(1000, 0), PassageTokens: Normal(1e6, 0)} },
			"rankings.passages.mean: 1e+11 prompt tokens in all"},
		"endless":        {func(d *Dataset) { d.Prompts.ISL = Normal(1, math.Inf(1)) }, "prompts.isl.stddev must be >= 0 and finite, not +Inf"},
		"query":          {func(d *Dataset) { d.Rankings = &Rankings{QueryTokens: Normal(2e7, 0)} }, "rankings.query_tokens.mean must be at most"},
		"prefix":         {func(d *Dataset) { d.PrefixPrompts = &PrefixPrompts{PoolSize: 1, Length: 20_000_000} }, "prefix_prompts.length must be at most 10000000 tokens"},
		"pool":           {func(d *Dataset) { d.PrefixPrompts = &PrefixPrompts{PoolSize: 20_000_001, Length: 10} }, "pool_size 20000001: all prefixes would have 2e+08 tokens"},
		"system":         {func(d *Dataset) { d.PrefixPrompts = &PrefixPrompts{SharedSystemLength: 20_000_000} }, "shared_system_length must be at most"},
		"context":        {func(d *Dataset) { d.PrefixPrompts = &PrefixPrompts{UserContextLength: 20_000_000} }, "user_context_length must be at most"},
		"pool of a file": {func(d *Dataset) { d.ImageBatchSize = n(100_001) }, "image_batch_size must be at most 100000 for a request"},
		"pictures": {func(d *Dataset) {
			d.Images = &Images{BatchSize: 100_001, Width: Fixed(1), Height: Fixed(1), Format: "png", Source: "noise", SourceSampling: "random-with-replacement"}
		}, "images.batch_size must be at most 100000 pictures"},
		"many pictures": {func(d *Dataset) {
			d.Images = &Images{BatchSize: 10_000, Format: "png", Source: "noise", SourceSampling: "random-with-replacement"}
		}, "images.batch_size 10000 and benchmark.datasets.main.images.width.mean: the pictures of a request would have 7864 MB before encoding; allowed: up to 4000 MB"},
		"some pictures": {func(d *Dataset) {
			d.Images = &Images{BatchSize: 5_000, Format: "png", Source: "noise", SourceSampling: "random-with-replacement"}
		}, ""},
		"large pictures": {func(d *Dataset) {
			d.Images = &Images{BatchSize: 1, Width: Normal(1000, 1e5), Height: Normal(1000, 0), Format: "png", Source: "noise", SourceSampling: "random-with-replacement"}
		}, "pictures of up to 301000 x 1000 pixels would be made"},
		"sounds": {func(d *Dataset) {
			d.Audio = &Audio{BatchSize: 50_000, Length: Normal(10, 0), Format: "wav", SampleRates: []float64{16}, Depths: []int{16}, Channels: 1}
		}, "the sounds of a request would have 16000 MB"},
		"clips":      {func(d *Dataset) { d.Video = clip(90_000) }, "the clips of a request would have 22118 MB"},
		"some clips": {func(d *Dataset) { d.Video = clip(1_000) }, ""},
	} {
		r := Default()
		r.Models.Items, r.Phases[0].Requests = []Model{{Name: "m"}}, n(10)
		c.change(r.Dataset())
		err := r.Validate()
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// clip returns clips of 64 x 64 pixels, 5 s at 4 frames/s.
func clip(batch int) *Video {
	side := 64
	return &Video{BatchSize: batch, Width: &side, Height: &side, Duration: 5, FPS: 4, Format: "webm", Codec: "libvpx-vp9", SynthType: "noise"}
}
