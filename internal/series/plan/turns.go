package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"aiperf/internal/base/redact"
	"aiperf/internal/base/rng"
	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/measure/comparison"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/stats"
	"aiperf/internal/report/artifact"
)

// TurnOptions holds the flags of a comparison of two targets in alternating blocks.
type TurnOptions struct {
	A, B     string   // URLs
	Labels   []string // names of A and B; nil = none
	Pairs    int
	Block    float64 // length of a turn, s
	Setting  string  // the setting of Block, for messages
	Wash     float64 // s at its start that are sent but not counted
	Parallel bool    // both at once, for targets with separate hardware
	InOrder  bool    // A is first in every pair; otherwise the order is random
	Compare  comparison.Options
}

// short returns a warning if blocks are too short for a wash-in and a median latency, in s; "" = they are long enough. Up to 5 % less is long enough, so that
// the standard length is accepted for fast servers.
func (o *TurnOptions) short(median float64) string {
	const parts, enough = 3, 0.95
	needed := parts * (o.Wash + median)
	if o.Block >= enough*needed {
		return ""
	}
	return fmt.Sprintf("blocks of %g s are short for a latency of %.3g s; write %s %.0fs or longer", o.Block, median, o.Setting, math.Ceil(needed))
}

// Turns sends the same load to two targets in alternating blocks and compares B with A (comparison, section 4). A change of the machine then affects both. The
// blocks of a pair have the same prompts and arrivals. Pairs that do not count because of the client are replaced, at most half as many as requested.
// It returns nil if there is no result.
func Turns(ctx context.Context, run *config.Run, o TurnOptions, s Streams) (*comparison.Result, error) {
	if s.Secrets == nil {
		s.Secrets = redact.NewSecrets()
	}
	s.Secrets.Add(run.Secrets()...)
	i := invocation{Streams: s, ctx: ctx, run: run, command: commandLine(s.Args)}
	i.runner = i.benchmark
	hide, err := i.openLivePage(ctx)
	if err != nil {
		return nil, err
	}
	defer hide()
	result, err := i.turns(o)
	return result, errors.Join(err, i.close())
}

// turns executes the blocks.
func (i *invocation) turns(o TurnOptions) (*comparison.Result, error) {
	base := i.run.RandomSeed
	if base == nil {
		seed := config.Seed("42") // the default of a series
		base = &seed
	}
	release, err := i.claim()
	if err != nil {
		return nil, err
	}
	defer release()
	number := rng.NewDecimal(string(*base)).Child("order of turns")
	most := o.Pairs + o.Pairs/2 // including replacements
	first := comparison.Order(most, number)
	i.showSeries(2*o.Pairs, false, func(dir string) string {
		if strings.HasSuffix(dir, "_b") {
			return "B, " + redact.URL(o.B)
		}
		return "A, " + redact.URL(o.A)
	})
	var a, b []comparison.Run
	for pair, good := 0, 0; good < o.Pairs && pair < most; pair++ {
		turns := [2]int{0, 1}
		if !o.InOrder && !first[pair] {
			turns = [2]int{1, 0}
		}
		got, err := i.pair(&o, pair, turns, base)
		if err != nil {
			return nil, err
		}
		if got[0] == nil || got[1] == nil { // interrupted: judge the pairs so far
			return i.comparePairs(a, b, &o, number, fmt.Sprintf("interrupted after %d of %s: all of them find smaller differences", len(a), terminal.Plural(o.Pairs, "pair")))
		}
		a, b = append(a, *got[0]), append(b, *got[1])
		if doubt := cmp.Or(got[0].Doubt, got[1].Doubt); doubt == "" || o.Compare.Invalid {
			good++
		} else if pair+1 < most {
			fmt.Fprintf(i.Err, "aiperf: repeating pair %d: %s\n", pair+1, doubt)
		}
	}
	return i.comparePairs(a, b, &o, number)
}

