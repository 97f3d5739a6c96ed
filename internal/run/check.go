package run

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/assembly"
	"aiperf/internal/config"
	"aiperf/internal/dataset"
	"aiperf/internal/terminal"
)

// Forecast is what a run would send, as far as it can be told before.
type Forecast struct {
	Prompts  int           // request bodies of the dataset
	Tokens   float64       // of a prompt, on average; NaN = they are not counted here
	First    int           // conversations at the beginning that the average is of; 0 = of all, or of some from everywhere
	Requests int           // of all profiling phases; 0 = something but requests ends one of them
	Time     time.Duration // of sending, of the phases that say how long they send
	Open     bool          // the server's speed decides how long the others send
}

// Check tries everything that a run may refuse before its first request: every row of the data as a request body, the tokenizer, the
// schedule, the limits of this machine. It writes no file and sends nothing. Warnings go where those of the run would.
func Check(ctx context.Context, cfg *config.Benchmark, seed *config.Seed, opts Options) (*Forecast, error) {
	opts.Progress = 0
	say := newReporter(ctx, cfg.Logging.Level, &opts, cfg)
	r, err := resolve(ctx, cfg, seed, opts.Version, say)
	if err != nil {
		return nil, err
	}
	if err := checkMachine(cfg, r, say.warn); err != nil {
		return nil, err
	}
	if err := checkBodies(ctx, r, &prepared{data: r.data}, true, say.warn); err != nil {
		return nil, err
	}
	f := &Forecast{Prompts: r.data.Info().Turns, Tokens: math.NaN()}
	if err := r.countPrompts(ctx, cfg, f); err != nil {
		return nil, err
	}
	f.Requests = requests(cfg)
	f.Time, f.Open = sendingTime(cfg, r.data)
	return f, nil
}

// countedConversations is about how many conversations of a dataset are counted for the mean.
const countedConversations = 500

// madeTokens is how many tokens are made for it.
var madeTokens = 2_000_000

// countPrompts takes the mean over conversations from all over the dataset; where their texts are made, one after the other, over the first.
func (r *resolved) countPrompts(ctx context.Context, cfg *config.Benchmark, f *Forecast) error {
	count, err := r.promptCounter(cfg)
	if err != nil || count == nil {
		return err
	}
	n, tokens, all := 0, 0, dataset.All(r.data)
	step, made := max(1, all/countedConversations), false
	if all > 0 {
		_, written := r.data.Draft(0)
		made = !written
	}
	if made {
		step = 1
	}
	for i := 0; i < all; i += step {
		if made && (i == countedConversations || tokens > madeTokens) {
			f.First = i
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		c := r.data.Conversation(dataset.Nth(i, r.data.Len()))
		for k := range c.Turns {
			req, err := alone(r.codec, c, k)
			if err != nil {
				return fmt.Errorf("conversation %s, turn %d: %w", c.ID, k+1, err)
			}
			n++
			tokens += count(req.Body.Bytes())
		}
	}
	if n > 0 {
		f.Tokens = float64(tokens) / float64(n)
	}
	return nil
}

// checkMachine checks the limits of the machine. A simulated server stands for any.
func checkMachine(cfg *config.Benchmark, r *resolved, warn func(string)) error {
	urls := make([]string, len(cfg.Endpoint.URLs))
	for i, u := range cfg.Endpoint.URLs {
		if urls[i] = u; strings.HasPrefix(u, mockScheme) {
			urls[i] = "http://127.0.0.1:1"
		}
	}
	addresses, err := newAddresses(urls, cfg, r.endpoint)
	if err != nil {
		return err
	}
	connections := Connections(cfg, warn)
	if err := connections.Check(); err != nil {
		return inWords(cfg, err)
	}
	warnings, err := machineBudget().check(r.scenario, addresses.list, connections.Reuse, cfg.As)
	for _, w := range warnings {
		warn(w)
	}
	return err
}

// promptCounter counts the tokens of a request body as the run counts its input; nil where the run does not.
func (r *resolved) promptCounter(cfg *config.Benchmark) (func(payload []byte) int, error) {
	if !assembly.Counts(cfg, r.endpoint) || !r.endpoint.TokenizesInput {
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

// requests are those of all profiling phases; 0 when one of them ends otherwise.
func requests(cfg *config.Benchmark) int {
	n := 0
	for i := range cfg.Phases {
		if p := &cfg.Phases[i]; p.Kind == config.KindProfiling {
			if value(p.Requests) == 0 {
				return 0
			}
			n += *p.Requests
		}
	}
	return n
}

// sendingTime is how long the phases send, one after the other; open when some of them, not counted here, go as fast as the server answers.
func sendingTime(cfg *config.Benchmark, data dataset.Dataset) (total time.Duration, open bool) {
	for i := range cfg.Phases {
		p := &cfg.Phases[i]
		t := duration(p.Duration)
		switch paced := (p.Type.HasRate() || p.Type == config.PhaseUserCentric) && value(p.Rate) > 0; {
		case paced && value(p.Requests) > 0:
			t = shorter(t, time.Duration(float64(*p.Requests) / *p.Rate * float64(time.Second)))
		case p.Type == config.PhaseFixedSchedule:
			t = shorter(t, scheduleLength(data))
		case !paced && (value(p.Requests) > 0 || value(p.Sessions) > 0):
			t = 0 // these may end it long before its time
		}
		total, open = total+t, open || t == 0
	}
	return total, open
}

// shorter is the shorter of two times of which 0 is none.
func shorter(a, b time.Duration) time.Duration {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// scheduleLength is the time between the first and the last instant of the data.
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

// String is the forecast in one line: "37 prompts, mean 512 tokens, about 3 min".
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
	return text
}

// About is a length of time in words, no more exact than a forecast is; open when it is the least that it can be.
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
