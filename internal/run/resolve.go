package run

import (
	"context"
	"fmt"
	"sync"

	"aiperf/internal/assembly"
	"aiperf/internal/config"
	"aiperf/internal/dataset"
	"aiperf/internal/endpoint"
	"aiperf/internal/load"
	"aiperf/internal/metric"
	"aiperf/internal/rng"
)

// resolved is what the stages of resolving find.
type resolved struct {
	endpoint   *endpoint.Endpoint
	codec      endpoint.Codec
	metrics    *metric.Set
	root       *rng.Root
	tokenizers func() (*assembly.Tokenizers, error) // opened when first asked for
	data       dataset.Dataset
	plan       load.Plan
}

func (r *runner) resolveEndpoint(context.Context) error {
	b := r.cfg
	var notice string
	var err error
	if r.endpoint, notice, err = endpoint.Lookup(b.Endpoint.Type); err != nil {
		return err
	}
	if notice != "" {
		r.warn(notice)
	}
	if !r.endpoint.Built() {
		return fmt.Errorf("%s %s is not built yet", b.As("endpoint.type"), r.endpoint.Name)
	}
	return nil
}

func (r *runner) resolveMetrics(context.Context) (err error) {
	if r.metrics, err = metric.NewSet(assembly.MetricOptions(r.cfg, r.endpoint)); err != nil {
		return err
	}
	r.codec, err = r.endpoint.Open(r.settings())
	return err
}

func (r *runner) resolveDataset(ctx context.Context) (err error) {
	r.root = root(r.seed)
	r.tokenizers = sync.OnceValues(func() (*assembly.Tokenizers, error) {
		return assembly.OpenTokenizers(ctx, r.cfg, r.log, r.note, r.download)
	})
	if r.data, err = openDataset(ctx, "aiperf/"+r.opts.Version, r.cfg, r.endpoint, datasetRoot(r.cfg, r.root), lazyTokenizer(ctx, r.tokenizers)); err != nil {
		return err
	}
	for _, w := range r.data.Facts().Warnings {
		r.warn(w)
	}
	r.logDataset()
	return nil
}

func (r *runner) resolveSchedule(context.Context) error {
	if err := checkSchedule(r.cfg, r.data.Facts()); err != nil {
		return err
	}
	return checkTurns(r.cfg, r.data)
}

func (r *runner) resolveTokenizers(context.Context) error {
	if !assembly.Counts(r.cfg, r.endpoint) {
		return nil
	}
	_, err := r.tokenizers()
	return err
}

func (r *runner) resolvePlan(context.Context) (err error) {
	r.plan, err = plan(r.cfg)
	return err
}

// root is where everything random is drawn from; nil = a seed of the system's.
func root(seed *config.Seed) *rng.Root {
	if seed == nil {
		return rng.New(nil)
	}
	return rng.NewDecimal(string(*seed))
}

// checkSchedule refuses a schedule without times.
func checkSchedule(b *config.Benchmark, f dataset.Facts) error {
	p := b.Profiling()
	if p == nil || p.Type != config.PhaseFixedSchedule || f.UntimedOrigin == "" {
		return nil
	}
	return fmt.Errorf("%s: the first turn has no timestamp, which %s needs", f.UntimedOrigin, b.As("phases.profiling.type"))
}

// checkTurns refuses users without a second turn to come back for. Generated conversations are checked where their mean is known.
func checkTurns(b *config.Benchmark, d dataset.Dataset) error {
	if b.Dataset().Type == config.DatasetSynthetic {
		return nil
	}
	mean := float64(d.Facts().Turns) / float64(d.Len())
	for i := range b.Phases {
		if b.Phases[i].Type == config.PhaseUserCentric && d.Facts().Started > 0 {
			return fmt.Errorf("%s: users need conversations whose turns follow one another; those of %s start others", b.As("phases.profiling.rate"), b.Dataset().Path)
		}
		if b.Phases[i].Type == config.PhaseUserCentric && mean < 2 {
			return fmt.Errorf("%s: users need conversations of at least 2 turns; those of %s have %.3g on average", b.As("phases.profiling.rate"), b.Dataset().Path, mean)
		}
	}
	return nil
}
