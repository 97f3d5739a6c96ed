package run

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"aiperf/internal/artifact"
	"aiperf/internal/assembly"
	"aiperf/internal/transport"
)

// openFiles makes the artifact directory and the log.
func (r *runner) openFiles() error {
	a := &r.cfg.Artifacts
	r.layout = artifact.NewLayout(a.Dir, a.Prefix)
	r.layout.Secrets = r.opts.Secrets
	if err := artifact.MakeDir(a.Dir, a.Raw || a.Trace); err != nil {
		return fmt.Errorf("%s %s: %w", r.cfg.As("artifacts.dir"), a.Dir, err)
	}
	if err := r.claim(); err != nil {
		return fmt.Errorf("%s %w", r.cfg.As("artifacts.dir"), err)
	}
	if err := artifact.MakeDir(filepath.Dir(r.layout.Log()), false); err != nil {
		return fmt.Errorf("%s %s: %w", r.cfg.As("artifacts.dir"), a.Dir, err)
	}
	f, err := os.Create(r.layout.Log())
	if err != nil {
		return fmt.Errorf("%s %s: %w", r.cfg.As("artifacts.dir"), a.Dir, err)
	}
	r.open.opened(f.Close)
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
	r.open.opened(func() error { release(); return nil })
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

// newResults starts what makes the results of finished requests.
func (r *runner) newResults(ctx context.Context) (*assembly.Assembly, error) {
	var phases []assembly.Phase
	profiling := 0
	for i, p := range r.plan.Phases {
		one := assembly.Phase{Name: p.Name, Index: i, Profiling: -1, Warmup: p.Warmup}
		if !p.Warmup {
			one.Profiling = profiling
			profiling++
		}
		phases = append(phases, one)
	}
	return assembly.New(assembly.Options{
		Config: r.cfg, Endpoint: r.endpoint, Codec: r.codec, Metrics: r.metrics, Tokenizers: r.tokenizers, Layout: r.layout,
		BenchmarkID: r.opts.BenchmarkID, Phases: phases, Raw: true, Observers: r.observers(ctx), Clean: transport.CleanError, Secrets: r.secretsOf,
	})
}
