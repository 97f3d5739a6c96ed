package exec

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/config"
	"aiperf/internal/measure/record"
	"aiperf/internal/run/connection"
	"aiperf/internal/run/inputs"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/transport"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/load"
)

// The cases of the conformance corpus (spec: transport, section 16) go over real sockets through the executor, and their records are read as
// those of a run: a script plays the server. Cases of URLs stand in package transport, those of extra inputs in package cli.

// played is a server that plays a script to each connection.
type played struct {
	url   string
	mu    sync.Mutex
	wrote []int64    // instant before each write of the last connection
	heads [][]string // lines of the heads of all requests
	conns int
	ended chan struct{} // one for each connection that this side has closed
}

// connections is the number of connections so far.
func (s *played) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns
}

// headsSeen are the heads of the requests so far.
func (s *played) headsSeen() [][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.heads)
}

// writes are the instants before each write of the last connection.
func (s *played) writes() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.wrote)
}

// play starts one.
func play(t testing.TB, script func(p *player)) *played {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &played{url: "http://" + l.Addr().String(), ended: make(chan struct{}, 1000)}
	var serving sync.WaitGroup
	var open []net.Conn
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns++
			s.wrote = nil
			open = append(open, c)
			s.mu.Unlock()
			serving.Go(func() {
				script(&player{played: s, TCPConn: c.(*net.TCPConn), in: bufio.NewReader(c)})
				_ = c.Close() // it may be closed already
				select {
				case s.ended <- struct{}{}:
				default: // more than the count goes to
				}
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		s.mu.Lock()
		for _, c := range open {
			_ = c.Close()
		}
		s.mu.Unlock()
		serving.Wait()
	})
	return s
}

// player is one connection of a played server.
type player struct {
	*played
	*net.TCPConn
	in *bufio.Reader
}

// request reads a request to its end; false = the client is gone.
func (p *player) request() bool {
	var head []string
	length := 0
	for {
		line, err := p.in.ReadString('\n')
		if err != nil {
			return false
		}
		if line = strings.TrimRight(line, "\r\n"); line == "" {
			break
		}
		_, _ = fmt.Sscanf(strings.ToLower(line), "content-length: %d", &length) // other lines do not match
		head = append(head, line)
	}
	p.mu.Lock()
	p.heads = append(p.heads, head)
	p.mu.Unlock()
	_, err := p.in.Discard(length)
	return err == nil
}

// say writes texts, one a write.
func (p *player) say(texts ...string) {
	for _, text := range texts {
		p.mu.Lock()
		p.wrote = append(p.wrote, clock.Now())
		p.mu.Unlock()
		if _, err := io.WriteString(p.TCPConn, text); err != nil {
			return
		}
	}
}

// pace writes texts with a pause between them.
func (p *player) pace(gap time.Duration, texts ...string) {
	for i, text := range texts {
		if i > 0 {
			time.Sleep(gap)
		}
		p.say(text)
	}
}

// gone waits until the client is.
func (p *player) gone() { _, _ = p.in.ReadByte() }

// reset ends the connection with RST.
func (p *player) reset() {
	_ = p.SetLinger(0)
	_ = p.Close()
}

// chunks is a body in chunked coding, one chunk a text, without its end.
func chunks(texts ...string) string {
	var b strings.Builder
	for _, text := range texts {
		fmt.Fprintf(&b, "%x\r\n%s\r\n", len(text), text)
	}
	return b.String()
}

const (
	sseHead  = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	lastPart = "0\r\n\r\n"
)

// asked says how a request of a case is made.
type asked struct {
	kind    string // endpoint type, "" = chat
	whole   bool   // not streamed
	strict  bool   // streams have to be complete
	extras  []endpoint.Member
	options func(o *transport.Options)
	headers transport.HeaderSet
	path    string // behind the server's URL
	cancel  time.Duration
	turns   int
	between func() // runs between turns
}

// got is what became of the last request of a case.
type got struct {
	*record.Record
	reply   *record.Reply
	failure *record.Error
	all     []*record.Record
	stats   transport.Stats
}

// asker sends the requests of cases through an executor.
type asker struct {
	executor *Executor
	codec    endpoint.Codec
	client   *transport.Client
	asked    asked
	done     []*record.Record
}

