package transport

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/base/redact"
	"aiperf/internal/base/testrecording"
	"aiperf/internal/measure/record"
)

// goldenCase is one recorded response and what the Python tool, or we on purpose, make of it.
type goldenCase struct {
	Group    string
	Name     string
	Response []goldenWrite
	Close    string
	Early    bool
	Upstream struct {
		Outcome   string
		Status    *int
		Responses int
		Error     struct {
			Code    int
			Type    string
			Message string
		}
		Messages []json.RawMessage
	}
	Ours *struct {
		Outcome, Type, Message string
		Code                   int
	}
}

type goldenWrite struct {
	Text   string
	Bytes  []byte `json:"bytes_b64"`
	Repeat int
	Delay  int `json:"delay_ms"`
}

func goldenCases(t *testing.T) []goldenCase {
	t.Helper()
	return testrecording.Lines[goldenCase](t, "testdata/responses.jsonl.gz")
}

// rawServer hands every connection to serve.
func rawServer(t testing.TB, serve func(c *net.TCPConn, r *bufio.Reader)) *Target {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, c)
			mu.Unlock()
			serving.Go(func() {
				defer c.Close()
				serve(c.(*net.TCPConn), bufio.NewReader(c))
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range conns {
			c.Close()
		}
		mu.Unlock()
		serving.Wait()
	})
	return mustTarget(t, "http://"+l.Addr().String()+"/v1/chat/completions")
}

// readRequest reads one request and gives its head lines; false = the client has gone.
func readRequest(r *bufio.Reader) (head []string, ok bool) {
	length := 0
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return nil, false
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			break
		}
		fmt.Sscanf(strings.ToLower(line), "content-length: %d", &length)
		head = append(head, line)
	}
	_, err := r.Discard(length)
	return head, err == nil
}

func (g *goldenCase) serve(c *net.TCPConn, r *bufio.Reader) {
	if !g.Early {
		if _, ok := readRequest(r); !ok {
			return
		}
	}
	var due []byte // written at once: on a busy machine a second write may come after the client has read what it wants
	for i, w := range g.Response {
		if w.Delay > 0 {
			time.Sleep(time.Duration(w.Delay) * time.Millisecond)
		}
		if due = append(due, w.Bytes...); w.Bytes == nil {
			due = append(due, strings.Repeat(w.Text, max(w.Repeat, 1))...)
		}
		if i+1 < len(g.Response) && g.Response[i+1].Delay == 0 {
			continue
		}
		if _, err := c.Write(due); err != nil {
			return
		}
		due = nil
	}
	switch {
	case g.Close == "reset":
		c.SetLinger(0)
	case g.Close == "hang" || g.Close == "keep":
		r.ReadByte() // until the client goes
	case g.Early:
		c.CloseWrite()
		for _, ok := readRequest(r); ok; _, ok = readRequest(r) {
		}
	}
}

// contentLevel are the error types that the endpoint finds in a response that the transport is content with.
var contentLevel = map[string]bool{
	"InvalidInferenceResultError": true, "TypeError": true, "AttributeError": true, "ValueError": true, "KeyError": true,
	"ValidationError": true, "UnicodeDecodeError": true, "SSEResponseError": true,
}

// want is what the transport has to report.
func (g *goldenCase) want() (kind string, code int, text *string) {
	if o := g.Ours; o != nil && (o.Outcome != "" || o.Type != "") {
		if o.Outcome != "error" || contentLevel[o.Type] {
			return "", 0, nil
		}
		if o.Message != "" {
			text = &o.Message
		}
		return o.Type, o.Code, text
	}
	e := g.Upstream.Error
	if e.Type == "" || contentLevel[e.Type] {
		return "", 0, nil
	}
	if e.Code >= 300 {
		text = &e.Message
	}
	return e.Type, e.Code, text
}

func TestGoldenResponses(t *testing.T) {
	cases := goldenCases(t)
	recs := make([]record.Record, len(cases))
	var all sync.WaitGroup
	for i := range cases {
		c := mustClient(t, func(o *Options) { o.Timeout = time.Minute })
		if c.doneWait = int64(time.Second); cases[i].stalls() {
			c.opt.Timeout, c.doneWait = 2*time.Second, int64(time.Minute)
		}
		req := &Request{Target: rawServer(t, cases[i].serve), Body: record.Plain([]byte(`{"messages":[]}`))}
		all.Go(func() { c.Do(context.Background(), req, &recs[i], nil) })
	}
	all.Wait()
	for i, g := range cases {
		CleanError(&recs[i], requestSecrets(&recs[i]))
		t.Run(g.Group+"/"+g.Name, func(t *testing.T) { g.check(t, &recs[i]) })
	}
}

// stalls tells whether the case ends with the request's timeout.
func (g *goldenCase) stalls() bool {
	kind, _, _ := g.want()
	return kind == ErrTimeout
}

func (g *goldenCase) check(t *testing.T, rec *record.Record) {
	kind, code, text := g.want()
	var got record.Error
	if rec.Error != nil {
		got = *rec.Error
	}
	switch {
	case kind == "" && code == 0 && rec.Error != nil:
		t.Fatalf("error %+v, want none", got)
	case kind == ErrResponse && got.Type == ErrPayload:
	case kind != "" && got.Type != kind, got.Code != code:
		t.Fatalf("error %d %q (%s), want %d %q", got.Code, got.Type, got.Message, code, kind)
	}
	if text != nil { // of long bodies the recording shows the beginning and the length
		if short, _, cut := strings.Cut(*text, "…("); cut && len(got.Message) > len(short) {
			got.Message, text = got.Message[:len(short)], &short
		}
	}
	if text != nil && got.Message != *text {
		t.Errorf("message %.200q, want %.200q", got.Message, *text)
	}
	if s := g.Upstream.Status; s != nil && g.Ours == nil && rec.Status != *s {
		t.Errorf("status %d, want %d", rec.Status, *s)
	}
	n, most := len(rec.Messages), g.Upstream.Responses
	inTime := g.stalls() && n > 0 && n < most // a server that is delayed sends fewer before the timeout
	if g.Ours == nil && g.Upstream.Error.Type != "SSEResponseError" && n != most && !inTime {
		t.Errorf("%d messages, want %d", n, most)
	}
	if rec.Start == 0 || rec.End <= rec.Start || rec.Trace == nil {
		t.Errorf("start %d, end %d, trace %v", rec.Start, rec.End, rec.Trace)
	}
}

// requestSecrets are the credentials in the headers of a request, as a run knows them.
func requestSecrets(rec *record.Record) *redact.Secrets {
	s := redact.NewSecrets()
	for _, h := range rec.RequestHeaders {
		s.Add(redact.HeaderSecrets(h.Name, h.Value)...)
	}
	return s
}
