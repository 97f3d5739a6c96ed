package mockserver

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/base/setting"
)

// Options are the options of the server.
type Options struct {
	TTFT           time.Duration // from the complete request to the first content event
	ITL            time.Duration // between content events
	Jitter         float64       // every gap is multiplied by a factor drawn uniformly from 1-Jitter .. 1+Jitter
	TokensPerEvent int
	Tokens         int      // natural length of an answer
	Reasoning      float64  // fraction of the tokens that is reasoning (chat)
	ErrorRate      float64  // fraction of the requests that fail
	ErrorKinds     []string // kinds of failures, drawn uniformly
	Usage          bool     // report token counts if the request asks for them
	UsageIn        string   // which events of a stream report them (chat, completions): usageOwn, usageFinish, usageEvery
	PromptFactor   float64  // factor for the reported prompt token counts
	ReasoningField string   // member of chat answers that holds reasoning
	Done           bool     // streams end with data: [DONE] if their API has it
	EOS            string   // treatment of ignore_eos and min_tokens: eosHonour, eosIgnore, eosRefuse
	CountPrompt    bool     // count the prompt's tokens exactly (costs CPU); otherwise report the number of words
	Seed           uint64
	Model          string        // model in /v1/models
	AnswersAs      string        // model in answers, "" = the requested one
	Dimensions     int           // length of embedding vectors
	Nagle          bool          // leave Nagle's algorithm on: a small event waits until the client has acknowledged the previous one
	Lump           time.Duration // hold back events of streams and write them together at this interval; 0 = each at its instant
	DCGM           int           // number of GPUs in /dcgm/metrics
	PrefixCache    string        // cacheOff, cacheOn, cacheCounters
	Capacity       int           // maximum number of HTTP requests served at once, the others wait in order; 0 = no limit
	TruthLog       string        // file for the server's own instants, "" = none
}

// Defaults returns the default options.
func Defaults() Options {
	var o Options
	for _, k := range knobs {
		if err := k.set(&o, k.Default); err != nil {
			panic("mockserver: default of " + k.Name + ": " + err.Error())
		}
	}
	return o
}

// Knob describes one option: a flag of `aiperf mock-server` and a parameter of a mock:// URL.
type Knob struct {
	Name    string
	Default string
	Usage   string
	set     func(o *Options, v string) error
}

// Row returns the option as a flag.
func (k Knob) Row() setting.Row {
	row := setting.Row{Flags: []string{"--" + k.Name}, Kind: setting.Text, Default: k.Default, Help: k.Usage}
	_, whole := strconv.Atoi(k.Default)
	_, span := time.ParseDuration(k.Default)
	switch {
	case k.Default == "true" || k.Default == "false":
		row.Kind, row.Words = setting.Bool, true
	case k.Default == "" && k.Name == "truth-log":
		row.Kind = setting.Path
	case k.Default == "0", strings.Contains(k.Default, "."): // a fraction or a factor
		row.Kind = setting.Float
	case whole == nil:
		row.Kind, row.Big = setting.Int, true
	case span == nil:
		row.Kind, row.Unit = setting.Float, "s"
	}
	return row
}

// Error kinds other than http-NNN.
const (
	kindSSE   = "sse"
	kindClose = "close"
	kindReset = "reset"
	kindStall = "stall"
	kindSlow  = "slow"
	kindHang  = "hang" // no answer at all
)

// Events of a stream that report token counts.
const (
	usageOwn    = "own"    // a separate event after the last one
	usageFinish = "finish" // the event with the finish reason
	usageEvery  = "every"  // every event
)

// Treatments of ignore_eos and min_tokens.
const (
	eosHonour = "honour"
	eosIgnore = "ignore"
	eosRefuse = "refuse" // status 400
)

var errorKinds = []string{kindSSE, kindClose, kindReset, kindStall, kindSlow, kindHang}

