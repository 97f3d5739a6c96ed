package pipeline

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
)

// lines is a sink that keeps one line per request.
type lines struct {
	mu     sync.Mutex
	got    bytes.Buffer
	fail   error
	closed bool
}

func (l *lines) Encode(dst []byte, rec *record.Record, _ *record.Reply, _ *metric.Row) []byte {
	return append(append(dst, rec.RequestID...), '\n')
}

func (l *lines) Write(p []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fail != nil {
		return l.fail
	}
	l.got.Write(p)
	return nil
}

func (l *lines) Close() error { l.closed = true; return nil }

// request is a finished request with one message of content.
func request(i int) *record.Record {
	return &record.Record{
		Meta: record.Meta{RequestID: fmt.Sprint(i), Warmup: i%10 == 0}, Start: 10, End: int64(1000 + i), WallOffset: 1e18,
		Messages: []record.Message{{At: int64(900 + i), Raw: []byte("data: a")}},
	}
}

// decode gives every message as content.
func decode(rec *record.Record) (*record.Reply, *record.Error) {
	reply := &record.Reply{PerChunkTokens: -1, Output: "a b", InputTexts: []string{"x", "y"}}
	for i := range rec.Messages {
		reply.Contents = append(reply.Contents, record.Content{At: rec.Messages[i].At, Message: i, Text: "a"})
	}
	return reply, nil
}

func words(_, text string) (int, error) { return len(strings.Fields(text)), nil }

func options(t *testing.T, sinks ...Sink) Options {
	t.Helper()
	set, err := metric.NewSelection(metric.Options{Streaming: true, ProducesTokens: true, TokenizesInput: true})
	if err != nil {
		t.Fatal(err)
	}
	return Options{Metrics: set, Decode: decode, Count: words, Sinks: sinks, SpillDir: t.TempDir()}
}

