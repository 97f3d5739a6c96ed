package rereport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"

	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/pipeline"
	"aiperf/internal/measure/record"
	"aiperf/internal/report/artifact"
	"aiperf/internal/run/results"
	"aiperf/internal/wire/endpoint"
)

// MergeOptions selects the runs to merge and where the result goes.
type MergeOptions struct {
	Dirs       []string // of the runs
	Out        string   // artifact directory
	Prefix     string   // of the file names
	Force      bool     // merge runs of different work too
	Info       func(format string, args ...any)
	Version    string
	CLICommand string
}

// DifferentWorkError is returned for runs of different work, unless Force is set.
type DifferentWorkError struct{ why string }

func (e *DifferentWorkError) Error() string { return e.why }

// member is one of the runs to merge.
type member interface {
	settings() (*config.Benchmark, error)
	each(visit func(*record.Record) error) error
	gpus() *metric.GPUTelemetry
	load() string
	id() string                        // "" = not known
	ended() (cancelled, complete bool) // complete is true if nothing is known
}

// part is a member with its name.
type part struct {
	member
	name     string
	settings *config.Benchmark
}

// closeTogether is the smallest overlap, as a share of the total time, at which runs count as one run of several clients.
const closeTogether = 0.9

// Merge pools the requests of runs that ran concurrently on several machines, or one after the other. If the runs overlap, rates are computed over
// their common window; otherwise they are the sums of the runs' rates.
func Merge(ctx context.Context, o MergeOptions) (*Result, error) {
	parts, err := o.open()
	if err != nil {
		return nil, err
	}
	if err := alike(parts); err != nil && !o.Force {
		return nil, &DifferentWorkError{err.Error()}
	}
	cfg := parts[0].settings
	cfg.Artifacts.Prefix, cfg.Artifacts.Records, cfg.Artifacts.SliceDuration = o.Prefix, config.Formats{"jsonl"}, nil
	e, notice, err := endpoint.Lookup(cfg.Endpoint.Type)
	if err != nil {
		return nil, err
	}
	if notice != "" && o.Info != nil {
		o.Info("%s", notice)
	}
	cfg.Endpoint.Type = e.Name
	r := &Result{Layout: artifact.NewLayout(o.Out, o.Prefix), Config: cfg}
	release, err := artifact.Claim(o.Out)
	if err != nil {
		return nil, fmt.Errorf("%s %w", cfg.As("artifacts.dir"), err)
	}
	defer release()
	if _, err := r.Layout.Clear(func(string) bool { return false }); err != nil {
		return nil, err
	}
	return r, o.pool(ctx, r, parts, e)
}

// pool merges the requests into the result.
func (o *MergeOptions) pool(ctx context.Context, r *Result, parts []part, e *endpoint.Endpoint) error {
	cfg := r.Config
	choice := results.MetricOptions(cfg, e)
	_, choice.WholeITL = parts[0].member.(*oldRun)
	set, err := metric.NewSelection(choice)
	if err != nil {
		return err
	}
	codec, err := e.Codec(endpoint.Settings{Streaming: choice.Streaming, ReadOnly: true})
	if err != nil {
		return err
	}
	end, err := endpoint.Start(ctx, codec, nil)
	if err != nil {
		return err
	}
	defer func() { _ = end() }() // a fault was the error of every request that met it
	reducers := make([]*metric.Reducer, len(parts))
	for k := range parts {
		reducers[k] = set.NewReducer()
	}
	var prior priorSummary
	prior.complete()
	a, err := results.New(results.Options{
		Config: cfg, Endpoint: e, Codec: codec, Metrics: set, Layout: r.Layout, BenchmarkID: prior.BenchmarkID,
		Observers: []pipeline.Observer{perRunReducer{reducers}},
		Tokenizers: func() (*results.Tokenizers, error) {
			return results.OpenTokenizers(ctx, cfg, slog.New(slog.DiscardHandler), o.Info, nil)
		},
	})
	if err != nil {
		return err
	}
	for k := range parts {
		err = errors.Join(err, parts[k].each(func(rec *record.Record) error {
			if rec.Warmup {
				return nil
			}
			rec.PhaseIndex, rec.ProfilingIndex, rec.PhaseName = k, k, parts[k].name
			a.Feed(rec)
			return ctx.Err()
		}))
	}
	if err = errors.Join(err, a.Close()); err != nil {
		return err
	}
	sums := make([]*metric.Summary, len(parts))
	for k, reducer := range reducers {
		sums[k] = reducer.Summary(metric.Window{})
		o.warnOf(&parts[k], sums[k])
	}
	settings, err := (&config.Run{SchemaVersion: config.SchemaVersion, Benchmark: *cfg}).InputConfig()
	if err != nil {
		return err
	}
	how := results.Outcome{
		Version: o.Version, Info: metric.RunInfo{CLICommand: o.CLICommand}, InputConfig: settings, GPU: gpusOf(parts),
	}
	how.Cancelled, how.IncompleteReason = endOf(parts)
	r.Run = a.Run(how)
	return errors.Join(o.headline(r, parts, sums), a.Write(r.Run, how))
}

