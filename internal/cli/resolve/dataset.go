package resolve

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/config"
	"aiperf/internal/workload/dataset/custom"
	"aiperf/internal/workload/dataset/public"
)

// dataset fills in the source and the shape of the conversations.
func (r *resolver) dataset() {
	d := r.run.Dataset()
	if s := r.randomSeed(); s != nil {
		d.RandomSeed = s
	}
	r.systemPrompt(d)
	path, kind := r.set.Text("--input-file", d.Path), r.set.Text("--custom-dataset-type", d.Format)
	path, kind = r.genAISpelling(d, path, kind)
	name := r.setName(d)
	switch {
	case path == "" && d.Records != nil:
		r.inlineDataset(d, kind)
	case path == "" && name != "" && (!r.fromFile || d.Type == config.DatasetPublic):
		r.publicDataset(d, name)
	case path == "" && r.has("--public-dataset"):
		r.fail("%s: the dataset of %s is of type %s; a flag does not change the type", r.spelled("--public-dataset"), r.spelled("--config"), d.Type)
	case path == "" || strings.HasPrefix(path, "synthetic:"):
		r.generated(d)
	case r.fromFile && d.Type != config.DatasetFile:
		r.strayPath(d)
		return
	default:
		r.fileDataset(d, path, kind)
	}
	rankings := "datasets.main.rankings."
	if r.ranks() && d.Type == config.DatasetSynthetic {
		if d.Rankings == nil {
			d.Rankings = &config.Rankings{Passages: config.Normal(1, 0), PassageTokens: config.Normal(550, 0), QueryTokens: config.Normal(550, 0)}
		}
		r.bind(rankings)
	}
	r.bind("datasets.main.", rankings)
	r.prefixes(d)
	r.media(d)
	d.Kilohertz()
	r.marker(d)
	if d.Synthesis != nil && *d.Synthesis == config.DefaultSynthesis() {
		d.Synthesis = nil
	}
}

// strayPath refuses a file for a dataset of another type.
func (r *resolver) strayPath(d *config.Dataset) {
	if r.has("--input-file") {
		r.fail("%s: the dataset of %s is of type %s; a flag does not change the type", r.spelled("--input-file"), r.spelled("--config"), d.Type)
	} else {
		r.fail("%s is for datasets of type file, not %s", r.place(r.run.LongKey("datasets.main.path")), d.Type)
	}
}

// marker moves the cache-busting marker to where files and public datasets have it: next to their prompts.
func (r *resolver) marker(d *config.Dataset) {
	if !r.has("--cache-bust") || d.Type == config.DatasetSynthetic {
		return
	}
	d.CacheBust = &config.CacheBust{Target: d.Prompts.CacheBust.Target}
	unsaid := config.DefaultPrompts()
	unsaid.ISL = nil
	if d.Prompts.CacheBust.Target = config.CacheBustNone; reflect.DeepEqual(d.Prompts, unsaid) {
		d.Prompts = nil
	}
}

// setName returns the name of the requested public dataset, "" = none. A repository of recorded agents implies one.
func (r *resolver) setName(d *config.Dataset) string {
	name := r.set.Text("--public-dataset", d.Dataset)
	if d.HFWekaDataset = r.set.Text("--hf-weka-dataset", d.HFWekaDataset); d.HFWekaDataset != "" && name == "" {
		name = public.AnyAgents
	}
	return name
}

// generated fills in the settings of generated data.
func (r *resolver) generated(d *config.Dataset) {
	if !r.fromFile || r.has("--num-dataset-entries") || r.has("--num-sessions") {
		d.Entries = r.entries()
	}
	if r.has("--user-context-prompt-length") && len(r.given("--num-dataset-entries", "--num-sessions", "--request-count")) == 0 && !r.fromFile {
		r.note("%s: %d different contexts are generated, one for each conversation; --num-dataset-entries sets how many", r.spelled("--user-context-prompt-length"), d.Entries)
	}
	p := d.Prompts
	if p == nil {
		return // only a file can omit them, and Validate reports that
	}
	r.outputLength(&p.OSL)
	if n := r.set.Ints("--isl-block-size"); n != nil {
		p.BlockSize = int(n[0])
	}
	if r.has("--seq-dist") {
		pairs, err := parseSeqDist(r.set.Text("--seq-dist", ""))
		if err != nil {
			r.fail("%s: %v", r.spelled("--seq-dist"), err)
		}
		p.SequenceDistribution = pairs
	}
}

// systemPrompt sets the user's system message. Its file is read when the run begins, but checked now.
func (r *resolver) systemPrompt(d *config.Dataset) {
	if r.has("--system-prompt") || r.has("--system-prompt-file") {
		d.SystemPrompt, d.SystemPromptFile = r.set.Text("--system-prompt", ""), r.set.Text("--system-prompt-file", "")
	}
	if d.SystemPromptFile == "" || r.unseen(d.SystemPromptFile) {
		return
	}
	switch text, err := boundedfile.ReadAll(d.SystemPromptFile, maxSystemPrompt); {
	case err != nil:
		r.fail("%s: %v", r.spell("datasets.main.system_prompt_file"), err)
	case len(bytes.TrimSpace(text)) == 0:
		r.fail("%s %s: the file is empty", r.spell("datasets.main.system_prompt_file"), d.SystemPromptFile)
	}
}