// TestPut: everything that is put comes out once, also what found the queue full.
func TestPut(t *testing.T) {
	sink := &lines{}
	o := options(t, sink)
	gate := make(chan struct{})
	o.Decode = func(rec *record.Record) (*record.Reply, *record.Error) { <-gate; return decode(rec) }
	o.Queue, o.Workers = 4, 2
	p := New(o)
	const n = 200
	var released atomic.Int64
	for i := range n { // no worker moves: Put must not wait
		rec := request(i)
		rec.OnRelease(func() { released.Add(1) })
		p.Put(rec)
	}
	largest, spilled := p.Backlog()
	if spilled < n-4-2-1 || largest > 4 {
		t.Errorf("%d spilled, backlog %d", spilled, largest)
	}
	close(gate)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if released.Load() != n {
		t.Errorf("%d of %d records were released", released.Load(), n)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(sink.got.String()) {
		seen[strings.TrimSpace(line)] = true
	}
	valid, failed, _ := p.Profiling().Counts()
	warm, _, _ := p.Warmup().Counts()
	if len(seen) != n || valid != n*9/10 || warm != n/10 || failed != 0 || !sink.closed {
		t.Errorf("%d lines, %d valid, %d warm-up, %d failed", len(seen), valid, warm, failed)
	}
	s := p.Profiling().Summary(metric.Window{})
	if got := s.Value("output_sequence_length", metric.Avg); got != 2 {
		t.Errorf("OSL %v, not 2", got)
	}
	left, err := filepath.Glob(filepath.Join(o.SpillDir, "*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestFeed: what one goroutine feeds comes out in its order.
func TestFeed(t *testing.T) {
	sink := &lines{}
	o := options(t, sink)
	o.Workers = 8
	p := New(o)
	var want strings.Builder
	for i := range 500 {
		p.Feed(request(i))
		fmt.Fprintln(&want, i)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if sink.got.String() != want.String() {
		t.Error("the order is not that of feeding")
	}
}

// TestWriteError: a full disk ends its file, not the measurement.
func TestWriteError(t *testing.T) {
	full, fine := &lines{fail: errors.New("no space left on device")}, &lines{}
	p := New(options(t, full, fine))
	for i := range 50 {
		p.Put(request(i))
	}
	err := p.Close()
	if err == nil || !strings.Contains(err.Error(), "no space left") || strings.Count(err.Error(), "no space left on device; this file has only a part of the records") != 1 {
		t.Errorf("error %v", err)
	}
	if valid, _, _ := p.Profiling().Counts(); valid != 45 || strings.Count(fine.got.String(), "\n") != 50 {
		t.Errorf("%d valid, %d lines", valid, strings.Count(fine.got.String(), "\n"))
	}
}

// TestNoSpill: without a temporary file Put waits for room and loses nothing.
func TestNoSpill(t *testing.T) {
	o := options(t)
	o.SpillDir = filepath.Join(o.SpillDir, "missing")
	o.Queue, o.Workers = 1, 1
	p := New(o)
	for i := range 100 {
		p.Put(request(i))
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if valid, _, _ := p.Profiling().Counts(); valid != 90 {
		t.Errorf("%d valid, not 90", valid)
	}
}

// TestSpillRoundTrip: a record comes back from the file as it was.
func TestSpillRoundTrip(t *testing.T) {
	s := spill{dir: t.TempDir()}
	at := 0.0 // a pointer to an empty value is a pointer, too
	rec := request(7)
	rec.Error = &record.Error{Code: 500, Type: "X", Message: "m", Chain: []string{"a"}}
	rec.Trace = &record.Trace{SendStart: 5, LocalIP: "::1"}
	rec.TurnTimestamp = &at
	rec.Payload = record.Plain([]byte(`{"a":1}`))
	if err := s.put(rec); err != nil {
		t.Fatal(err)
	}
	var got *record.Record
	if err := s.drain(func(r *record.Record) { got = r }); err != nil {
		t.Fatal(err)
	}
	if got.RequestID != "7" || got.Error.Chain[0] != "a" || got.Trace.LocalIP != "::1" || got.TurnTimestamp == nil || *got.TurnTimestamp != at || string(got.Payload.Bytes()) != `{"a":1}` || string(got.Messages[0].Raw) != "data: a" {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(s.file.Name()); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
}

func TestCounts(t *testing.T) {
	usage := &record.Usage{Prompt: 30, Completion: 12, Reasoning: 5}
	for _, c := range []struct {
		name  string
		o     metric.Options
		reply *record.Reply
		want  record.Counts
	}{
		{"client", metric.Options{ProducesTokens: true, TokenizesInput: true}, &record.Reply{Output: "a b c", Reasoning: "r", InputTexts: []string{"x y", "z"}, InputTokens: 4, Usage: usage}, record.Counts{Input: 7, Output: 3, Reasoning: 1}},
		{"no text", metric.Options{ProducesTokens: true, TokenizesInput: true}, &record.Reply{Usage: usage}, record.Counts{Input: -1, Output: -1, Reasoning: -1}},
		{"ids only", metric.Options{ProducesTokens: true, TokenizesInput: true}, &record.Reply{InputTokens: 9}, record.Counts{Input: 9, Output: -1, Reasoning: -1}},
		{"embeddings", metric.Options{TokenizesInput: true}, &record.Reply{Output: "a", InputTexts: []string{"x"}}, record.Counts{Input: 1, Output: -1, Reasoning: -1}},
		{"server", metric.Options{ProducesTokens: true, TokenizesInput: true, ServerTokens: true}, &record.Reply{Output: "a", Usage: usage}, record.Counts{Input: 30, Output: 7, Reasoning: 5}},
		{"server, more reasoning than output", metric.Options{ProducesTokens: true, TokenizesInput: true, ServerTokens: true}, &record.Reply{Usage: &record.Usage{Prompt: -1, Completion: 3, Reasoning: 5}}, record.Counts{Input: -1, Output: 0, Reasoning: 5}},
		{"server without usage", metric.Options{ProducesTokens: true, TokenizesInput: true, ServerTokens: true}, &record.Reply{Output: "a"}, record.Counts{Input: -1, Output: -1, Reasoning: -1}},
		{"no reply", metric.Options{ProducesTokens: true}, nil, record.Counts{Input: -1, Output: -1, Reasoning: -1}},
	} {
		set, err := metric.NewSelection(c.o)
		if err != nil {
			t.Fatal(err)
		}
		p := &Pipeline{opts: Options{Metrics: set, Count: words}, inputs: newInputCounts()}
		if got := p.counts(&record.Record{Meta: record.Meta{Model: "m"}}, c.reply); got != c.want {
			t.Errorf("%s: %+v, not %+v", c.name, got, c.want)
		}
	}
}

// TestUncountedTexts: a text whose tokens cannot be counted has no number of tokens, and the row says why.
func TestUncountedTexts(t *testing.T) {
	opts := options(t)
	opts.Count = func(_, text string) (int, error) {
		if text == "a b" {
			return 7, errors.New("a text of 3 bytes needs more than 2 steps")
		}
		return 2, nil
	}
	p := New(opts)
	p.Feed(request(1))
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	rec := request(2)
	reply, _ := decode(rec)
	if c := p.counts(rec, reply); c.Output != -1 || c.Input != 2 || c.Missing != "a text of 3 bytes needs more than 2 steps" {
		t.Errorf("%+v", c)
	}
	if n := p.Profiling().Summary(metric.Window{}).Uncounted; n != 1 {
		t.Errorf("%d requests without a count", n)
	}
}