// pair executes the two blocks of a pair, one after the other or both at once. A side that the user interrupted is nil.
func (i *invocation) pair(o *TurnOptions, pair int, turns [2]int, base *config.Seed) (got [2]*comparison.Run, err error) {
	if !o.Parallel {
		for _, side := range turns {
			if got[side], err = i.turn(i.ctx, o, pair, side, base); err != nil || got[side] == nil {
				return got, err
			}
		}
		return got, nil
	}
	i.begun = true // the messages of a first run on a terminal do not belong between two blocks
	var errs [2]error
	var both sync.WaitGroup
	for side := range got {
		both.Go(func() { got[side], errs[side] = i.turn(i.ctx, o, pair, side, base) })
	}
	both.Wait()
	return got, errors.Join(errs[:]...)
}

// comparePairs compares the pairs and writes the result with notes.
func (i *invocation) comparePairs(a, b []comparison.Run, o *TurnOptions, seed uint64, notes ...string) (*comparison.Result, error) {
	r, err := comparison.Pairs(a, b, o.Compare, seed)
	if err != nil {
		return nil, err
	}
	r.Notes = append(r.Notes, notes...)
	text, err := r.JSON()
	if err != nil {
		return nil, err
	}
	return r, artifact.WriteFile(filepath.Join(i.run.Artifacts.Dir, "comparison.json"), text)
}

// turn executes one block of a target; nil: the user interrupted it.
func (i *invocation) turn(ctx context.Context, o *TurnOptions, pair, side int, base *config.Seed) (*comparison.Run, error) {
	name, url := "a", o.A
	if side == 1 {
		name, url = "b", o.B
	}
	label := fmt.Sprintf("pair_%02d_%s", pair+1, name)
	b := i.run.Benchmark
	b.Endpoint.URLs = []string{url}
	b.Artifacts.Dir = filepath.Join(i.run.Artifacts.Dir, "blocks", label)
	b.Artifacts.Records = config.Formats{"jsonl"}
	b.Runtime.UI = config.UINone
	if b.Phases = slices.Clone(b.Phases); pair > 0 {
		b.Phases = withoutWarmup(b.Phases)
	}
	for k := range b.Phases {
		if p := &b.Phases[k]; p.Kind != config.KindWarmup {
			length := config.Seconds(o.Block)
			p.Duration, p.Requests, p.Sessions, p.GracePeriod = &length, nil, nil, nil
		}
	}
	cell := config.Cell{Label: fmt.Sprintf("pair %d", pair)}
	seed := trialSeed(base, &cell, 0) // the same for both blocks of a pair
	b.Datasets = slices.Clone(b.Datasets)
	if d := b.Dataset(); d.RandomSeed != nil {
		d.RandomSeed = seed
	}
	fmt.Fprintf(i.Err, "aiperf: pair %d of %d, %s: %s\n", pair+1, max(o.Pairs, pair+1), strings.ToUpper(name), terminal.Line(url))
	done, err := i.runner(ctx, &b, seed, metric.RunInfo{RandomSeed: digits(seed), RunLabel: label}, id())
	if cut := ctx.Err() != nil; cut || err != nil {
		return nil, ignoreInterrupt(cut, err)
	}
	if done == nil || done.Profiling.Valid == 0 {
		return nil, fmt.Errorf("%s: no request succeeded", label)
	}
	if text := o.short(done.Profiling.Value("request_latency", metric.P50) / 1000); pair == 0 && text != "" {
		fmt.Fprintln(i.Err, "warning: "+text)
	}
	runs, err := comparison.Load(b.Artifacts.Dir, o.Wash)
	if err != nil {
		return nil, err
	}
	if len(runs) != 1 || stats.Mean(runs[0].Values["request_latency"]) <= 0 {
		return nil, errors.Join(errNothing, fmt.Errorf("%s has no requests after the first %g s", b.Artifacts.Dir, o.Wash))
	}
	if o.Labels != nil {
		runs[0].Target.Label = o.Labels[side]
	}
	return &runs[0], nil
}

// ignoreInterrupt returns err, or nil if the user interrupted: the results so far count.
func ignoreInterrupt(interrupted bool, err error) error {
	if interrupted {
		return nil
	}
	return err
}
