package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"aiperf/internal/accuracy"
	"aiperf/internal/accuracy/grade"
	"aiperf/internal/assembly"
	"aiperf/internal/config"
	"aiperf/internal/dataset"
	"aiperf/internal/endpoint"
	"aiperf/internal/load"
	"aiperf/internal/metric"
	"aiperf/internal/rng"
)

// resolved is everything that a run may be refused for. It is found without writing or sending anything.
type resolved struct {
	endpoint   *endpoint.Endpoint
	codec      endpoint.Codec
	metrics    *metric.Selection
	root       *rng.Root
	tokenizers func() (*assembly.Tokenizers, error) // opened when first asked for
	opened     atomic.Pointer[assembly.Tokenizers]  // them, once they are
	problems   *accuracy.Set                        // of the benchmark that is asked; nil = none
	grader     *grade.Grader                        // of the answers to them
	data       dataset.Dataset
	said       []string // warnings of the data that were told
	scenario   load.Scenario
}

// resolve goes through the stages that find it.
func resolve(ctx context.Context, cfg *config.Benchmark, seed *config.Seed, version string, say *reporter) (*resolved, error) {
	r := &resolved{root: root(seed)}
	r.tokenizers = sync.OnceValues(func() (*assembly.Tokenizers, error) {
		all, err := assembly.OpenTokenizers(ctx, cfg, say.log, say.note, say.download)
		if err == nil {
			r.opened.Store(all)
		}
		return all, err
	})
	return r, pass(say, r.stages(ctx, cfg, userAgent(version), say))
}

// stages are those of resolve, in their order.
func (r *resolved) stages(ctx context.Context, cfg *config.Benchmark, agent string, say *reporter) []stage {
	return []stage{
		{"endpoint", func() (err error) { r.endpoint, err = findEndpoint(cfg, say.warn); return err }},
		{"metrics", func() (err error) {
			r.metrics, err = metric.NewSelection(assembly.MetricOptions(cfg, r.endpoint))
			return err
		}},
		{"codec", func() (err error) {
			set := assembly.CodecSettings(cfg, r.metrics.Options().Streaming)
			set.Tokens = appendTokens(r.tokenizers)
			r.codec, err = r.endpoint.Open(set)
			return err
		}},
		{"dataset", func() (err error) {
			if r.problems, err = assembly.Problems(ctx, cfg, say.download, func(text string) { say.note("%s", text) }); err != nil {
				return err
			}
			if r.problems != nil {
				if r.grader, err = assembly.Grader(ctx, cfg); err != nil {
					return err
				}
				r.data, err = openProblems(ctx, agent, cfg, r.endpoint, datasetRoot(cfg, r.root), r.problems)
				return err
			}
			r.data, err = openDataset(ctx, agent, cfg, r.endpoint, datasetRoot(cfg, r.root), lazyTokenizer(ctx, r.tokenizers), say)
			return err
		}},
		{"schedule", func() error {
			r.warnOfData(say.warn)
			return checkData(cfg, r.data, say)
		}},
		{"tokenizers", func() (err error) {
			if assembly.Counts(cfg, r.endpoint) {
				_, err = r.tokenizers()
			}
			return errors.Join(err, r.encodes())
		}},
		{"templates", func() error { return warnOfTemplates(cfg, r.endpoint, r.tokenizers, say.warn) }},
		{"scenario", func() (err error) {
			r.scenario, err = scenario(cfg)
			askAll(&r.scenario, r.problems, cfg, say.warn)
			return err
		}},
	}
}

// encodes tells whether the tokenizers could encode every text so far.
func (r *resolved) encodes() error {
	if all := r.opened.Load(); all != nil {
		return all.Err()
	}
	return nil
}

// userAgent is the name by which servers know this program.
func userAgent(version string) string { return "aiperf/" + version }

