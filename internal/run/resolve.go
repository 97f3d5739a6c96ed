package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"aiperf/internal/base/rng"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/run/connection"
	"aiperf/internal/run/inputs"
	"aiperf/internal/run/results"
	"aiperf/internal/run/tracker"
	"aiperf/internal/run/watch"
	"aiperf/internal/text/tokenizer"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/accuracy"
	"aiperf/internal/workload/accuracy/grade"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/load"
)

// runPlan holds everything that can make a run invalid. It is found without writing or sending anything.
type runPlan struct {
	endpoint   *endpoint.Endpoint
	codec      endpoint.Codec
	metrics    *metric.Selection
	root       *rng.Root
	seed       *config.Seed                        // of root; nil = random
	tokenizers func() (*results.Tokenizers, error) // opens the tokenizers at its first call
	opened     atomic.Pointer[results.Tokenizers]  // the tokenizers, once they are open
	problems   *accuracy.Set                       // problems of the benchmark; nil = none
	grader     *grade.Grader                       // grader of the answers to the problems
	data       dataset.Dataset
	warned     []string // warnings of the data that were reported
	scenario   load.Scenario
}

// resolve runs the stages that find the plan.
func resolve(ctx context.Context, cfg *config.Benchmark, seed *config.Seed, version string, say *reporter) (*runPlan, error) {
	r := &runPlan{root: root(seed), seed: seed}
	r.tokenizers = sync.OnceValues(func() (*results.Tokenizers, error) {
		all, err := results.OpenTokenizers(ctx, cfg, say.Log, say.Note, say.Download)
		if err == nil {
			r.opened.Store(all)
		}
		return all, err
	})
	return r, runStages(say, r.stages(ctx, cfg, connection.UserAgent(version), say))
}

// stages lists the stages of resolve in their order.
func (r *runPlan) stages(ctx context.Context, cfg *config.Benchmark, agent string, say *reporter) []stage {
	return []stage{
		{"trackers", func() error { return tracker.Check(cfg) }},
		{"endpoint", func() (err error) { r.endpoint, err = findEndpoint(cfg, say.Warn); return err }},
		{"metrics", func() (err error) {
			r.metrics, err = metric.NewSelection(results.MetricOptions(cfg, r.endpoint))
			return err
		}},
		{"codec", func() (err error) {
			set := results.CodecSettings(cfg, r.metrics.Options().Streaming)
			set.Tokens = appendTokens(r.tokenizers)
			r.codec, err = r.endpoint.Codec(set)
			return err
		}},
		{"dataset", func() (err error) {
			if r.problems, err = results.Problems(ctx, cfg, say.Download, func(text string) { say.Note("%s", text) }); err != nil {
				return err
			}
			if r.problems != nil {
				if r.grader, err = results.Grader(ctx, cfg); err != nil {
					return err
				}
				r.data, err = inputs.OpenAccuracyProblems(ctx, agent, cfg, r.endpoint, inputs.RandomRoot(cfg, r.root), r.problems)
				return err
			}
			r.data, err = inputs.OpenDataset(ctx, agent, cfg, r.endpoint, inputs.RandomRoot(cfg, r.root), lazyTokenizer(ctx, r.tokenizers), say.Reporter)
			return err
		}},
		{"schedule", func() error {
			r.warnOfData(say.Warn)
			return checkData(cfg, r.data, say)
		}},
		{"tokenizers", func() (err error) {
			if results.Counts(cfg, r.endpoint) {
				_, err = r.tokenizers()
			}
			return errors.Join(err, r.encodes())
		}},
		{"templates", func() error { return inputs.WarnOfTemplates(cfg, r.endpoint, r.tokenizers, say.Warn) }},
		{"scenario", func() (err error) {
			r.scenario, err = scenario(cfg)
			inputs.SetRequestCounts(&r.scenario, r.problems, cfg, say.Warn)
			return err
		}},
	}
}

// encodes returns an error if a tokenizer could not encode a text so far.
func (r *runPlan) encodes() error {
	if all := r.opened.Load(); all != nil {
		return all.Err()
	}
	return nil
}

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

