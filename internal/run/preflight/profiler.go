package preflight

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/wire/transport"
	"aiperf/internal/workload/load"
)

// Profiler starts and stops the servers' own profilers around the measured phases. Phases that overlap or follow each other without a pause share one
// profile: nothing is sent between them. A nil profiler does nothing.
type Profiler struct {
	*hooks
	as          string // spelling of the setting that enables it
	start, stop string // paths
	limit       time.Duration
	seamless    []bool // by phase index: the phase follows the previous one without a pause
	warn        func(string)

	mu      sync.Mutex
	phases  int  // number of running measured phases
	running bool // the servers' profilers run
}

func newProfiler(h *hooks, cfg *config.Benchmark, warn func(string)) *Profiler {
	set := cfg.Endpoint.ServerProfiler
	p := &Profiler{hooks: h, as: cfg.As("endpoint.server_profiler"), start: set.StartPath, stop: set.StopPath, limit: timeOr(set.Timeout, hookLimit), warn: warn}
	if p.start == "" {
		p.start = config.ProfilerStartPath
	}
	if p.stop == "" {
		p.stop = config.ProfilerStopPath
	}
	for _, one := range cfg.PhasesSent() {
		p.seamless = append(p.seamless, one.Seamless)
	}
	return p
}

// Before starts the profilers for a measured phase. If one server fails, the profilers that were started are stopped again.
func (p *Profiler) Before(ctx context.Context, phase *load.PhaseInfo) error {
	if p == nil || phase.Warmup {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.phases++
	if p.running {
		return nil
	}
	for i, server := range p.servers {
		if _, err := p.post(ctx, server, p.start, p.limit); err != nil {
			back := slices.Clone(p.servers[:i])
			slices.Reverse(back)
			p.halt(ctx, back)
			return fmt.Errorf("%s: %w", p.as, err)
		}
	}
	p.running = true
	return nil
}

// After stops the profilers if no measured phase runs or follows without a pause.
func (p *Profiler) After(ctx context.Context, f *load.PhaseStats) {
	if p == nil || f.Info.Warmup {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.phases--
	next := f.Info.Index + 1
	if p.phases == 0 && (next == len(p.seamless) || !p.seamless[next]) {
		p.end(ctx)
	}
}

// Finish stops the profilers at the end of a run that ended before the next phase.
func (p *Profiler) Finish(ctx context.Context) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.end(ctx)
}

// end stops the profilers if they run.
func (p *Profiler) end(ctx context.Context) {
	if p.running {
		p.running = false
		p.halt(ctx, p.servers)
	}
}

// halt asks servers to stop their profilers. It asks all of them, even if the run has ended or other servers fail.
func (p *Profiler) halt(ctx context.Context, servers []*transport.Target) {
	var errs []error
	for _, server := range servers {
		if _, err := p.post(context.WithoutCancel(ctx), server, p.stop, p.limit); err != nil {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		p.warn(fmt.Sprintf("%s: the server's profiler may still be running: %s", p.as, strings.ReplaceAll(err.Error(), "\n", "; ")))
	}
}