var knobs = []Knob{
	{"ttft", "20ms", "time from the complete request to the first content event",
		func(o *Options, v string) (err error) { o.TTFT, err = duration(v); return }},
	{"itl", "5ms", "time between content events",
		func(o *Options, v string) (err error) { o.ITL, err = duration(v); return }},
	{"jitter", "0", "multiply every gap by a random factor from 1-jitter to 1+jitter (0 to 1)",
		func(o *Options, v string) (err error) { o.Jitter, err = share(v); return }},
	{"tokens-per-event", "1", "tokens in one streamed event",
		func(o *Options, v string) (err error) { o.TokensPerEvent, err = whole(v, 1, 10000); return }},
	{"tokens", "64", "length of an answer that ends by itself, in tokens; max_tokens, min_tokens and ignore_eos of the request override it",
		func(o *Options, v string) (err error) { o.Tokens, err = whole(v, 1, 10_000_000); return }},
	{"reasoning", "0", "share of reasoning tokens, chat only (0 to 1)",
		func(o *Options, v string) (err error) { o.Reasoning, err = share(v); return }},
	{"error-rate", "0", "share of failing requests (0 to 1)",
		func(o *Options, v string) (err error) { o.ErrorRate, err = share(v); return }},
	{"error-kinds", "http-500", "kinds of failures, equally likely, joined by commas (in URLs by plus signs): http-NNN, sse, close, reset, stall (in the middle of the answer), slow, hang (no answer)",
		func(o *Options, v string) (err error) { o.ErrorKinds, err = kinds(v); return }},
	{"usage", "true", "report token counts if the request asks for them",
		func(o *Options, v string) (err error) { o.Usage, err = parseBool(v); return }},
	{"usage-in", usageOwn, "stream events with token counts, chat and completions only: own (an additional last event), finish (the event with the finish reason), every",
		func(o *Options, v string) (err error) {
			o.UsageIn, err = oneOf(v, usageOwn, usageFinish, usageEvery)
			return
		}},
	{"prompt-factor", "1.0", "factor for the reported prompt token counts, to simulate another tokenizer (0.1 to 10)",
		func(o *Options, v string) (err error) { o.PromptFactor, err = factor(v); return }},
	{"reasoning-field", "reasoning_content", "JSON key for reasoning, chat only: reasoning_content, reasoning",
		func(o *Options, v string) (err error) {
			o.ReasoningField, err = oneOf(v, "reasoning_content", "reasoning")
			return
		}},
	{"done", "true", "end streams with data: [DONE], if their API has it",
		func(o *Options, v string) (err error) { o.Done, err = parseBool(v); return }},
	{"eos", eosHonour, "handling of ignore_eos and min_tokens: honour, ignore, refuse (status 400)",
		func(o *Options, v string) (err error) { o.EOS, err = oneOf(v, eosHonour, eosIgnore, eosRefuse); return }},
	{"count-prompt", "true", "count prompt tokens with the built-in tokenizer; false = report the number of words",
		func(o *Options, v string) (err error) { o.CountPrompt, err = parseBool(v); return }},
	{"seed", "1", "seed of the random draws; the same seed gives the n-th request the same answer",
		func(o *Options, v string) (err error) { o.Seed, err = strconv.ParseUint(v, 10, 64); return }},
	{"model", "mock", "model name in /v1/models",
		func(o *Options, v string) error { o.Model = v; return nil }},
	{"answers-as", "", "model name in answers, instead of the requested one",
		func(o *Options, v string) error { o.AnswersAs = v; return nil }},
	{"dimensions", "8", "length of embedding vectors",
		func(o *Options, v string) (err error) { o.Dimensions, err = whole(v, 1, 1<<20); return }},
	{"nagle", "false", "keep Nagle's algorithm on, as some servers do: small events wait for the acknowledgement of earlier ones",
		func(o *Options, v string) (err error) { o.Nagle, err = parseBool(v); return }},
	{"lump", "0s", "interval at which HTTP stream events are written together, like a buffering proxy; 0s = write each one immediately",
		func(o *Options, v string) (err error) { o.Lump, err = duration(v); return }},
	{"prefix-cache", cacheOff, "prefix cache in blocks of 64 bytes, without effect on latencies. on: usage (chat, completions) and /metrics report cached tokens; counters: only /metrics does; off",
		func(o *Options, v string) (err error) {
			o.PrefixCache, err = oneOf(v, cacheOff, cacheOn, cacheCounters)
			return
		}},
	{"dcgm", "0", "number of simulated GPUs of the exporter at /dcgm/metrics; GPU i draws 100 (i + 1) W (0 to 64)",
		func(o *Options, v string) (err error) { o.DCGM, err = whole(v, 0, 64); return }},
	{"capacity", "0", "number of HTTP requests served at the same time; the others wait in order; 0 = no limit",
		func(o *Options, v string) (err error) { o.Capacity, err = whole(v, 0, 1_000_000); return }},
	{"truth-log", "", "file for the server's own timestamps, one JSON line per request",
		func(o *Options, v string) error { o.TruthLog = v; return nil }},
}

