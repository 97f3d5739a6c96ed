// Package inputs opens what a run sends: its dataset, prompts and media, prepared for the endpoint. It also writes inputs.json, which lists them.
package inputs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/base/plugin/program"
	"aiperf/internal/base/rng"
	"aiperf/internal/config"
	"aiperf/internal/run/message"
	"aiperf/internal/run/results"
	"aiperf/internal/text/tokenizer"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/custom"
	"aiperf/internal/workload/dataset/public"
	"aiperf/internal/workload/dataset/synth"
	"aiperf/internal/workload/dataset/trace"
)

// OpenDataset opens the dataset of a run. agent is the user agent for downloading media. tok is called only if prompts must be generated.
func OpenDataset(ctx context.Context, agent string, b *config.Benchmark, e *endpoint.Endpoint, root *rng.Root, tok func() (*tokenizer.Tokenizer, error),
	say *message.Reporter) (dataset.Dataset, error) {
	d := b.Dataset()
	system, err := systemPrompt(b, d)
	if err != nil {
		return nil, err
	}
	if system != "" && !e.SystemMessage {
		return nil, fmt.Errorf("%s: endpoint type %s takes no system messages", b.As("datasets.main.system_prompt"), e.Name)
	}
	around := synth.Context{System: system}
	if p := d.PrefixPrompts; p != nil {
		around.PrefixLength, around.PrefixPool = p.Length, p.PoolSize
		around.SharedSystem, around.User = p.SharedSystemLength, p.UserContextLength
	}
	assignment := dataset.Assignment{Models: b.Models.Asked(), Strategy: string(b.Models.Strategy), Weights: b.Models.Weights(), OSL: outputLength(d)}
	switch d.Type {
	case config.DatasetSynthetic:
		return openSynthetic(ctx, b, d, e, root, around, assignment, tok)
	case config.DatasetFile:
		o := fileOptions(ctx, agent, b, d, e, root, around, assignment, tok)
		if say != nil {
			reading, done := say.Reading(d.Path)
			defer done()
			o.Reading, o.Programs = reading, program.Under(ctx, func(line string) { say.Log.Info(line) })
		}
		return custom.Open(d.Path, o)
	case config.DatasetPublic:
		o := public.Options{Options: fileOptions(ctx, agent, b, d, e, root, around, assignment, tok), Count: counter(tok)}
		return openPublic(ctx, b, d, o, say)
	}
	return nil, fmt.Errorf("datasets of type %s are not built yet", d.Type)
}

// RandomRoot returns the random source of a dataset: its own if it has a seed, else that of the run.
func RandomRoot(b *config.Benchmark, root *rng.Root) *rng.Root {
	if seed := b.Dataset().RandomSeed; seed != nil {
		return rng.NewDecimal(string(*seed))
	}
	return root
}

// maxSystemPrompt is the length of the longest system prompt, in bytes.
const maxSystemPrompt = 64 << 20

// systemPrompt returns the user's system message: the text itself, or the content of the file.
func systemPrompt(b *config.Benchmark, d *config.Dataset) (string, error) {
	if d.SystemPromptFile == "" {
		return d.SystemPrompt, nil
	}
	text, err := boundedfile.ReadAll(d.SystemPromptFile, maxSystemPrompt)
	if err != nil {
		return "", fmt.Errorf("%s: %w", b.As("datasets.main.system_prompt_file"), err)
	}
	if strings.TrimSpace(string(text)) == "" {
		return "", fmt.Errorf("%s %s: is empty", b.As("datasets.main.system_prompt_file"), d.SystemPromptFile)
	}
	return string(text), nil
}

// outputLength returns the distribution of requested output lengths; nil if the settings name none.
func outputLength(d *config.Dataset) *dataset.Distribution {
	osl := d.OSL
	if d.Prompts != nil && d.Prompts.OSL != nil {
		osl = d.Prompts.OSL
	}
	if osl == nil {
		return nil
	}
	l := distribution(osl)
	return &l
}

