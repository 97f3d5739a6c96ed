package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"aiperf/internal/measure/record"
	"aiperf/internal/measure/stats"
	"aiperf/internal/report/artifact"
	"aiperf/internal/sim/mockserver"
)

// situation is a load together with a disturbance of the client.
type situation struct {
	name               string
	streams, rounds    int // requests in flight, and number of consecutive requests of each stream
	tokens, lump, size int
	ttft, itl          time.Duration
	secret, http2      bool
	busy, stops        int           // number of programs that keep a core busy; number of stops of the client
	stop               time.Duration // length of each stop
	nice, oneCore      bool
	capture            bool
	long               bool // omitted in a quick suite
}

// situations returns the situations of the figure. A value of 0 means that of the usual load: 20 streams, TTFT 60 ms, ITL 10 ms.
func situations() []situation {
	ms := time.Millisecond
	list := []situation{
		{name: "quiet"}, {name: "quiet", secret: true}, {name: "quiet", http2: true}, {name: "quiet", secret: true, http2: true},
		{name: "100 streams", streams: 100, tokens: 100},
		{name: "3 events a write", lump: 3}, {name: "3 events a write", lump: 3, http2: true},
		{name: "1 busy loop", busy: 1}, {name: "2 busy loops", busy: 2}, {name: "4 busy loops", busy: 4},
		{name: "4 busy loops", busy: 4, secret: true}, {name: "4 busy loops", busy: 4, http2: true}, {name: "4 busy loops", busy: 4, http2: true, secret: true},
		{name: "stop 20 ms x 30", stops: 30, stop: 20 * ms}, {name: "stop 60 ms x 30", stops: 30, stop: 60 * ms},
		{name: "stop 60 ms x 30", stops: 30, stop: 60 * ms, http2: true, secret: true},
		{name: "stop 200 ms", stops: 1, stop: 200 * ms}, {name: "stop 200 ms x 30", stops: 30, stop: 200 * ms, rounds: 20},
		{name: "stop 500 ms", stops: 1, stop: 500 * ms}, {name: "stop 500 ms x 30", stops: 30, stop: 500 * ms, rounds: 20, long: true},
		{name: "stop 2 s", stops: 1, stop: 2000 * ms}, {name: "stop 2 s x 30", stops: 30, stop: 2000 * ms, rounds: 30, long: true},
		{name: "nice 19, 2 busy loops", nice: true, busy: 2}, {name: "nice 19, 4 busy loops, one core", nice: true, busy: 4, oneCore: true},
		{name: "one core", oneCore: true, streams: 100},
		{name: "200 streams, 2 busy loops", streams: 200, busy: 2}, {name: "200 streams, 2 busy loops", streams: 200, busy: 2, http2: true},
		{name: "500 streams, 1 busy loop", streams: 500, busy: 1},
		{name: "4000 streams", streams: 4000, tokens: 20, ttft: time.Second, itl: 200 * ms, rounds: 1},
		{name: "4000 streams, 1 busy loop, one core", streams: 4000, tokens: 20, ttft: time.Second, itl: 200 * ms, rounds: 1, busy: 1, oneCore: true},
		{name: "4000 streams, stop 500 ms", streams: 4000, tokens: 20, ttft: time.Second, itl: 200 * ms, rounds: 1, stops: 3, stop: 500 * ms},
		{name: "events of 16 KB, 2 busy loops", size: 16 << 10, busy: 2}, {name: "events of 100 KB, stop 200 ms x 5", size: 100 << 10, stops: 5, stop: 200 * ms},
		{name: "4 busy loops, capture", busy: 4, capture: true},
	}
	for i := range list {
		list[i].defaults()
	}
	return list
}

func (s *situation) defaults() {
	for value, usual := range map[*int]int{&s.streams: 20, &s.rounds: 6, &s.tokens: 40} {
		if *value == 0 {
			*value = usual
		}
	}
	if s.ttft == 0 {
		s.ttft, s.itl = 60*time.Millisecond, 10*time.Millisecond
	}
}

