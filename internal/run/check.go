package run

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/run/connection"
	"aiperf/internal/run/inputs"
	"aiperf/internal/run/results"
	"aiperf/internal/sim/mockserver"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/load"
)

// Forecast is what a run would send, as far as it is known before the run.
type Forecast struct {
	Prompts  int           // request bodies of the dataset
	Tokens   float64       // mean tokens of a prompt; NaN = the client does not count them
	First    int           // number of first conversations in the mean; 0 = all, or a sample of the whole dataset
	Requests int           // of all profiling phases; 0 = at least one of them is not ended by a request count
	Time     time.Duration // sending time of the phases with a known duration
	Shares   string        // how several machines split the run; "" = it is not split
	Open     bool          // the speed of the server decides how long the other phases send
}

// Check tests everything that can make a run fail before its first request: every row of the data as a request body, the tokenizer, the schedule, and
// the limits of this machine. It writes no file and sends nothing. Warnings go to the same place as those of the run.
func Check(ctx context.Context, cfg *config.Benchmark, seed *config.Seed, opts Options) (*Forecast, error) {
	opts.Progress = 0
	say := newReporter(ctx, &opts, cfg)
	r, err := resolve(ctx, cfg, seed, opts.Version, say)
	if err != nil {
		return nil, err
	}
	if opts.Of > 1 {
		if err := r.scenario.CheckMachines(opts.Of); err != nil {
			return nil, fmt.Errorf("%s: %w", cfg.As("machines.on"), err)
		}
		r.scenario.Share.Of = opts.Of
	}
	limits := connection.MachineLimits()
	if opts.Together {
		limits = limits.SharedBy(opts.Of)
	}
	if err := checkMachine(cfg, r, limits, say.Warn); err != nil {
		return nil, err
	}
	if err := inputs.CheckBodies(ctx, inputs.NewPreparedStore(r.data), r.endpoint, r.codec, true, say.Warn); err != nil {
		return nil, err
	}
	f := &Forecast{Prompts: r.data.Info().Turns, Tokens: math.NaN()}
	if err := r.countPrompts(ctx, cfg, f); err != nil {
		return nil, err
	}
	f.Shares = sharesOf(&r.scenario, limits)
	f.Requests = requests(cfg)
	f.Time, f.Open = sendingTime(cfg, r.data)
	return f, nil
}

// sharesOf says how several machines split a scenario, and what each needs for its part.
func sharesOf(s *load.Scenario, limits connection.Limits) string {
	if s.Share.Of <= 1 {
		return ""
	}
	text := fmt.Sprintf("%d machines share one schedule, and each sends one in %d requests", s.Share.Of, s.Share.Of)
	for i := range s.Phases {
		p := &s.Phases[i]
		if p.Warmup {
			continue
		}
		for _, limit := range []struct {
			name  string
			value int
		}{{"concurrency", p.Concurrency}, {"users", p.Users}, {"prefill concurrency", p.Prefill}} {
			if limit.value > 0 {
				text += fmt.Sprintf("; %s %d is split into parts of %s", limit.name, limit.value, partsOf(limit.value, s.Share.Of))
			}
		}
	}
	if budget := limits.Budget(*s); budget != "" {
		text += "; " + budget
	}
	return text
}