// distribution truncates means and deviations to whole numbers, as the specification demands. The parameters of a shape are not truncated.
func distribution(d *config.Distribution) dataset.Distribution {
	out := dataset.Distribution{Mean: int(d.MeanOr(0)), StdDev: int(d.StddevOr0()), Shape: shape(d)}
	if out.Shape != nil && d.MeanOr(0) > 0 {
		out.Mean = max(1, out.Mean)
	}
	return out
}

// shape returns the parameters of a distribution besides mean and deviation; nil if there are none.
func shape(d *config.Distribution) *dataset.Shape {
	if !d.Shaped() {
		return nil
	}
	s := shapeOf(d)
	return &s
}

func shapeOf(d *config.Distribution) dataset.Shape {
	s := dataset.Shape{Mean: d.MeanOr(0), Median: config.Value(d.Median), StdDev: d.StddevOr0(), Min: d.Min, Max: d.Max}
	for _, p := range d.Peaks {
		s.Peaks = append(s.Peaks, dataset.Peak{Shape: shapeOf(&p.Distribution), Weight: p.Weight})
	}
	for _, p := range d.Points {
		s.Points = append(s.Points, dataset.Point(p))
	}
	return s
}

func openSynthetic(ctx context.Context, b *config.Benchmark, d *config.Dataset, e *endpoint.Endpoint, root *rng.Root, around synth.Context,
	assignment dataset.Assignment, open func() (*tokenizer.Tokenizer, error)) (dataset.Dataset, error) {
	maker, err := openMedia(ctx, b, d, e, root)
	if err != nil {
		return nil, err
	}
	o := synth.Options{
		Spell: b.As, Root: root, Entries: d.Entries, Turns: distribution(d.Turns), Delay: turnDelay(d), DelayRatio: d.TurnDelayRatio,
		Context: around, Assignment: assignment, Media: maker,
	}
	if !e.TokenizesInput && !e.ProducesTokens && maker.Count() > 0 { // no text is sent
		o.Context.PrefixLength, o.Context.SharedSystem, o.Context.User = 0, 0, 0
		return synth.New(o)
	}
	tok, err := open()
	if err != nil {
		return nil, err
	}
	o.Special = tok.NumSpecialAdded()
	if cost := markerCost(d.CacheBustTarget(), tok.Count); inSystemMessage(d.CacheBustTarget()) && (around.System != "" || around.SharedSystem > 0) {
		if around.SharedSystem > 0 {
			o.Context.SharedSystem = max(1, around.SharedSystem-cost)
		}
	} else {
		o.FirstTurnCost, o.CostLast = cost, afterText(d.CacheBustTarget())
	}
	if b.Tokenizer.ApplyChatTemplate && e.SystemMessage {
		o.Template = results.TemplateCost(tok)
	}
	if d.Prompts != nil {
		if err := promptLengths(&o, b, d.Prompts); err != nil {
			return nil, err
		}
	}
	if d.Prompts != nil && d.Prompts.Corpus == "random" {
		o.Random = &synth.Random{Tokenizer: tok, Vocabulary: vocabulary(tok, synth.Style(d.Prompts.RandomCorpusStyle))}
	} else if o.Corpus, err = corpusFor(tok, d.Prompts, root); err != nil {
		return nil, err
	}
	if d.Rankings != nil && e.Ranks() {
		o.Rankings = &synth.Rankings{Passages: distribution(d.Rankings.Passages), PassageTokens: distribution(d.Rankings.PassageTokens), QueryTokens: distribution(d.Rankings.QueryTokens)}
	}
	return synth.New(o)
}