// perRunReducer reduces the requests of every run separately.
type perRunReducer struct{ runs []*metric.Reducer }

// Observe implements pipeline.Observer.
func (b perRunReducer) Observe(row *metric.Row) { b.runs[row.Meta.PhaseIndex].Add(row) }

// mergeManifest is the file that lists the merged runs and which rates are reported.
type mergeManifest struct {
	SchemaVersion string      `json:"schema_version"`
	Overlap       float64     `json:"overlap"`  // share of the total time that all runs have in common
	Headline      string      `json:"headline"` // sum, window
	Sum           float64     `json:"request_throughput_sum"`
	Window        float64     `json:"request_throughput_window"`
	Runs          []mergedRun `json:"runs"`
}

type mergedRun struct {
	Name       string  `json:"name"`
	Start      int64   `json:"start_ns"`
	End        int64   `json:"end_ns"`
	Valid      int64   `json:"valid"`
	Failed     int64   `json:"failed"`
	Cancelled  int64   `json:"cancelled"`
	Throughput float64 `json:"request_throughput"`
}

// headline chooses the rates to report and writes merged.json.
func (o *MergeOptions) headline(r *Result, parts []part, sums []*metric.Summary) error {
	first, last := sums[0].Span, sums[0].Span
	m := mergeManifest{SchemaVersion: "1.0", Headline: "sum"}
	for k, s := range sums {
		first.From, last.From = min(first.From, s.Span.From), max(last.From, s.Span.From)
		first.To, last.To = max(first.To, s.Span.To), min(last.To, s.Span.To)
		rate := throughput(s)
		m.Runs = append(m.Runs, mergedRun{parts[k].name, s.Span.From, s.Span.To, s.Valid, s.Failed, s.Cut, rate})
		m.Sum += rate
	}
	if whole := first.To - first.From; whole > 0 {
		m.Overlap = max(0, float64(last.To-last.From)/float64(whole))
	}
	m.Window = throughput(r.Run.Profiling)
	if m.Overlap >= closeTogether {
		m.Headline = "window"
	} else {
		r.Run.Profiling.AddDisjoint(sums, m.Overlap > 0)
	}
	if o.Info != nil && len(parts) > 1 {
		o.Info("%d runs overlap in %.0f %% of their time: rates are %s", len(parts), 100*m.Overlap,
			map[string]string{"sum": "added up over the runs", "window": "computed over the common window"}[m.Headline])
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return artifact.WriteFile(filepath.Join(o.Out, "merged.json"), append(text, '\n'))
}

// warnOf warns if the settings of a run could not be read, or if its raw export lacks requests.
func (o *MergeOptions) warnOf(p *part, s *metric.Summary) {
	own, ok := p.member.(ownRun)
	if !ok || o.Info == nil {
		return
	}
	for _, text := range []string{own.prior.problem, own.prior.lacks(s)} {
		if text != "" {
			o.Info("%s: %s", p.name, text)
		}
	}
}

// throughput returns the requests/s of a run; 0 if none succeeded.
func throughput(s *metric.Summary) float64 {
	if v := s.Value("request_throughput", metric.Avg); v > 0 {
		return v
	}
	return 0
}

// open opens every run.
func (o *MergeOptions) open() ([]part, error) {
	var parts []part
	for _, dir := range o.Dirs {
		if same(dir, o.Out) {
			return nil, fmt.Errorf("%s is one of the runs, whose files would be overwritten; choose another directory for the result", dir)
		}
		p := part{name: filepath.Base(filepath.Clean(dir))}
		old, err := openOldAlone(dir)
		if err != nil {
			return nil, err
		}
		if old != nil {
			p.member = old
		} else {
			found, err := Find(dir)
			if err != nil {
				return nil, err
			}
			src, err := openSource(found[0])
			if err != nil {
				return nil, err
			}
			p.member = ownRun{src}
		}
		if p.settings, err = p.member.settings(); err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return nil, errors.New("merge: no run is named")
	}
	unique(parts)
	return parts, nil
}

// unique adds a number to runs with equal names.
func unique(parts []part) {
	seen := map[string]int{}
	for k := range parts {
		seen[parts[k].name]++
		if n := seen[parts[k].name]; n > 1 {
			parts[k].name += fmt.Sprintf("_%d", n)
		}
	}
}

// endOf says how the merged run ended: cancelled if one of its runs was, and incomplete, with the reason, if one of them is.
func endOf(parts []part) (cancelled bool, incomplete string) {
	var names []string
	for k := range parts {
		one, complete := parts[k].ended()
		cancelled = cancelled || one
		if !complete {
			names = append(names, parts[k].name)
		}
	}
	switch len(names) {
	case 0:
		return cancelled, ""
	case 1:
		return cancelled, fmt.Sprintf("The run %s is not complete.", names[0])
	}
	return cancelled, fmt.Sprintf("The runs %s are not complete.", strings.Join(names, ", "))
}

// distinct returns an error if a run occurs twice. Copies of a run have the same benchmark id.
func distinct(parts []part) error {
	of := map[string]string{}
	for k := range parts {
		id := parts[k].id()
		if first, twice := of[id]; twice && id != "" {
			return fmt.Errorf("%s and %s are the same run (benchmark id %s)", first, parts[k].name, id)
		}
		of[id] = parts[k].name
	}
	return nil
}

// alike returns an error if a run occurs twice, or if the runs differ in model, endpoint type, streaming or load.
func alike(parts []part) error {
	if err := distinct(parts); err != nil {
		return err
	}
	about := func(p *part) [][2]string {
		var models []string
		for _, m := range p.settings.Models.Items {
			models = append(models, m.Name)
		}
		return [][2]string{
			{"model", strings.Join(models, ",")}, {"endpoint type", p.settings.Endpoint.Type},
			{"streaming", fmt.Sprint(p.settings.Endpoint.Streaming)}, {"load", p.load()},
		}
	}
	first := about(&parts[0])
	for k := range parts[1:] {
		for i, fact := range about(&parts[k+1]) {
			if fact != first[i] {
				return fmt.Errorf("%s and %s are not parts of one run: %s differs (%s and %s)", parts[0].name, parts[k+1].name, fact[0], first[i][1], fact[1])
			}
		}
	}
	return nil
}

// gpusOf returns the GPUs of all runs; the name of the run is added to each machine.
func gpusOf(parts []part) *metric.GPUTelemetry {
	var all *metric.GPUTelemetry
	for k := range parts {
		t := parts[k].gpus()
		if t == nil {
			continue
		}
		if all == nil {
			all = &metric.GPUTelemetry{Energy: map[string]float64{}}
		}
		for _, platform := range metric.Platforms {
			if joules := t.Joules(platform); !math.IsNaN(joules) {
				all.Energy[platform] += joules
			}
		}
		for _, e := range t.Endpoints {
			e.Name = strings.TrimSuffix(parts[k].name+"/"+e.Name, "/")
			all.Endpoints = append(all.Endpoints, e)
			all.Configured, all.Successful = append(all.Configured, e.Name), append(all.Successful, e.Name)
		}
	}
	return all
}

// ownRun is a run of aiperf or of the Python tool.
type ownRun struct{ *source }

func (r ownRun) gpus() *metric.GPUTelemetry { return r.gpu }

func (r ownRun) id() string { return r.prior.BenchmarkID }

func (r ownRun) ended() (cancelled, complete bool) {
	return r.prior.Cancelled, r.prior.IncompleteReason == "" && (r.prior.Complete == nil || *r.prior.Complete)
}

// load describes the profiling phase in words.
func (r ownRun) load() string {
	b, err := r.settings()
	if err != nil || b.Profiling() == nil {
		return ""
	}
	p := b.Profiling()
	text := string(p.Type)
	if p.Concurrency != nil {
		text += fmt.Sprintf(", concurrency %d", *p.Concurrency)
	}
	if p.Rate != nil {
		text += fmt.Sprintf(", rate %g", *p.Rate)
	}
	return text
}

// BareError lists the runs that cannot be merged because they have no raw export.
type BareError struct{ Dirs []string }

// Error implements error.
func (e *BareError) Error() string {
	return strings.Join(e.Dirs, ", ") + ": the run has no raw export, which merge needs"
}

// Below lists the direct sub-directories of dir that contain a run. If a run has no raw export, it returns a *BareError.
func Below(dir string) (runs []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var bare []string // directories with our summary but no raw export
	for _, e := range entries {
		sub := filepath.Join(dir, e.Name())
		if !e.IsDir() {
			continue
		}
		old, err := filepath.Glob(filepath.Join(escape(sub), "*"+oldSummary))
		if err != nil {
			return nil, err
		}
		found, err := Find(sub)
		if len(old) > 0 || err == nil && len(found) == 1 {
			runs = append(runs, sub)
		} else if _, statErr := os.Stat(artifact.NewLayout(sub, "").SummaryJSON()); statErr == nil && len(found) == 0 {
			bare = append(bare, sub)
		}
	}
	if len(bare) > 0 {
		return nil, &BareError{Dirs: bare}
	}
	if len(runs) == 0 {
		return nil, fmt.Errorf("no sub-directory of %s contains a run", dir)
	}
	return runs, nil
}