// partsOf returns the size of the parts of a limit that machines share.
func partsOf(limit, machines int) string {
	first, last := load.Share{Of: machines}, load.Share{Index: machines - 1, Of: machines}
	most, least := first.Part(int64(limit)), last.Part(int64(limit))
	if most == least {
		return fmt.Sprint(most)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

// sampledConversations is the approximate number of conversations whose tokens are counted for the mean.
const sampledConversations = 500

// maxSampledTokens limits how many tokens are generated and counted for the mean.
var maxSampledTokens = 2_000_000

// maxSampledBytes limits the bodies that are made for it: pictures take much longer than texts.
const maxSampledBytes = 32 << 20

// countPrompts sets the mean tokens per prompt. It samples the whole dataset; where texts must be generated in order, it takes the first
// conversations.
func (r *runPlan) countPrompts(ctx context.Context, cfg *config.Benchmark, f *Forecast) error {
	count, err := r.promptCounter(cfg)
	if err != nil || count == nil {
		return err
	}
	n, tokens, size, all := 0, 0, 0, dataset.All(r.data)
	step, made := max(1, all/sampledConversations), false
	if all > 0 {
		_, written := r.data.Draft(0)
		made = !written
	}
	if made {
		step = 1
	}
	for i := 0; i < all; i += step {
		if made && (i == sampledConversations || tokens > maxSampledTokens || size > maxSampledBytes) {
			f.First = i
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		c := r.data.Conversation(dataset.Nth(i, r.data.Len()))
		for k := range c.Turns {
			req, err := inputs.EncodeAlone(r.codec, c, k)
			if err != nil {
				return fmt.Errorf("conversation %s, turn %d: %w", c.ID, k+1, err)
			}
			n++
			body := req.Body.Bytes()
			tokens, size = tokens+count(body), size+len(body)
		}
	}
	if n > 0 {
		f.Tokens = float64(tokens) / float64(n)
	}
	return nil
}

// checkMachine compares the run with the limits of the machine. A placeholder target represents simulated servers, which do not run yet.
func checkMachine(cfg *config.Benchmark, r *runPlan, limits connection.Limits, warn func(string)) error {
	urls := make([]string, len(cfg.Endpoint.URLs))
	for i, u := range cfg.Endpoint.URLs {
		if urls[i] = u; strings.HasPrefix(u, mockserver.Scheme) {
			urls[i] = "http://127.0.0.1:1"
		}
	}
	addresses, err := connection.NewAddresses(urls, cfg, r.endpoint)
	if err != nil {
		return err
	}
	connections := connection.Options(cfg, warn)
	if err := connections.Check(); err != nil {
		return connection.SpellSetting(cfg, err)
	}
	warnings, err := limits.Check(r.scenario, addresses.Targets, connections, cfg.As)
	for _, w := range warnings {
		warn(w)
	}
	return err
}

// promptCounter returns a function that counts the input tokens of a request body as the run does; nil if the run does not count them.
func (r *runPlan) promptCounter(cfg *config.Benchmark) (func(payload []byte) int, error) {
	if !results.Counts(cfg, r.endpoint) || !r.endpoint.TokenizesInput {
		return nil, nil
	}
	all, err := r.tokenizers()
	if err != nil {
		return nil, err
	}
	return func(payload []byte) int {
		in := r.codec.Input(payload)
		n := in.Tokens
		if len(in.Texts) > 0 {
			n += all.First().Count(strings.Join(in.Texts, " "))
		}
		return n
	}, nil
}

// requests returns the number of requests of all profiling phases; 0 if something else ends one of them.
func requests(cfg *config.Benchmark) int {
	n := 0
	for i := range cfg.Phases {
		if p := &cfg.Phases[i]; p.Kind == config.KindProfiling {
			if config.Value(p.Requests) == 0 {
				return 0
			}
			n += *p.Requests
		}
	}
	return n
}

// sendingTime returns the total sending time of the phases. open is true if the server's speed decides the time of some phases, which are not counted.
func sendingTime(cfg *config.Benchmark, data dataset.Dataset) (total time.Duration, open bool) {
	for i := range cfg.Phases {
		p := &cfg.Phases[i]
		t := duration(p.Duration)
		switch paced := (p.Type.HasRate() || p.Type == config.PhaseUserCentric) && config.Value(p.Rate) > 0; {
		case paced && config.Value(p.Requests) > 0:
			t = shorter(t, time.Duration(float64(*p.Requests) / *p.Rate * float64(time.Second)))
		case p.Type == config.PhaseFixedSchedule:
			t = shorter(t, scheduleLength(data))
		case !paced && (config.Value(p.Requests) > 0 || config.Value(p.Sessions) > 0):
			t = 0 // the request or session count may end the phase long before its duration
		}
		total, open = total+t, open || t == 0
	}
	return total, open
}

// shorter returns the shorter of two times; 0 means no limit.
func shorter(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// scheduleLength returns the time between the first and the last instant of the data.
func scheduleLength(data dataset.Dataset) time.Duration {
	first, last := math.Inf(1), math.Inf(-1)
	drawn := data.Len()
	for i := range dataset.All(data) {
		at := math.NaN()
		for _, t := range data.Timings(dataset.Nth(i, drawn)) {
			switch {
			case t.Timestamp != nil:
				at = *t.Timestamp
			case t.Delay != nil:
				at += *t.Delay
			}
			if !math.IsNaN(at) {
				first, last = min(first, at), max(last, at)
			}
		}
	}
	if first >= last {
		return 0
	}
	return time.Duration((last - first) * float64(time.Millisecond))
}

// String formats the forecast in one line: "37 prompts, mean 512 tokens, about 3 min".
func (f *Forecast) String() string {
	text := strconv.Itoa(f.Prompts) + " prompts"
	if f.Prompts == 1 {
		text = "1 prompt"
	}
	if !math.IsNaN(f.Tokens) {
		text += fmt.Sprintf(", mean %.0f tokens", f.Tokens)
		if f.First > 0 {
			text += " in the first " + strconv.Itoa(f.First)
		}
	}
	if f.Open && f.Requests > 0 {
		text += ", " + terminal.Plural(f.Requests, "request")
		if f.Time == 0 {
			text += " as fast as the server answers"
		}
	}
	if f.Time > 0 {
		text += ", " + About(f.Time, f.Open)
	}
	if f.Shares != "" {
		text += "; " + f.Shares
	}
	return text
}

// About formats a duration, rounded because it is only a forecast; open = the duration is a lower bound.
func About(d time.Duration, open bool) string {
	text := "about "
	if open {
		text = "at least "
	}
	switch {
	case d < 90*time.Second:
		return text + fmt.Sprintf("%d s", max(1, int(math.Round(d.Seconds()))))
	case d < 90*time.Minute:
		return text + fmt.Sprintf("%d min", int(math.Round(d.Minutes())))
	}
	return text + fmt.Sprintf("%.1f h", d.Hours())
}