func newAsker(t testing.TB, url string, a asked) *asker {
	t.Helper()
	kind, _, err := endpoint.Lookup(cmp.Or(a.kind, "chat"))
	if err != nil {
		t.Fatal(err)
	}
	q := &asker{asked: a}
	if q.codec, err = kind.Codec(endpoint.Settings{Model: "m", Streaming: !a.whole, Complete: a.strict, Extras: a.extras}); err != nil {
		t.Fatal(err)
	}
	o := transport.DefaultOptions()
	o.Timeout = 20 * time.Second
	if a.options != nil {
		a.options(&o)
	}
	if q.client, err = transport.NewClient(o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.client.Close)
	b := &config.Default().Benchmark
	b.Endpoint.Streaming = !a.whole
	if a.path != "" {
		b.Endpoint.Path = &a.path
	}
	to, err := connection.NewAddresses([]string{url}, b, kind)
	if err != nil {
		t.Fatal(err)
	}
	a.headers.UserAgent, a.headers.Streaming = "aiperf/v", !a.whole
	turns := make([]conversation.Turn, max(1, a.turns))
	for i := range turns {
		turns[i] = conversation.Turn{Parts: conversation.Texts("", "hello")}
	}
	q.executor = &Executor{
		data: inputs.NewPreparedStore(&fixed{c: conversation.Conversation{ID: "c", Turns: turns}}), codec: q.codec, carrier: connection.HTTP{Client: q.client}, addresses: to, model: "m",
		headers: a.headers, put: func(r *record.Record) { q.done = append(q.done, r) },
		sticky: o.Reuse == transport.Sticky, dialLate: o.Reuse == transport.Never,
	}
	return q
}

// ask runs a session of one request, or of as many turns as were asked for, and reads the last record.
func (q *asker) ask(t testing.TB) *got {
	t.Helper()
	turns := max(1, q.asked.turns)
	q.done = nil
	s := &load.Session{ID: "s", Turns: turns}
	for i := range turns {
		if i > 0 && q.asked.between != nil {
			q.asked.between()
		}
		armed := q.executor.Prepare(t.Context(), &load.Request{Phase: &load.PhaseInfo{}, Session: s, Turn: i})
		issue := load.Issue{CancelAfter: -1, At: clock.Now()}
		if q.asked.cancel > 0 {
			issue.CancelAfter = q.asked.cancel
		}
		armed.Fire(issue)
		wait(armed, func(int64) {})
	}
	g := &got{Record: q.done[turns-1], all: q.done, stats: q.client.Stats()}
	g.reply, g.failure = endpoint.Decode(q.codec, g.Record, endpoint.DecodeOptions{})
	return g
}

// ask asks once.
func ask(t testing.TB, url string, a asked) *got {
	t.Helper()
	return newAsker(t, url, a).ask(t)
}

// texts are the contents, thoughts marked.
func (g *got) texts() (list []string) {
	for _, c := range g.reply.Contents {
		if c.Reasoning != "" {
			list = append(list, "think:"+c.Reasoning)
		}
		if c.Visible() {
			list = append(list, c.Text)
		}
	}
	return list
}

// is checks the outcome: "ok" with contents, or "CODE TYPE" of an error, of which the message holds a text; the contents are those that came.
func (g *got) is(t testing.TB, id, outcome, message string, contents ...string) {
	t.Helper()
	have := "ok"
	if e := g.failure; e != nil {
		have = strings.TrimPrefix(fmt.Sprintf("%d %s", e.Code, e.Type), "0 ")
		if !strings.Contains(e.Message, message) {
			t.Errorf("%s: message %.200q, want %q in it", id, e.Message, message)
		}
	}
	if have != outcome {
		t.Errorf("%s: %s (%+v), want %s", id, have, g.failure, outcome)
	}
	if list := g.texts(); !slices.Equal(list, contents) {
		t.Errorf("%s: contents %.300q, want %q", id, list, contents)
	}
}

// corpus checks that cases are those of the corpus and all of them.
func corpus(t *testing.T, kind string, ids []string, last int, extra ...string) {
	t.Helper()
	for i := 1; i <= last; i++ {
		extra = append(extra, fmt.Sprintf("%s%02d", kind, i))
	}
	slices.Sort(extra)
	slices.Sort(ids)
	if ids = slices.Compact(ids); !slices.Equal(ids, extra) {
		t.Errorf("cases %v\nwant %v", ids, extra)
	}
}

// template is a body of the type template.
var template = []endpoint.Member{{Key: "payload_template", Value: json.RawMessage(`"{\"text\": {{ text|tojson }}}"`)}}