// Knobs returns the options in the order of the documentation.
func Knobs() []Knob { return slices.Clone(knobs) }

// Set sets one option.
func (o *Options) Set(name, value string) error {
	for i := range knobs {
		if knobs[i].Name != name {
			continue
		}
		if err := knobs[i].set(o, value); err != nil {
			return fmt.Errorf("mock server option %s=%q: %w", name, value, plain(err))
		}
		return nil
	}
	names := make([]string, len(knobs))
	for i := range knobs {
		names[i] = knobs[i].Name
	}
	return fmt.Errorf("unknown mock server option %q; allowed are %s", name, strings.Join(names, ", "))
}

// Scheme is the beginning of the URL of a simulated server.
const Scheme = "mock://"

// ParseQuery parses the parameters of a mock:// URL (RawQuery).
func ParseQuery(query string) (Options, error) {
	o := Defaults()
	values, err := url.ParseQuery(query)
	if err != nil {
		return o, fmt.Errorf("mock server options %q: %w", query, err)
	}
	for _, name := range sorted(values) {
		for _, v := range values[name] {
			if err := o.Set(name, v); err != nil {
				return o, err
			}
		}
	}
	return o, nil
}

// Args converts the parameters of a mock:// URL to flags of `aiperf mock-server`.
func Args(query string) ([]string, error) {
	if _, err := ParseQuery(query); err != nil {
		return nil, err
	}
	values, _ := url.ParseQuery(query)
	var args []string
	for _, name := range sorted(values) {
		for _, v := range values[name] {
			args = append(args, "--"+name+"="+v)
		}
	}
	return args, nil
}

func sorted(values url.Values) []string {
	var names []string
	for name := range values {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func plain(err error) error {
	var e *strconv.NumError
	if errors.As(err, &e) {
		return fmt.Errorf("must be a whole number: %w", e.Err)
	}
	return err
}

func duration(v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if v == "0" {
		d, err = 0, nil
	}
	if _, number := strconv.ParseFloat(v, 64); err != nil && number == nil {
		return 0, fmt.Errorf("needs a unit, for example %sms", v)
	}
	if err != nil || d < 0 || d > time.Hour {
		return 0, fmt.Errorf("must be a duration from 0 to 1h, for example 50ms")
	}
	return d, nil
}

func share(v string) (float64, error) {
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || !(f >= 0 && f <= 1) {
		return 0, fmt.Errorf("must be a number from 0 to 1")
	}
	return f, nil
}

func factor(v string) (float64, error) {
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || !(f >= 0.1 && f <= 10) {
		return 0, fmt.Errorf("must be a number from 0.1 to 10")
	}
	return f, nil
}

func oneOf(v string, choices ...string) (string, error) {
	if !slices.Contains(choices, v) {
		return "", fmt.Errorf("allowed: %s", strings.Join(choices, ", "))
	}
	return v, nil
}

func whole(v string, lo, hi int) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < lo || n > hi {
		return 0, fmt.Errorf("must be a whole number from %d to %d", lo, hi)
	}
	return n, nil
}

func parseBool(v string) (bool, error) {
	b, err := strconv.ParseBool(v)
	if err != nil {
		return false, fmt.Errorf("must be true or false")
	}
	return b, nil
}

func kinds(v string) ([]string, error) {
	list := strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune(",+ ", r) })
	if len(list) == 0 {
		return nil, fmt.Errorf("at least one kind is needed")
	}
	for _, k := range list {
		if slices.Contains(errorKinds, k) || httpStatus(k) != 0 {
			continue
		}
		return nil, fmt.Errorf("unknown error kind %q; allowed are http-400 to http-599, %s", k, strings.Join(errorKinds, ", "))
	}
	return list, nil
}

// httpStatus returns the status of an error kind http-NNN; 0 = another kind.
func httpStatus(kind string) int {
	digits, ok := strings.CutPrefix(kind, "http-")
	if !ok || len(digits) != 3 {
		return 0
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 400 || n > 599 {
		return 0
	}
	return n
}

func reason(status int) string {
	if s := http.StatusText(status); s != "" {
		return s
	}
	return "Unknown"
}