// String returns the name of the situation with its protocol.
func (s situation) String() string {
	name := s.name
	if s.http2 {
		name += ", HTTP/2"
	}
	if s.secret {
		name += ", TLS"
	}
	return name
}

// certaintyFigure compares what a run reports about its instants with a server's own log: the earliest and the latest arrival of each message, and
// the bounds of each statistic.
func certaintyFigure(b *suite) error {
	b.row("situation", "messages", "too late", "most", "too early", "most", "inside", "uncertain", "width p50", "p99", "verdict", "aim")
	var report certaintyReport
	for _, s := range situations() {
		if b.short && s.long || !strings.Contains(s.String(), b.situation) {
			continue
		}
		if b.short {
			s.rounds = (s.rounds + 1) / 2
		}
		if err := whileBusy(s.busy, func() error { return b.certainty(s, &report) }); err != nil {
			return fmt.Errorf("%v: %w", s, err)
		}
		b.flush()
	}
	report.print(b)
	return nil
}

// certainty runs one situation.
func (b *suite) certainty(s situation, report *certaintyReport) error {
	truth := filepath.Join(b.dir, "truth.jsonl")
	server, err := startWitness(witnessOptions{TTFT: s.ttft, ITL: s.itl, Tokens: s.tokens, Lump: s.lump, Size: s.size, Truth: truth})
	if err != nil {
		return err
	}
	dir, err := b.disturbed(s, server)
	server.stop()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) // the files are large
	c, err := newComparison(truth, dir)
	if err != nil {
		return err
	}
	v, err := readValidity(dir)
	if err != nil {
		return err
	}
	written, err := readBounds(dir)
	if err != nil {
		return err
	}
	share := func(n int) string { return fmt.Sprintf("%.2f %%", 100*float64(n)/float64(c.messages)) }
	b.row(s, c.messages, c.late, span(float64(c.worstLate)), c.early, span(float64(c.worstEarly)), share(c.messages-c.late-c.early),
		share(c.uncertain), span(c.widths.at(.5)), span(c.widths.at(.99)), v.Verdict, "inside 99.7 %")
	report.judge(s, c, v.Verdict, written)
	return nil
}

