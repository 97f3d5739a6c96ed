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
	if s := r.set.Ints("--random-seed"); s != nil {
		d.RandomSeed = &s[0]
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
	path, kind := r.set.Text("--input-file", ""), r.set.Text("--custom-dataset-type", "")
	if rest, ok := strings.CutPrefix(path, "payload:"); ok {
		path, kind = rest, "mooncake_trace"
	}
	if path != "" && !strings.HasPrefix(path, "synthetic:") {
		r.fileDataset(d, path, kind)
		return
	}
	d.Entries = r.entries()
	r.prompts(d)
	r.turns(d)
	r.rankings(d)
}

// systemPrompt takes the user's own system message. Its file is read when the run begins, and looked into now.
func (r *resolver) systemPrompt(d *config.Dataset) {
	d.SystemPrompt, d.SystemPromptFile = r.set.Text("--system-prompt", ""), r.set.Text("--system-prompt-file", "")
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
	d.Type, d.Path, d.Format, d.Entries, d.Prompts = config.DatasetFile, path, kind, 0, nil
	if r.has("--num-dataset-entries") || r.has("--num-sessions") || r.has("--request-count") {
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
	if osl := r.osl(); osl != nil {
		d.OSL = osl
	}
	d.Synthesis = r.synthesis()
}

// synthesis is what is changed in recorded traffic, nil when nothing is.
func (r *resolver) synthesis() *config.Synthesis {
	s := config.DefaultSynthesis()
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
	s.MaxISL, s.MaxOSL = first(r.set.Ints("--synthesis-max-isl")), first(r.set.Ints("--synthesis-max-osl"))
	if s == config.DefaultSynthesis() {
		return nil
	}
	return &s
}

func (r *resolver) prompts(d *config.Dataset) {
	p := d.Prompts
	if n := r.set.Ints("--isl"); n != nil {
		*p.ISL.Mean = float64(n[0])
	}
	if f := r.set.Floats("--isl-stddev"); f != nil {
		*p.ISL.Stddev = f[0]
	}
	p.OSL = r.osl()
	if n := r.set.Ints("--isl-block-size"); n != nil {
		p.BlockSize = int(n[0])
	}
	if n := r.set.Ints("--batch-size-text"); n != nil {
		p.BatchSize = int(n[0])
	}
	p.Corpus = r.set.Text("--prompt-corpus", "")
	if r.has("--seq-dist") {
		pairs, err := parseSeqDist(r.set.Text("--seq-dist", ""))
		if err != nil {
			r.fail("%s: %v", r.as("--seq-dist"), err)
		}
		p.SequenceDistribution = pairs
	}
}

// osl is the requested output length, nil when none is asked for.
func (r *resolver) osl() *config.Distribution {
	mean := r.set.Ints("--osl")
	if mean == nil {
		return nil
	}
	osl := config.Normal(float64(mean[0]), 0)
	if f := r.set.Floats("--osl-stddev"); f != nil {
		*osl.Stddev = f[0]
	}
	return osl
}

// prefixes fills the text in front of prompts; GenAI-Perf's pool without a length has prefixes of 100 tokens.
func (r *resolver) prefixes(d *config.Dataset) {
	p := config.PrefixPrompts{}
	for flag, field := range map[string]*int{
		"--num-prefix-prompts": &p.PoolSize, "--prefix-prompt-length": &p.Length,
		"--shared-system-prompt-length": &p.SharedSystemLength, "--user-context-prompt-length": &p.UserContextLength,
	} {
		if n := r.set.Ints(flag); n != nil {
			*field = int(n[0])
		}
	}
	if p.PoolSize > 0 && r.set.Get("--prefix-prompt-length") == nil {
		p.Length = 100
	}
	if p != (config.PrefixPrompts{}) {
		d.PrefixPrompts = &p
	}
}

func (r *resolver) turns(d *config.Dataset) {
	if r.has("--session-turns-mean") || r.has("--session-turns-stddev") {
		d.Turns = config.Normal(1, 0)
		if n := r.set.Ints("--session-turns-mean"); n != nil {
			*d.Turns.Mean = float64(n[0])
		}
		if n := r.set.Ints("--session-turns-stddev"); n != nil {
			*d.Turns.Stddev = float64(n[0])
		}
	}
	if r.has("--session-turn-delay-mean") || r.has("--session-turn-delay-stddev") {
		d.TurnDelay = config.Normal(0, 0)
		if f := r.set.Floats("--session-turn-delay-mean"); f != nil {
			*d.TurnDelay.Mean = f[0]
		}
		if f := r.set.Floats("--session-turn-delay-stddev"); f != nil {
			*d.TurnDelay.Stddev = f[0]
		}
	}
}

// rankings fills queries and passages for the types that rank.
func (r *resolver) rankings(d *config.Dataset) {
	if !r.ranks() {
		return
	}
	d.Rankings = &config.Rankings{
		Passages:      r.normal("--rankings-passages", 1),
		PassageTokens: r.normal("--rankings-passages-prompt-token", 550),
		QueryTokens:   r.normal("--rankings-query-prompt-token", 550),
	}
}

// ranks reports whether the endpoint type takes a query and passages.
func (r *resolver) ranks() bool {
	return r.endpoint != nil && strings.HasSuffix(r.endpoint.Name, "_rankings")
}

// normal reads a pair of integer flags that end in -mean and -stddev.
func (r *resolver) normal(stem string, mean float64) *config.Distribution {
	n := config.Normal(mean, 0)
	if v := r.set.Ints(stem + "-mean"); v != nil {
		*n.Mean = float64(v[0])
	}
	if v := r.set.Ints(stem + "-stddev"); v != nil {
		*n.Stddev = float64(v[0])
	}
	return n
}