// promptLengths sets the lengths of prompts and answers.
func promptLengths(o *synth.Options, b *config.Benchmark, p *config.Prompts) error {
	o.ISL, o.Batch = distribution(p.ISL), p.BatchSize
	for _, s := range p.SequenceDistribution {
		o.Pairs = append(o.Pairs, synth.Pair{
			ISL: int(s.ISL.MeanOr(0)), ISLDev: s.ISL.StddevOr0(),
			OSL: int(s.OSL.MeanOr(0)), OSLDev: s.OSL.StddevOr0(),
			Percent: s.Probability,
		})
	}
	if p.RandomRangeRatio == "" {
		return nil
	}
	ratio, err := synth.ParseRatio(p.RandomRangeRatio, synth.Style(p.RandomCorpusStyle))
	if err != nil {
		return fmt.Errorf("%s: %w", b.As("datasets.main.prompts.random_range_ratio"), err)
	}
	window := ratio.Window(o.ISL.Mean, int(p.OSL.MeanOr(0)), o.Special)
	o.Window = &window
	return nil
}

// turnDelay returns the distribution of the pauses before turns in ms; nil if there are none. Half a millisecond is truncated to a distribution of 0,
// whose draws are at least 1.
func turnDelay(d *config.Dataset) *dataset.Distribution {
	if d.TurnDelay.MeanOr(0) <= 0 {
		return nil
	}
	l := distribution(d.TurnDelay)
	return &l
}

// vocabulary lists the token ids that random prompts consist of. The style of vLLM leaves out special tokens, that of SGLang does not.
func vocabulary(tok *tokenizer.Tokenizer, style synth.Style) synth.Vocabulary {
	v := synth.Vocabulary{Size: tok.VocabSize()}
	for id := range int32(v.Size) {
		if !tok.Known(id) {
			continue
		}
		v.All = append(v.All, id)
		if style == synth.SGLang || !tok.IsSpecial(id) {
			v.Allowed = append(v.Allowed, id)
		}
	}
	return v
}

// corpusFor tokenizes the prompt corpus. The chunk lengths of the collected works are known for the built-in tokenizer, so it starts without a delay.
func corpusFor(tok *tokenizer.Tokenizer, p *config.Prompts, root *rng.Root) (*synth.Corpus, error) {
	if p != nil && p.Corpus == "coding" {
		return synth.NewCodingCorpus(tok, root)
	}
	if tok.Name() == tokenizer.BuiltinName {
		return synth.NewO200kCorpus(tok)
	}
	return synth.NewCorpus(tok)
}

// fileOptions returns the options for data that come from a file or a published set.
func fileOptions(ctx context.Context, agent string, b *config.Benchmark, d *config.Dataset, e *endpoint.Endpoint, root *rng.Root, around synth.Context, assignment dataset.Assignment,
	open func() (*tokenizer.Tokenizer, error)) custom.Options {
	var tok *tokenizer.Tokenizer
	o := custom.Options{
		Spell: b.As, Root: root, Type: d.Format, InputColumn: d.InputColumn, Entries: d.Entries, Assignment: assignment, DelayRatio: d.TurnDelayRatio,
		HoistSystem: e.SystemMessage, StripKnown: b.Endpoint.UUIDAndStrip,
		Context: around, BlockSize: d.BlockSize, Programs: program.Under(ctx, nil),
		Corpus: func(standard string) (*synth.Corpus, error) {
			var err error
			if tok, err = open(); err != nil {
				return nil, err
			}
			prompts := config.Prompts{Corpus: standard}
			if d.Prompts != nil && d.Prompts.Corpus != "" {
				prompts.Corpus = d.Prompts.Corpus
			}
			return corpusFor(tok, &prompts, root)
		},
		Separator: func() *int32 { return separator(tok) },
	}
	if target := d.CacheBustTarget(); target != config.CacheBustNone && !WarmupOnly(target) {
		o.Marker = sync.OnceValues(func() (system, text int) {
			words, err := open()
			switch {
			case err != nil: // the function that makes the text reports this error
				return 0, 0
			case inSystemMessage(target) && (around.System != "" || around.SharedSystem > 0):
				return markerCost(target, words.Count), 0
			}
			return 0, markerCost(target, words.Count)
		})
	}
	if e.InlineMedia {
		o.Fetch = fetcher(ctx, agent, b)
	}
	o.Batches, o.PayloadRows, o.Early, o.Scheduled, o.Together = batches(d), d.PayloadRows, inOrder(b, d), scheduled(b), together(b)
	for _, p := range d.Records {
		o.Records = append(o.Records, custom.Pool{Name: p.Name, Rows: p.Rows})
	}
	if d.InterTurnDelayCap != nil && d.TraceIdleGapCap == nil {
		ms := float64(*d.InterTurnDelayCap) * 1000
		o.DelayCap = &ms
	}
	o.Agents, o.Join, o.Columnar, o.MaxContext = AgentOptions(b, d), JoinOptions(b), ColumnOptions(b, d), config.Value(d.MaxContextLength)
	if p := b.Profiling(); p != nil && p.Type == config.PhaseFixedSchedule {
		o.Limits.Start, o.Limits.End = milliseconds(p.StartOffset), milliseconds(p.EndOffset)
	}
	if s := d.Synthesis; s != nil {
		o.Limits.MaxISL, o.Limits.MaxOSL = config.Value(s.MaxISL), config.Value(s.MaxOSL)
		o.Synthesis = &trace.Synthesis{
			Speedup: s.SpeedupRatio, PrefixLen: s.PrefixLenMultiplier, PrefixRoot: s.PrefixRootMultiplier, PromptLen: s.PromptLenMultiplier,
			OutputLen: s.OutputLenMultiplier, MaxISL: config.Value(s.MaxISL), MaxOSL: config.Value(s.MaxOSL),
		}
	}
	return o
}