// findEndpoint finds the endpoint type of a run.
func findEndpoint(b *config.Benchmark, warn func(string)) (*endpoint.Endpoint, error) {
	e, notice, err := endpoint.Lookup(b.Endpoint.Type)
	if err != nil {
		return nil, err
	}
	if notice != "" {
		warn(notice)
	}
	if !e.Built() {
		return nil, fmt.Errorf("%s %s is not built yet", b.As("endpoint.type"), e.Name)
	}
	return e.Given(b.Endpoint.Extra.Has), nil
}

// root is where everything random is drawn from; nil = a seed of the system's.
func root(seed *config.Seed) *rng.Root {
	if seed == nil {
		return rng.New(nil)
	}
	return rng.NewDecimal(string(*seed))
}

// warnOfData tells what the dataset says of itself and nobody was told yet: of data that are read while they are used more comes later.
func (r *resolved) warnOfData(warn func(string)) {
	for _, w := range r.data.Info().Warnings {
		if !slices.Contains(r.said, w) {
			r.said = append(r.said, w)
			warn(w)
		}
	}
}

// checkData refuses a dataset that the phases cannot use.
func checkData(b *config.Benchmark, data dataset.Dataset, say *reporter) error {
	logDataset(say.log, b.Dataset().Path, data)
	if err := checkSchedule(b, data.Info()); err != nil {
		return err
	}
	if err := checkLanes(b, data); err != nil {
		return err
	}
	return checkTurns(b, data)
}

// checkSchedule refuses a schedule without times.
func checkSchedule(b *config.Benchmark, f dataset.Info) error {
	p := b.Profiling()
	if p == nil || p.Type != config.PhaseFixedSchedule || f.UntimedOrigin == "" {
		return nil
	}
	return fmt.Errorf("%s: the first turn has no timestamp, which %s needs", f.UntimedOrigin, b.As("phases.profiling.type"))
}

// checkLanes refuses a replay of more lanes than there are recordings: several lanes would send the same prompts, and servers answer those from
// their caches. A marker in the prompts keeps them apart; the user may want it so.
func checkLanes(b *config.Benchmark, d dataset.Dataset) error {
	p := b.Profiling()
	if p == nil || !p.Replays() || b.Dataset().CacheBustTarget() != config.CacheBustNone {
		return nil
	}
	if s := b.Dataset().Synthesis; s != nil && s.AllowDatasetWrap {
		return nil
	}
	n := d.Len()
	whole := p.Requests == nil && p.Sessions == nil && p.Duration == nil
	if whole || p.Sessions != nil && *p.Sessions <= n || value(p.Concurrency) <= n {
		return nil
	}
	return fmt.Errorf("%s %d: there are %d recordings, and the lanes beyond would repeat their prompts; lower it, or give %s or %s",
		b.As("phases.profiling.concurrency"), value(p.Concurrency), n, b.As("datasets.main.synthesis.allow_dataset_wrap"), b.As("datasets.main.prompts.cache_bust.target"))
}

// checkTurns refuses users without a second turn to come back for. Generated conversations are checked where their mean is known.
func checkTurns(b *config.Benchmark, d dataset.Dataset) error {
	users := slices.ContainsFunc(b.Phases, func(p config.Phase) bool { return p.Type == config.PhaseUserCentric })
	if b.Dataset().Type == config.DatasetSynthetic || !users {
		return nil
	}
	all := dataset.All(d)
	mean := float64(d.Info().Turns) / float64(all)
	for i := range b.Phases {
		if b.Phases[i].Type == config.PhaseUserCentric && d.Info().Started > 0 {
			return fmt.Errorf("%s: users need conversations whose turns follow one another; those of %s start others", b.As("phases.profiling.rate"), b.Dataset().Path)
		}
		if b.Phases[i].Type == config.PhaseUserCentric && mean < 2 {
			return fmt.Errorf("%s: users need conversations of at least 2 turns; those of %s have %.3g on average", b.As("phases.profiling.rate"), b.Dataset().Path, mean)
		}
	}
	return nil
}