// root returns the source of all random numbers; a nil seed gives a random one.
func root(seed *config.Seed) *rng.Root {
	if seed == nil {
		return rng.New(nil)
	}
	return rng.NewDecimal(string(*seed))
}

// warnOfData reports new warnings of the dataset. Data that are read during the run may add more later.
func (r *runPlan) warnOfData(warn func(string)) {
	for _, w := range r.data.Info().Warnings {
		if !slices.Contains(r.warned, w) {
			r.warned = append(r.warned, w)
			warn(w)
		}
	}
}

// checkData refuses a dataset that the phases cannot use.
func checkData(b *config.Benchmark, data dataset.Dataset, say *reporter) error {
	watch.LogDataset(say.Log, b.Dataset().Path, data)
	if err := checkSchedule(b, data.Info()); err != nil {
		return err
	}
	if err := checkLanes(b, data); err != nil {
		return err
	}
	return checkTurns(b, data)
}

// checkSchedule refuses a fixed schedule without times, and one with times before its start: such requests would all be sent at the start, too late.
func checkSchedule(b *config.Benchmark, f dataset.Info) error {
	p := b.Profiling()
	switch {
	case p == nil || p.Type != config.PhaseFixedSchedule:
		return nil
	case f.UntimedOrigin != "":
		return fmt.Errorf("%s: the first turn has no timestamp, which %s needs", f.UntimedOrigin, b.As("phases.profiling.type"))
	case f.EarlyOrigin != "" && !config.Value(p.AutoOffset) && p.StartOffset == nil:
		as := b.As("phases.profiling.auto_offset")
		return fmt.Errorf("%s: timestamp: %g ms is before the start of the schedule. With %s a timestamp must be at least 0. To start at the first timestamp, leave out %s",
			f.EarlyOrigin, f.EarlyTime, as, as)
	}
	return nil
}

// checkLanes refuses a replay with more lanes than recordings: several lanes would send the same prompts, and servers answer those from their caches.
// A cache-busting marker makes the prompts different, and the user can allow equal prompts.
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
	if whole || p.Sessions != nil && *p.Sessions <= n || config.Value(p.Concurrency) <= n {
		return nil
	}
	return fmt.Errorf("%s %d: there are only %d recordings, and further lanes would repeat their prompts; lower it, or give %s or %s",
		b.As("phases.profiling.concurrency"), config.Value(p.Concurrency), n, b.As("datasets.main.synthesis.allow_dataset_wrap"), b.As("datasets.main.prompts.cache_bust.target"))
}

// checkTurns refuses a user-centric load whose conversations have only one turn. Generated conversations are checked where their mean length is known.
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

// appendTokens returns the function with which a codec converts texts to token ids.
func appendTokens(tokenizers func() (*results.Tokenizers, error)) func(ids []int32, model, text string) ([]int32, error) {
	return func(ids []int32, model, text string) ([]int32, error) {
		all, err := tokenizers()
		if err != nil {
			return nil, err
		}
		tok := all.Of(model)
		return tok.Append(ids, text), tok.Err()
	}
}

// stateRequests writes the number of problems into the configuration that files show, for phases that nothing else ends.
func (r *runPlan) stateRequests(opts *Options) (err error) {
	if r.problems == nil || len(opts.InputConfig) == 0 {
		return nil
	}
	requests := map[string]int64{}
	for i := range r.scenario.Phases {
		if p := &r.scenario.Phases[i]; p.Requests > 0 {
			requests[p.Name] = p.Requests
		}
	}
	opts.InputConfig, err = config.StateRequests(opts.InputConfig, requests)
	return err
}

// lazyTokenizer returns a function that opens the tokenizer of the first model at its first call and keeps the result or the error.
func lazyTokenizer(ctx context.Context, t func() (*results.Tokenizers, error)) func() (*tokenizer.Tokenizer, error) {
	return func() (*tokenizer.Tokenizer, error) {
		all, err := t()
		if err != nil {
			return nil, err
		}
		return all.First(), ctx.Err()
	}
}