// disturbed runs the client with the disturbance of the situation.
func (b *suite) disturbed(s situation, server *childServer) (dir string, err error) {
	b.runs++
	dir = fmt.Sprintf("%s/run%d", b.dir, b.runs)
	url := server.plain
	if s.secret {
		url = server.secret
	}
	args := []string{b.aiperf, "profile", "--model", "mock", "--ui", "none", "--random-seed", "1", "--artifact-dir", dir, "--url", url, "--tls-insecure",
		"--tokenizer", "builtin", "--streaming", "--isl", "16", "--concurrency", strconv.Itoa(s.streams),
		"--request-count", strconv.Itoa(s.streams * s.rounds), "--export-level", "raw", "--capture", "off"}
	if s.capture {
		args[len(args)-1] = "auto"
	}
	if s.http2 {
		args = append(args, "--http-version", "2")
	}
	if s.nice {
		args = append([]string{"nice", "-n", "19"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = os.Environ()
	if s.oneCore {
		cmd.Args = append([]string{"taskset", "-c", "0"}, args...)
		if cmd.Path, err = exec.LookPath("taskset"); err != nil {
			return dir, err
		}
		cmd.Env = append(cmd.Env, "GOMAXPROCS=1")
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return dir, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	time.Sleep(time.Second) // time for the start
	for range s.stops {
		pause(cmd.Process) // a process that has ended cannot be stopped
		time.Sleep(s.stop)
		resume(cmd.Process)
		time.Sleep(max(50*time.Millisecond, s.stop/2))
	}
	if err := <-done; err != nil {
		var ended *exec.ExitError
		if !errors.As(err, &ended) {
			return dir, err
		}
		if _, missing := os.Stat(dir + "/profile_export_aiperf.json"); missing != nil {
			return dir, fmt.Errorf("%w\n%s", err, tail(out.Bytes()))
		}
	}
	return dir, nil
}

// comparison compares a run with the log of its server.
type comparison struct {
	messages, late, early int // events; events that arrived after the reported instant; events that arrived before the reported lower bound
	uncertain             int // bounds wider than 4 % of the distance from the start, and than 50 µs
	widths                sample
	worstLate, worstEarly int64                // ns
	values                map[string]*estimate // by metric
}

// estimate holds for a metric, by request, the reported value, its bounds and the truth, in ns.
type estimate struct{ reported, low, high, truth []float64 }

// certainMetrics are the metrics whose statistics are compared.
var certainMetrics = []string{"time_to_first_token", "inter_token_latency", "request_latency"}

// statistic is a statistic to compare.
type statistic struct {
	name string
	of   func(d *stats.Distribution) float64
}

var statistics = []statistic{
	{"avg", func(d *stats.Distribution) float64 { return d.Avg }},
	{"p50", func(d *stats.Distribution) float64 { return d.P[4] }},
	{"p90", func(d *stats.Distribution) float64 { return d.P[6] }},
	{"p99", func(d *stats.Distribution) float64 { return d.P[8] }},
}

// of returns a statistic of the reported values, of both bounds and of the truth, in ns.
func (e *estimate) of(s statistic) (stated, low, high, right float64) {
	at := func(v []float64) float64 { d := stats.Describe(v); return s.of(&d) }
	return at(e.reported), at(e.low), at(e.high), at(e.truth)
}

// stampNoise is the largest difference, in ns, between two kernel stamps of one packet: that of the socket and that of the capture. Most differ by
// 0.5 µs, on a crowded machine some by 50 µs, because interrupts are served in between.
const stampNoise = 50_000

func newComparison(truth, dir string) (*comparison, error) {
	writes := map[string][]mockserver.Write{}
	err := eachLine(truth, func(t *mockserver.Truth) {
		var list []mockserver.Write
		for _, w := range t.Writes {
			for range w.Events {
				list = append(list, w)
			}
		}
		writes[t.RequestID] = list
	})
	if err != nil {
		return nil, err
	}
	tokens, err := tokensOf(dir)
	if err != nil {
		return nil, err
	}
	c := &comparison{values: map[string]*estimate{}}
	for _, name := range certainMetrics {
		c.values[name] = new(estimate)
	}
	err = artifact.ReadRaw(dir+"/profile_export_raw.jsonl", func(rec *record.Record) error {
		if rec.Error != nil {
			return fmt.Errorf("a request failed: %s", rec.Error.Message)
		}
		list := writes[rec.RequestID]
		events := contents(rec)
		if len(events) != len(list) || len(list) == 0 {
			return fmt.Errorf("request %s: %d events received, %d sent", rec.RequestID, len(events), len(list))
		}
		c.request(rec, events, list, tokens[rec.RequestID])
		return nil
	})
	if err == nil && c.messages == 0 {
		err = fmt.Errorf("%s: no messages to compare", dir)
	}
	return c, err
}

// tokensOf returns the output tokens of every request of a run, by request id. An event may hold many tokens, and the ITL is per token.
func tokensOf(dir string) (map[string]int, error) {
	tokens := map[string]int{}
	type row struct {
		Metadata struct {
			ID string `json:"x_request_id"`
		}
		Metrics struct {
			Tokens struct{ Value float64 } `json:"output_sequence_length"`
		}
	}
	err := eachLine(dir+"/profile_export.jsonl", func(r *row) { tokens[r.Metadata.ID] = int(r.Metrics.Tokens.Value) })
	return tokens, err
}

// isDone reports whether an event of an export is the end mark of its stream.
func isDone(m *record.Message) bool {
	return len(m.Fields()) == 1 && m.Fields()[0].Name == "data" && m.Fields()[0].Value == "[DONE]"
}

// contents returns the events of an answer that carry text.
func contents(rec *record.Record) (list []record.Message) {
	for _, m := range rec.Messages {
		if !isDone(&m) {
			list = append(list, m)
		}
	}
	return list
}

// request compares one request with the given number of output tokens. The arrival of an event is known only within the duration of the server's write.
func (c *comparison) request(rec *record.Record, events []record.Message, list []mockserver.Write, tokens int) {
	arrived := make([]int64, len(events))
	for i, m := range events {
		at := rec.Wall(m.At)
		earliest := at - m.UncertainNs
		c.messages++
		switch w := list[i]; {
		case at < w.Before-stampNoise:
			c.late++
			c.worstLate = max(c.worstLate, w.Before-at)
		case earliest > w.After+stampNoise:
			c.early++
			c.worstEarly = max(c.worstEarly, earliest-w.After)
		}
		arrived[i] = min(max(at, list[i].Before), list[i].After)
		c.widths.add(m.UncertainNs)
		if m.UncertainNs > max(50_000, (m.At-rec.Start)/25) {
			c.uncertain++
		}
	}
	start, n := rec.Wall(rec.Start), len(events)-1
	first, last := events[0], events[n]
	add := func(metric string, divisor, stated, low, high, right int64) {
		e, by := c.values[metric], float64(divisor)
		e.reported, e.low = append(e.reported, float64(stated)/by), append(e.low, float64(low)/by)
		e.high, e.truth = append(e.high, float64(high)/by), append(e.truth, float64(right)/by)
	}
	v := first.At - rec.Start
	add("time_to_first_token", 1, v, v-first.UncertainNs, v, arrived[0]-start)
	v = last.At - rec.Start
	add("request_latency", 1, v, v-last.UncertainNs, v, arrived[n]-start)
	if n > 0 && tokens > 1 {
		v = last.At - first.At
		add("inter_token_latency", int64(tokens-1), v, v-last.UncertainNs, v+first.UncertainNs, arrived[n]-arrived[0])
	}
}

// statedBounds are the bounds in the summary, by metric and statistic, in ms.
type statedBounds map[string]map[string]struct{ Low, High float64 }

func readBounds(dir string) (statedBounds, error) {
	var summary struct{ Validity struct{ Bounds statedBounds } }
	b, err := os.ReadFile(dir + "/profile_export_aiperf.json")
	if err == nil {
		err = json.Unmarshal(b, &summary)
	}
	return summary.Validity.Bounds, err
}

// judge compares each statistic of a situation with the truth, and checks the verdict against the result.
func (r *certaintyReport) judge(s situation, c *comparison, verdict string, written statedBounds) {
	worst := 0.0
	for _, metric := range certainMetrics {
		for _, one := range statistics {
			stated, low, high, right := c.values[metric].of(one)
			source := "messages"
			if b, ok := written[metric][one.name]; ok {
				low, high, source = b.Low*1e6, b.High*1e6, "summary"
			}
			inside := "inside"
			if right < low-stampNoise || right > high+stampNoise {
				inside = fmt.Sprintf("OUTSIDE by %s", span(max(low-right, right-high)))
				r.outside++
			}
			off := math.Abs(stated-right) / right
			worst = max(worst, off)
			r.lines = append(r.lines, []any{s, metric, one.name, span(stated), span(low), span(high), span(right), fmt.Sprintf("%.1f %%", 100*off), inside, source, verdict})
		}
	}
	r.all++
	switch {
	case verdict == "valid" && worst > .05:
		r.missed++
	case verdict == "uncertain" && worst <= .01:
		r.falseAlarms++
	}
}

// certaintyReport collects the statistics of all situations.
type certaintyReport struct {
	lines                             [][]any
	all, missed, falseAlarms, outside int
}

// print adds a table of all statistics and the counts.
func (r *certaintyReport) print(b *suite) {
	b.section("Each statistic: reported value, bounds, and true value")
	b.row("situation", "metric", "statistic", "stated", "low", "high", "truth", "error", "true value and bounds", "bounds from", "verdict")
	for _, line := range r.lines {
		b.row(line...)
	}
	b.flush()
	b.section("Verdicts")
	b.row("situations", "missed: verdict valid, but a statistic is wrong by more than 5 %", "false alarm: verdict uncertain, but all statistics are within 1 %", "statistics outside their bounds")
	b.row(r.all, r.missed, r.falseAlarms, fmt.Sprintf("%d of %d", r.outside, len(r.lines)))
}