// maxSystemPrompt is the length of the longest system prompt, in bytes.
const maxSystemPrompt = 64 << 20

// genAISpelling splits off GenAI-Perf's prefix of a file: payload: for a trace, synthetic: for generated files of rankings.
func (r *resolver) genAISpelling(d *config.Dataset, path, kind string) (file, format string) {
	switch rest, payload := strings.CutPrefix(path, "payload:"); {
	case path == "payload:" || path == "synthetic:":
		r.fail("%s: %s does not name a file; write payload:FILE or synthetic:queries,passages", r.spell("datasets.main.path"), path)
		return "", kind
	case payload:
		r.translated(r.spell("datasets.main.path")+" "+path, rest+" with --custom-dataset-type mooncake_trace")
		d.PayloadRows = true
		return rest, "mooncake_trace"
	case strings.HasPrefix(path, "synthetic:") && !r.ranks():
		r.warn("%s %s has no effect: generated files are those of rankings, and prompts of this endpoint type are generated without it", r.spell("datasets.main.path"), path)
	}
	return path, kind
}

// entries returns the number of conversations to generate.
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
	if !r.fromFile {
		d.Entries, d.Prompts = 0, nil
	}
	if r.has("--num-dataset-entries") || !r.fromFile && (r.has("--num-sessions") || r.has("--request-count")) {
		d.Entries = r.entries()
	}
	if !r.knownFormat(kind) {
		return
	}
	if r.unseen(path) {
		r.unseenDataset(d)
		return
	}
	column := r.set.Text("--input-column", d.InputColumn)
	look, err := custom.SampleFile(path, kind, column, r.spell)
	if err == nil && r.drawsTexts(look) {
		d.Format = "random_pool"
		look, err = custom.SampleFile(path, d.Format, column, r.spell)
	}
	if err != nil && look != nil {
		err = custom.AllFaults(path, look.Format.Name, custom.Options{Spell: r.spell, PayloadRows: d.PayloadRows, InputColumn: column}, err)
	}
	if look != nil && look.Format.Agents && !r.fromFile && !r.has("--num-dataset-entries") {
		d.Entries = 0 // a recording is replayed completely
	}
	r.storeSample(d, look, err)
}

// drawsTexts reports whether a recognised file of prompts is a pool of texts: GenAI-Perf's --batch-size-text with a file.
func (r *resolver) drawsTexts(look *custom.FileSample) bool {
	n := r.set.Ints("--batch-size-text")
	if !look.Recognised || look.Format.Name != "single_turn" || look.Timed || len(n) == 0 || n[0] < 2 {
		return false
	}
	r.old("--batch-size-text", fmt.Sprintf("--custom-dataset-type random_pool: %d texts are drawn from the file for each request", n[0]))
	return true
}

// manyRecords is the largest number of rows in a configuration without a warning.
const manyRecords = 500

// inlineDataset reads rows that are part of the configuration.
func (r *resolver) inlineDataset(d *config.Dataset, kind string) {
	d.Format = kind
	if r.has("--num-dataset-entries") {
		d.Entries = r.entries()
	}
	if !r.knownFormat(kind) {
		return
	}
	pools := make([]custom.Pool, len(d.Records))
	for i, p := range d.Records {
		list := r.run.LongKey("datasets.main.records")
		if p.Name != "" {
			list += "." + p.Name
		}
		pools[i] = custom.Pool{Name: p.Name, Rows: p.Rows, Where: func(i int) string { return r.place(fmt.Sprintf("%s[%d]", list, i)) }}
	}
	if n := d.Records.Count(); n > manyRecords {
		r.warn("%s holds %d rows: put them into a file, which is read faster and keeps the configuration readable", r.spell("datasets.main.records"), n)
	}
	look, err := custom.SampleRecords(pools, kind, r.spell)
	if look != nil {
		if all := custom.CheckRecords(kind, custom.Options{Spell: r.spell, Records: pools, PayloadRows: d.PayloadRows, InputColumn: r.set.Text("--input-column", d.InputColumn)}); all != nil {
			err = all
		}
	}
	r.storeSample(d, look, err)
}

// knownFormat refuses an unknown format; "" = it is detected.
func (r *resolver) knownFormat(kind string) bool {
	if kind == "" {
		return true
	}
	err := custom.CheckType(kind)
	if err != nil {
		r.fail("%s: %v", r.spell("datasets.main.format"), err)
	}
	return err == nil
}

// storeSample stores the result of the check of the rows.
func (r *resolver) storeSample(d *config.Dataset, look *custom.FileSample, err error) {
	if err != nil {
		if d.Records == nil {
			err = fmt.Errorf("%s: %w", r.spell("datasets.main.path"), err)
		}
		r.fail("%v", err)
		return
	}
	r.file = look
	if n := r.set.Ints("--isl-block-size"); n != nil {
		d.BlockSize = int(n[0])
	}
	r.outputLength(&d.OSL)
}

