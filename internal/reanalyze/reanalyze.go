// Package reanalyze makes the report of a run again from its raw export, without a server: the same pipeline, metrics and writers as a
// live run, fed from a file.
package reanalyze

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"aiperf/internal/artifact"
	"aiperf/internal/endpoint"
	"aiperf/internal/metric"
	"aiperf/internal/pipeline"
	"aiperf/internal/record"
)

// Options say what to read, how to count and where to write.
type Options struct {
	Input  string // a raw export, or the directory of a run
	Dir    string // artifact directory of the report
	Prefix string // of the file names, "" = the default names

	Endpoint      *endpoint.Endpoint // nil = what the run's own summary or the payloads tell
	Streaming     *bool              // nil = what the payloads tell
	ServerTokens  bool
	PerChunkUsage bool
	Goodput       string
	SliceSeconds  float64 // 0 = no slices
	Tokenizer     string  // "" = the run's own; the one inside the program if that is not known
	// Open finds a tokenizer by name and gives its count of tokens; not called when counts come from the server.
	Open func(name string) (func(text string) int, error)

	Version    string
	CLICommand string

	python bool // the export is the Python tool's
}

// Report reads the raw export and writes records JSONL, summary JSON and CSV, and slices. The caller prints the console.
func Report(o Options) (*metric.Run, artifact.Layout, error) {
	layout := artifact.NewLayout(o.Dir, o.Prefix)
	files, err := rawFiles(o.Input)
	if err != nil {
		return nil, layout, err
	}
	for _, f := range files {
		if same(filepath.Dir(f), o.Dir) {
			return nil, layout, fmt.Errorf("--artifact-dir %s is the directory of the raw export itself: its files would be overwritten", o.Dir)
		}
	}
	prior := readPrior(o.Input)
	if err := o.complete(files, prior); err != nil {
		return nil, layout, err
	}
	set, err := metric.NewSet(metric.Options{
		Streaming: *o.Streaming, ProducesTokens: o.Endpoint.ProducesTokens, TokenizesInput: o.Endpoint.TokenizesInput,
		ImageInput: o.Endpoint.Images, AudioInput: o.Endpoint.Audio,
		ServerTokens: o.ServerTokens, PerChunkUsage: o.PerChunkUsage, Goodput: o.Goodput, EmptyOutput: o.python,
	})
	if err != nil {
		return nil, layout, err
	}
	if !o.Endpoint.Built() {
		return nil, layout, fmt.Errorf("report: --endpoint-type %s is not built yet", o.Endpoint.Name)
	}
	codec, err := o.Endpoint.Open(endpoint.Settings{Streaming: *o.Streaming})
	if err != nil {
		return nil, layout, err
	}
	count := func(string) int { return -1 }
	if !o.ServerTokens {
		if count, err = o.Open(o.Tokenizer); err != nil {
			return nil, layout, fmt.Errorf("--tokenizer %s: %w", o.Tokenizer, err)
		}
	}
	records, err := artifact.CreateRecords(layout.Records(), false)
	if err != nil {
		return nil, layout, err
	}
	p := pipeline.New(pipeline.Options{
		Metrics: set, Count: func(_, text string) int { return count(text) }, Sinks: []pipeline.Sink{records},
		Decode: decoder(o.Endpoint, codec, endpoint.DecodeOptions{NoInput: o.ServerTokens && !o.Endpoint.Images}),
	})
	for _, f := range files {
		if err = artifact.ReadRaw(f, func(rec *record.Record) error { p.Feed(rec); return nil }); err != nil {
			break
		}
	}
	if err = errors.Join(err, p.Close()); err != nil {
		return nil, layout, err
	}
	run := o.run(p, prior)
	err = artifact.WriteReport(layout, run, "", "")
	return run, layout, err
}

// run gathers what the files and the console show.
func (o *Options) run(p *pipeline.Pipeline, prior priorSummary) *metric.Run {
	window := prior.window(p.Profiling().Span())
	run := &metric.Run{
		Version: o.Version, BenchmarkID: prior.BenchmarkID, Title: o.Endpoint.Title, InputConfig: prior.InputConfig, Info: prior.Info, Telemetry: prior.Telemetry,
		Cancelled: prior.Cancelled, IncompleteReason: prior.IncompleteReason,
		Profiling: p.Profiling().Summary(window),
	}
	if prior.Complete != nil && !*prior.Complete && run.IncompleteReason == "" {
		run.IncompleteReason = "The run was not complete."
	}
	run.Info.BenchmarkID = run.BenchmarkID
	if run.Info.CLICommand == "" {
		run.Info.CLICommand = o.CLICommand
	}
	if window.To > window.From {
		run.Start, run.End = time.Unix(0, window.From), time.Unix(0, window.To)
	}
	if w := p.Warmup().Summary(metric.Window{}); w.Valid+w.Failed > 0 {
		run.Warmup = w
	}
	if o.SliceSeconds > 0 {
		run.Slices = p.Profiling().Slices(o.SliceSeconds)
	}
	return run
}

// rawFiles finds the raw exports of the input: a file, or in a directory the default name, the one with a prefix, or the parts that an
// aborted run of the Python tool leaves.
func rawFiles(input string) ([]string, error) {
	info, err := os.Stat(input)
	if err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	if !info.IsDir() {
		return []string{input}, nil
	}
	for _, pattern := range []string{"profile_export_raw.jsonl", "*_raw.jsonl", filepath.Join("raw_records", "*.jsonl")} {
		found, err := filepath.Glob(filepath.Join(escape(input), pattern))
		if err != nil {
			return nil, fmt.Errorf("report: %w", err)
		}
		if len(found) > 1 && !strings.HasPrefix(pattern, "raw_records") {
			return nil, fmt.Errorf("report: %s holds %d raw exports (%s, …); name one of them", input, len(found), filepath.Base(found[0]))
		}
		if len(found) > 0 {
			return found, nil
		}
	}
	return nil, fmt.Errorf("report: %s holds no raw export (profile_export_raw.jsonl); run with --export-level raw to get one", input)
}

// escape takes the pattern characters of a directory name literally.
func escape(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

func same(a, b string) bool {
	x, err1 := filepath.Abs(a)
	y, err2 := filepath.Abs(b)
	return err1 == nil && err2 == nil && filepath.Clean(x) == filepath.Clean(y)
}
