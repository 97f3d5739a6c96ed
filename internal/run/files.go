package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"aiperf/internal/artifact"
	"aiperf/internal/endpoint"
	"aiperf/internal/load"
	"aiperf/internal/metric"
	"aiperf/internal/pipeline"
	"aiperf/internal/record"
	"aiperf/internal/transport"
)

// openFiles makes the artifact directory and the log.
func (r *runner) openFiles() error {
	a := &r.cfg.Artifacts
	r.layout = artifact.NewLayout(a.Dir, a.Prefix)
	r.layout.Secrets = r.opts.Secrets
	if err := artifact.MakeDir(a.Dir, a.Raw || a.Trace); err != nil {
		return fmt.Errorf("--artifact-dir %s: %w", a.Dir, err)
	}
	if err := r.claim(); err != nil {
		return fmt.Errorf("--artifact-dir %w", err)
	}
	if err := artifact.MakeDir(filepath.Dir(r.layout.Log()), false); err != nil {
		return fmt.Errorf("--artifact-dir %s: %w", a.Dir, err)
	}
	f, err := os.Create(r.layout.Log())
	if err != nil {
		return fmt.Errorf("--artifact-dir %s: %w", a.Dir, err)
	}
	r.closers = append(r.closers, func() { _ = f.Close() })
	r.events.into(f)
	r.log.Info("run", "version", r.opts.Version, "benchmark_id", r.opts.BenchmarkID, "command", r.opts.Info.CLICommand)
	return nil
}

// claim takes the directory for this run and removes what an earlier run left there under the names of this one.
func (r *runner) claim() error {
	release, err := artifact.Claim(r.layout.Dir)
	if err != nil {
		return err
	}
	r.closers = append(r.closers, release)
	n, err := r.layout.Clear(r.reads)
	if n > 0 {
		r.note("removed the files of an earlier run from %s (%d)", r.layout.Dir, n)
	}
	return err
}

// reads tells whether a file is one that this run reads.
func (r *runner) reads(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	paths := []string{r.cfg.Dataset().Path, r.cfg.Dataset().SystemPromptFile}
	for i := range r.cfg.Phases {
		paths = append(paths, r.cfg.Phases[i].RateSeries)
	}
	for _, p := range paths {
		if other, err := os.Stat(p); p != "" && err == nil && os.SameFile(info, other) {
			return true
		}
	}
	return false
}

// newPipeline starts the workers that turn records into rows and lines.
func (r *runner) newPipeline() (*pipeline.Pipeline, error) {
	a := &r.cfg.Artifacts
	var sinks []pipeline.Sink
	if len(a.Records) > 0 {
		w, err := artifact.CreateRecords(r.layout.Records(), a.Trace)
		if err != nil {
			return nil, err
		}
		sinks = append(sinks, w)
	}
	if a.Raw {
		w, err := artifact.CreateRaw(r.layout.Raw(), artifact.RawOptions{BenchmarkID: r.opts.BenchmarkID, Trace: a.Trace})
		if err != nil {
			return nil, err
		}
		sinks = append(sinks, w)
		r.rawPath = r.layout.Raw()
	}
	count, err := r.countingWords()
	if err != nil {
		return nil, err
	}
	input := endpoint.DecodeOptions{NoInput: !r.counts() && !r.endpoint.Images} // the payload also tells the images of a request
	o := pipeline.Options{
		Metrics: r.metrics,
		Decode: func(rec *record.Record) (*record.Reply, *record.Error) {
			return endpoint.Decode(r.codec, rec, input)
		},
		Clean:    transport.CleanError,
		Count:    count,
		Workers:  max(1, runtime.GOMAXPROCS(0)-1), // one core stays free for the load: a read that comes late joins messages
		Sinks:    sinks,
		SpillDir: r.layout.Dir,
		Split:    r.splitPhases(),
		Seen:     r.seen(),
		Secrets:  r.secretsOf,
	}
	if r.templated() && r.counts() {
		all, err := r.tokenizers()
		if err != nil {
			return nil, err
		}
		r.chat = &chatCounter{tokenizers: all}
		o.Input = r.chat.input
	}
	return pipeline.New(o), nil
}

// countingWords is how tokens are counted; never called when the server counts.
func (r *runner) countingWords() (func(model, text string) int, error) {
	if !r.counts() {
		return func(string, string) int { return -1 }, nil
	}
	opened, err := r.tokenizers()
	if err != nil {
		return nil, err
	}
	return opened.count, nil
}

// write leaves the summary files; what fails is reported together.
func (r *runner) write(run *metric.Run, result *load.Result) error {
	run.LogFile = r.layout.Log()
	return errors.Join(artifact.WriteReport(r.layout, run, r.rawPath, ""), r.writePhases(run, result))
}