// publicDataset fills in a public dataset.
func (r *resolver) publicDataset(d *config.Dataset, name string) {
	d.Type, d.Dataset = config.DatasetPublic, name
	if !r.fromFile {
		d.Entries, d.Prompts = 0, nil
	}
	set := public.Find(name)
	if r.has("--num-dataset-entries") || r.has("--num-sessions") && (set == nil || !set.Agents) {
		d.Entries = r.entries()
	}
	if set == nil {
		r.fail("%s: %v", r.spell("datasets.main.dataset"), public.Check(name))
		return
	}
	r.filters(d, set)
	r.outputLength(&d.OSL)
}

// filters reads the filters of rows.
func (r *resolver) filters(d *config.Dataset, set *public.Set) {
	given := r.set.Texts("--dataset-filter")
	if given != nil {
		d.Filters = map[string]string{}
	}
	for _, f := range given {
		key, value, ok := strings.Cut(f, "=")
		if !ok || key == "" || value == "" {
			r.fail("%s: want KEY=VALUE, got %q", r.spelled("--dataset-filter"), f)
		}
		if _, twice := d.Filters[key]; twice {
			r.fail("%s: %s is given twice", r.spelled("--dataset-filter"), key)
		}
		d.Filters[key] = value
	}
	if len(d.Filters) > 0 && !set.Filters {
		r.fail("%s: %s takes no filters", r.spell("datasets.main.filters"), set.Name)
	}
}

// outputLength applies the flags of the output length to the existing value. A spread without a length has no effect.
func (r *resolver) outputLength(d **config.Distribution) {
	mean, spread := r.set.Ints("--osl"), r.set.Floats("--osl-stddev")
	if mean == nil && (spread == nil || (*d).MeanOr(0) <= 0) {
		return
	}
	n := config.Normal((*d).MeanOr(0), (*d).StddevOr0())
	if mean != nil {
		n.Mean = ptr(float64(mean[0]))
	}
	if spread != nil {
		n.Stddev = &spread[0]
	}
	*d = n
}

// media sets the number of every kind of media to one if it has a size or length and no number. Files have their own contents, of which a pool draws
// that many.
func (r *resolver) media(d *config.Dataset) {
	if d.Type != config.DatasetSynthetic {
		for flag, size := range map[string]**int{"--image-batch-size": &d.ImageBatchSize, "--audio-batch-size": &d.AudioBatchSize, "--video-batch-size": &d.VideoBatchSize} {
			if n := r.set.Ints(flag); n != nil {
				*size = ptr(int(n[0]))
			}
		}
		if !r.fromFile {
			d.Images, d.Audio, d.Video = nil, nil, nil
		}
		return
	}
	one := func(n *int, flag string, shape ...string) {
		if *n == 0 && r.set.Get(flag) == nil && len(r.given(shape...)) > 0 {
			*n = 1
		}
	}
	if i := d.Images; i != nil && len(r.given("--image-width-mean", "--image-height-mean")) > 0 {
		r.side(i.Width, "--image-width-mean")
		r.side(i.Height, "--image-height-mean")
	}
	if d.Images.Enabled() {
		one(&d.Images.BatchSize, "--image-batch-size", "--image-width-mean", "--image-height-mean")
	}
	if d.Audio.Enabled() {
		one(&d.Audio.BatchSize, "--audio-batch-size", "--audio-length-mean")
	}
	if d.Video.Enabled() {
		one(&d.Video.BatchSize, "--video-batch-size", "--video-width", "--video-height")
	}
}

// side sets the standard mean for a side of images for which only the spread is given; the flag's own default, 0, means none.
func (r *resolver) side(d *config.Distribution, mean string) {
	if d != nil && r.set.Get(mean) == nil && d.MeanOr(0) == 0 {
		d.Mean = ptr(float64(config.DefaultSide))
	}
}

func ptr[T any](v T) *T { return &v }

// poolOfGenAIPerf is GenAI-Perf's name of the flag for the number of prefixes; its prefixes have 100 tokens by default. With the other names, a pool
// without a length has no prefix, as in the Python tool.
const poolOfGenAIPerf, prefixOfGenAIPerf = "--num-prefix-prompts", 100

// prefixes sets GenAI-Perf's default length for a pool that uses its flag.
func (r *resolver) prefixes(d *config.Dataset) {
	p := d.PrefixPrompts
	if p != nil && p.PoolSize > 0 && p.Length == 0 && r.set.Get("--prefix-prompt-length") == nil && r.spelled(poolOfGenAIPerf) == poolOfGenAIPerf && r.has(poolOfGenAIPerf) {
		p.Length = prefixOfGenAIPerf
		r.old(poolOfGenAIPerf, "--prefix-prompt-pool-size with --prefix-prompt-length 100")
	}
}

// ranks reports whether the endpoint type takes a query and passages.
func (r *resolver) ranks() bool {
	return r.endpoint != nil && r.endpoint.Ranks()
}
