package cli

import (
	"bytes"
	"os"
	"slices"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/dataset/custom"
)

// dataset fills where conversations come from and what they look like.
func (r *resolver) dataset() {
	d := r.run.Dataset()
	if s := r.randomSeed(); s != nil {
		d.RandomSeed = s
	}
	d.Sampling = config.Sampling(r.set.Text("--dataset-sampling-strategy", string(d.Sampling)))
	if f := r.set.Floats("--session-delay-ratio"); f != nil {
		d.TurnDelayRatio = f[0]
	}
	if f := r.set.Floats("--inter-turn-delay-cap-seconds"); f != nil {
		limit := config.Seconds(f[0])
		d.InterTurnDelayCap = &limit
	}
	r.systemPrompt(d)
	r.prefixes(d)
	path, kind := r.set.Text("--input-file", d.Path), r.set.Text("--custom-dataset-type", d.Format)
	if rest, ok := strings.CutPrefix(path, "payload:"); ok {
		path, kind = rest, "mooncake_trace"
	}
	if path != "" && !strings.HasPrefix(path, "synthetic:") {
		if r.over && d.Type != config.DatasetFile {
			r.fail("%s: the dataset of %s is of type %s; a flag does not change the type", r.as("--input-file"), r.as("--config"), d.Type)
			return
		}
		r.fileDataset(d, path, kind)
		return
	}
	if !r.over || r.has("--num-dataset-entries") {
		d.Entries = r.entries()
	}
	r.prompts(d)
	r.turns(d)
	r.rankings(d)
}

// systemPrompt takes the user's own system message. Its file is read when the run begins, and looked into now.
func (r *resolver) systemPrompt(d *config.Dataset) {
	if r.has("--system-prompt") || r.has("--system-prompt-file") {
		d.SystemPrompt, d.SystemPromptFile = r.set.Text("--system-prompt", ""), r.set.Text("--system-prompt-file", "")
	}
	if d.SystemPromptFile == "" {
		return
	}
	switch text, err := os.ReadFile(d.SystemPromptFile); {
	case err != nil:
		r.fail("%s: %v", r.as("--system-prompt-file"), err)
	case len(bytes.TrimSpace(text)) == 0:
		r.fail("%s %s: the file is empty", r.as("--system-prompt-file"), d.SystemPromptFile)
	}
}

// entries is the number of conversations to generate.
func (r *resolver) entries() int {
	for _, flag := range []string{"--num-dataset-entries", "--num-sessions", "--request-count"} {
		if n := r.set.Ints(flag); n != nil {
			return int(slices.Max(n))
		}
	}
	return r.run.Dataset().Entries
}

func (r *resolver) fileDataset(d *config.Dataset, path, kind string) {
	d.Type, d.Path, d.Format = config.DatasetFile, path, kind
	if !r.over {
		d.Entries, d.Prompts = 0, nil
	}
	if r.has("--num-dataset-entries") || !r.over && (r.has("--num-sessions") || r.has("--request-count")) {
		d.Entries = r.entries()
	}
	look, err := custom.LookInto(path, kind)
	switch {
	case err != nil:
		r.fail("%s: %v", r.as("--input-file"), err)
		return
	case !look.Format.Built() && kind != "":
		r.fail("%s %s: not built yet; built are %s", r.as("--custom-dataset-type"), kind, strings.Join(builtFileTypes(), ", "))
		return
	case !look.Format.Built():
		r.fail("%s %s is a %s file: not built yet; built are %s", r.as("--input-file"), path, look.Format.Name, strings.Join(builtFileTypes(), ", "))
	}
	r.file = look
	if n := r.set.Ints("--isl-block-size"); n != nil {
		d.BlockSize = int(n[0])
	}
	r.outputLength(&d.OSL)
	d.Synthesis = r.synthesis(d.Synthesis)
}

// synthesis is what is changed in recorded traffic beside what was changed before, nil when nothing is.
func (r *resolver) synthesis(before *config.Synthesis) *config.Synthesis {
	s := config.DefaultSynthesis()
	if before != nil {
		s = *before
	}
	for flag, field := range map[string]*float64{
		"--synthesis-speedup-ratio": &s.SpeedupRatio, "--synthesis-prefix-len-multiplier": &s.PrefixLenMultiplier,
		"--synthesis-prompt-len-multiplier": &s.PromptLenMultiplier, "--synthesis-output-len-multiplier": &s.OutputLenMultiplier,
	} {
		if f := r.set.Floats(flag); f != nil {
			*field = f[0]
		}
	}
	if n := r.set.Ints("--synthesis-prefix-root-multiplier"); n != nil {
		s.PrefixRootMultiplier = int(n[0])
	}
	setFirst(&s.MaxISL, r.set.Ints("--synthesis-max-isl"))
	setFirst(&s.MaxOSL, r.set.Ints("--synthesis-max-osl"))
	if s == config.DefaultSynthesis() {
		return nil
	}
	return &s
}