// inOrder reports whether conversations are used once each, in the order of the data or of their times. A replay must know their number.
func inOrder(b *config.Benchmark, d *config.Dataset) bool {
	replays := slices.ContainsFunc(b.Phases, func(p config.Phase) bool { return p.Replays() })
	return !replays && !hasPhase(b, config.PhaseUserCentric) && (d.Sampling == config.SampleSequential || d.Sampling == "")
}

// together returns the largest number of conversations that a phase starts at once.
func together(b *config.Benchmark) int {
	most := 1
	for i := range b.Phases {
		most = max(most, config.Value(b.Phases[i].Concurrency))
	}
	return most
}

// scheduled reports whether conversations start at their own times.
func scheduled(b *config.Benchmark) bool { return hasPhase(b, config.PhaseFixedSchedule) }

func hasPhase(b *config.Benchmark, kind config.PhaseType) bool {
	return slices.ContainsFunc(b.Phases, func(p config.Phase) bool { return p.Type == kind })
}

// batches returns, for each kind of content, how many items a turn draws from a pool.
func batches(d *config.Dataset) map[conversation.Kind]int {
	sizes := map[conversation.Kind]int{}
	if d.Prompts != nil {
		sizes[conversation.Text] = d.Prompts.BatchSize
	}
	if d.Images != nil {
		sizes[conversation.Image] = d.Images.BatchSize
	}
	if d.Audio != nil {
		sizes[conversation.Audio] = d.Audio.BatchSize
	}
	if d.Video != nil {
		sizes[conversation.Video] = d.Video.BatchSize
	}
	for kind, own := range map[conversation.Kind]*int{
		conversation.Text: d.PromptBatchSize, conversation.Image: d.ImageBatchSize, conversation.Audio: d.AudioBatchSize, conversation.Video: d.VideoBatchSize,
	} {
		if own != nil {
			sizes[kind] = *own
		}
	}
	return sizes
}

// separator returns the token that separates neighbouring blocks of hash ids: the tokenizer's beginning-of-text token, else its end-of-text token.
func separator(tok *tokenizer.Tokenizer) *int32 {
	if id, ok := tok.BOS(); ok {
		return &id
	}
	if id, ok := tok.EOS(); ok {
		return &id
	}
	return nil
}

func milliseconds(v *int64) *float64 {
	if v == nil {
		return nil
	}
	f := float64(*v)
	return &f
}