func (r *resolver) prompts(d *config.Dataset) {
	p := d.Prompts
	if p == nil {
		return // only a file can lack them, and Validate says so
	}
	r.normal("--isl", &p.ISL, 550)
	r.outputLength(&p.OSL)
	if n := r.set.Ints("--isl-block-size"); n != nil {
		p.BlockSize = int(n[0])
	}
	if n := r.set.Ints("--batch-size-text"); n != nil {
		p.BatchSize = int(n[0])
	}
	p.Corpus = r.set.Text("--prompt-corpus", p.Corpus)
	if r.has("--seq-dist") {
		pairs, err := parseSeqDist(r.set.Text("--seq-dist", ""))
		if err != nil {
			r.fail("%s: %v", r.as("--seq-dist"), err)
		}
		p.SequenceDistribution = pairs
	}
}

// outputLength puts the flags of the output length over what was there before. A spread without a length asks for nothing.
func (r *resolver) outputLength(d **config.Distribution) {
	if r.has("--osl") || (*d).MeanOr(0) > 0 {
		r.normal("--osl", d, 0)
	}
}

// poolOfGenAIPerf is that program's name of the flag for the number of prefixes; its prefixes have 100 tokens where no length is given.
// Under the other names a pool without a length is no prefix at all, as in the Python tool.
const poolOfGenAIPerf, prefixOfGenAIPerf = "--num-prefix-prompts", 100

// prefixes fills the text in front of prompts.
func (r *resolver) prefixes(d *config.Dataset) {
	p := config.PrefixPrompts{}
	if d.PrefixPrompts != nil {
		p = *d.PrefixPrompts
	}
	for flag, field := range map[string]*int{
		"--num-prefix-prompts": &p.PoolSize, "--prefix-prompt-length": &p.Length,
		"--shared-system-prompt-length": &p.SharedSystemLength, "--user-context-prompt-length": &p.UserContextLength,
	} {
		if n := r.set.Ints(flag); n != nil {
			*field = int(n[0])
		}
	}
	if p.PoolSize > 0 && p.Length == 0 && r.set.Get("--prefix-prompt-length") == nil && r.as(poolOfGenAIPerf) == poolOfGenAIPerf && r.has(poolOfGenAIPerf) {
		p.Length = prefixOfGenAIPerf
	}
	if p != (config.PrefixPrompts{}) {
		d.PrefixPrompts = &p
	}
}

func (r *resolver) turns(d *config.Dataset) {
	r.normal("--session-turns", &d.Turns, 1)
	r.normal("--session-turn-delay", &d.TurnDelay, 0)
}

// rankings fills queries and passages for the types that rank.
func (r *resolver) rankings(d *config.Dataset) {
	if !r.ranks() {
		return
	}
	if d.Rankings == nil {
		d.Rankings = &config.Rankings{Passages: config.Normal(1, 0), PassageTokens: config.Normal(550, 0), QueryTokens: config.Normal(550, 0)}
	}
	r.normal("--rankings-passages", &d.Rankings.Passages, 1)
	r.normal("--rankings-passages-prompt-token", &d.Rankings.PassageTokens, 550)
	r.normal("--rankings-query-prompt-token", &d.Rankings.QueryTokens, 550)
}

// ranks reports whether the endpoint type takes a query and passages.
func (r *resolver) ranks() bool {
	return r.endpoint != nil && strings.HasSuffix(r.endpoint.Name, "_rankings")
}

// normal puts the flags of a mean (STEM-mean, or STEM alone) and of a deviation (STEM-stddev) over a distribution; when neither is given
// it stays as it is.
func (r *resolver) normal(stem string, d **config.Distribution, mean float64) {
	given := func(flags ...string) *float64 {
		for _, flag := range flags {
			if n := r.set.Ints(flag); n != nil {
				f := float64(n[0])
				return &f
			}
			if f := r.set.Floats(flag); f != nil {
				return &f[0]
			}
		}
		return nil
	}
	m, s := given(stem+"-mean", stem), given(stem+"-stddev")
	if m == nil && s == nil {
		return
	}
	n := config.Normal((*d).MeanOr(mean), (*d).StddevOr0())
	if m != nil {
		n.Mean = m
	}
	if s != nil {
		n.Stddev = s
	}
	*d = n
}
