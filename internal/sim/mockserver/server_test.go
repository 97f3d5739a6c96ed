package mockserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"aiperf/internal/text/tokenizer"
)

// serve starts a server with the knobs of a query and gives a client for it.
func serve(t testing.TB, query string) (*Server, *http.Client) {
	t.Helper()
	o, err := ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, &http.Client{Transport: transport}
}

// answer is what a client found in a reply.
type answer struct {
	status          int
	text, reasoning string
	events          int // with content
	finish          string
	done            bool
	failed          bool // error event or error body
	err             error
	usage           *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
		Details    struct {
			Reasoning int `json:"reasoning_tokens"`
		} `json:"completion_tokens_details"`
	}
}

func ask1(ctx context.Context, c *http.Client, url, path, body, id string) answer {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+path, strings.NewReader(body))
	if err != nil {
		return answer{err: err}
	}
	req.Header.Set("X-Request-ID", id)
	resp, err := c.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	a := answer{status: resp.StatusCode}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		raw, err := io.ReadAll(resp.Body)
		a.err = err
		a.add(raw)
		return a
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		switch {
		case !ok:
		case string(data) == "[DONE]":
			a.done = true
		default:
			a.add(data)
		}
	}
	a.err = lines.Err()
	return a
}

// add reads an event or a body.
func (a *answer) add(raw []byte) {
	type part struct {
		Content   string
		Reasoning string `json:"reasoning_content"`
	}
	var v struct {
		Choices []struct {
			Delta, Message part
			Text           string
			Finish         string `json:"finish_reason"`
		}
		Usage json.RawMessage
		Error json.RawMessage
	}
	if json.Unmarshal(raw, &v) != nil {
		return
	}
	a.failed = a.failed || v.Error != nil
	if v.Usage != nil {
		_ = json.Unmarshal(v.Usage, &a.usage)
	}
	for _, c := range v.Choices {
		text := c.Delta.Content + c.Message.Content + c.Text
		reasoning := c.Delta.Reasoning + c.Message.Reasoning
		if text+reasoning != "" {
			a.events++
		}
		a.text += text
		a.reasoning += reasoning
		if c.Finish != "" {
			a.finish = c.Finish
		}
	}
}

const chatPath = "/v1/chat/completions"

func chatBody(stream bool, more string) string {
	return fmt.Sprintf(`{"messages":[{"role":"user","content":"Name three rivers."}],"model":"m","stream":%v%s}`, stream, more)
}

const wantUsage = `,"stream_options":{"include_usage":true}`

func TestBehaviours(t *testing.T) {
	tests := []struct {
		name, query, path, body string
		tokens, reasoning       int
		events                  int // 0 = do not look
		finish                  string
	}{
		{"stream", "tokens=10&ttft=0&itl=0", chatPath, chatBody(true, wantUsage), 10, 0, 10, "stop"},
		{"whole", "tokens=10&ttft=0&itl=0", chatPath, chatBody(false, ""), 10, 0, 1, "stop"},
		{"paced", "tokens=10&ttft=3ms&itl=1ms&jitter=0.5", chatPath, chatBody(true, wantUsage), 10, 0, 10, "stop"},
		{"three an event", "tokens=10&ttft=0&itl=0&tokens-per-event=3", chatPath, chatBody(true, wantUsage), 10, 0, 4, "stop"},
		{"reasoning", "tokens=10&ttft=0&itl=0&reasoning=0.3&tokens-per-event=2", chatPath, chatBody(true, wantUsage), 7, 3, 6, "stop"},
		{"reasoning, whole", "tokens=10&ttft=0&itl=0&reasoning=0.3", chatPath, chatBody(false, ""), 7, 3, 1, "stop"},
		{"only reasoning", "tokens=5&ttft=0&itl=0&reasoning=1", chatPath, chatBody(true, wantUsage), 0, 5, 5, "stop"},
		{"max below", "tokens=10&ttft=0&itl=0", chatPath, chatBody(true, `,"max_completion_tokens":4`+wantUsage), 4, 0, 4, "length"},
		{"max above", "tokens=10&ttft=0&itl=0", chatPath, chatBody(true, `,"max_tokens":40`+wantUsage), 10, 0, 10, "stop"},
		{"ignore_eos", "tokens=10&ttft=0&itl=0", chatPath, chatBody(true, `,"max_tokens":40,"ignore_eos":true`+wantUsage), 40, 0, 40, "length"},
		{"min", "tokens=10&ttft=0&itl=0", chatPath, chatBody(true, `,"max_tokens":40,"min_tokens":25`+wantUsage), 25, 0, 25, "stop"},
		{"completions", "tokens=6&ttft=0&itl=0&reasoning=0.5", "/v1/completions", `{"prompt":"Name three rivers.","model":"m","stream":true` + wantUsage + `}`, 6, 0, 6, "stop"},
		{"completions, whole", "tokens=6&ttft=0&itl=0", "/v1/completions", `{"prompt":"Name three rivers.","model":"m","stream":false}`, 6, 0, 1, "stop"},
		{"large", "tokens=3000&ttft=0&itl=0&tokens-per-event=1000", chatPath, chatBody(true, wantUsage), 3000, 0, 3, "stop"},
	}
	tok, err := tokenizer.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, c := serve(t, tt.query)
			for range 3 { // the connection is kept
				a := ask1(t.Context(), c, s.URL(), tt.path, tt.body, "")
				if a.err != nil || a.status != 200 {
					t.Fatalf("%+v", a)
				}
				out, think := 0, 0
				if a.text != "" {
					out = tok.Count(a.text)
				}
				if a.reasoning != "" {
					think = tok.Count(a.reasoning)
				}
				if out != tt.tokens || think != tt.reasoning || a.events != tt.events || a.finish != tt.finish {
					t.Errorf("%d tokens, %d reasoning, %d events, finish %q; want %d, %d, %d, %q", out, think, a.events, a.finish, tt.tokens, tt.reasoning, tt.events, tt.finish)
				}
				if a.usage == nil || a.usage.Completion != out+think || a.usage.Details.Reasoning != think || a.usage.Prompt != tok.Count("Name three rivers.") ||
					a.usage.Total != a.usage.Prompt+a.usage.Completion {
					t.Errorf("usage %+v", a.usage)
				}
			}
		})
	}
}

func TestUsageOnlyWhereAskedFor(t *testing.T) {
	s, c := serve(t, "tokens=3&ttft=0&itl=0")
	if a := ask1(t.Context(), c, s.URL(), chatPath, chatBody(true, ""), ""); a.usage != nil || !a.done {
		t.Errorf("%+v", a)
	}
	off, c := serve(t, "tokens=3&ttft=0&itl=0&usage=false")
	for _, body := range []string{chatBody(true, wantUsage), chatBody(false, "")} {
		if a := ask1(t.Context(), c, off.URL(), chatPath, body, ""); a.usage != nil {
			t.Errorf("%+v", a.usage)
		}
	}
}

func TestFailures(t *testing.T) {
	for _, stream := range []bool{true, false} {
		for kind, check := range map[string]func(a answer) bool{
			"http-429": func(a answer) bool { return a.status == 429 && a.failed },
			"http-500": func(a answer) bool { return a.status == 500 && a.failed },
			"sse":      func(a answer) bool { return a.status == 200 && a.failed && (a.events > 0) == stream && a.events < 20 },
			"close":    func(a answer) bool { return errors.Is(a.err, io.ErrUnexpectedEOF) && !a.done },
			"reset":    func(a answer) bool { return a.err != nil && !a.done },
			"stall":    func(a answer) bool { return errors.Is(a.err, context.DeadlineExceeded) && !a.done },
			"hang":     func(a answer) bool { return errors.Is(a.err, context.DeadlineExceeded) && a.status == 0 },
			"slow":     func(a answer) bool { return a.err == nil && a.events > 0 && a.text != "" },
		} {
			t.Run(fmt.Sprintf("%s stream=%v", kind, stream), func(t *testing.T) {
				s, c := serve(t, "tokens=20&ttft=0&itl=100us&error-rate=1&error-kinds="+kind)
				limit := time.Minute
				if kind == kindStall || kind == kindHang {
					limit = 100 * time.Millisecond
				}
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				if a := ask1(ctx, c, s.URL(), chatPath, chatBody(stream, wantUsage), ""); !check(a) {
					t.Errorf("%+v", a)
				}
			})
		}
	}
}

func TestErrorRateIsAShareAndRepeats(t *testing.T) {
	run := func() (outcome string, failed int) {
		s, c := serve(t, "tokens=1&ttft=0&itl=0&error-rate=0.3&error-kinds=http-500,http-503&seed=7")
		for range 200 {
			a := ask1(t.Context(), c, s.URL(), chatPath, chatBody(true, ""), "")
			outcome += fmt.Sprint(a.status, a.text, ";")
			if a.status != 200 {
				failed++
			}
		}
		return outcome, failed
	}
	first, failed := run()
	if failed < 35 || failed > 85 {
		t.Errorf("%d of 200 failed at a rate of 0.3", failed)
	}
	if again, _ := run(); again != first {
		t.Error("the same seed gave other answers")
	}
}

func TestEmbeddingsAndRankings(t *testing.T) {
	s, c := serve(t, "ttft=0&dimensions=4")
	for _, tt := range []struct{ path, body, key string }{
		{"/v1/embeddings", `{"model":"m","input":["a","b"]}`, "embedding"},
		{"/v1/embeddings", `{"model":"m","input":["a","b"],"encoding_format":"base64"}`, "embedding"},
		{"/v1/ranking", `{"model":"m","query":{"text":"q"},"passages":[{"text":"a"},{"text":"b"}]}`, "logit"},
		{"/v2/rerank", `{"model":"m","query":"q","documents":["a","b"]}`, "relevance_score"},
		{"/rerank", `{"query":"q","texts":["a","b"]}`, "score"},
	} {
		resp, err := c.Post(s.URL()+tt.path, "application/json", strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || !json.Valid(raw) || strings.Count(string(raw), `"`+tt.key+`":`) != 2 {
			t.Errorf("%s: %d %v %s", tt.path, resp.StatusCode, err, raw)
		}
	}
}

func TestPages(t *testing.T) {
	s, c := serve(t, "ttft=0&itl=0&tokens=3&model=tiny")
	ask1(t.Context(), c, s.URL(), chatPath, chatBody(true, ""), "")
	for path, want := range map[string]string{"/health": `"ok"`, "/v1/models": `"id":"tiny"`, "/nowhere": "unknown path",
		"/metrics": `mock_requests_total{model_name="tiny",path="/v1/chat/completions",outcome="ok"} 1`} {
		resp, err := c.Get(s.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if !strings.Contains(string(raw), want) {
			t.Errorf("%s: %s", path, raw)
		}
		if (resp.StatusCode == http.StatusNotFound) != (path == "/nowhere") {
			t.Errorf("%s: status %d", path, resp.StatusCode)
		}
	}
}

// raw sends bytes over a new connection and returns what comes back until the server closes or the deadline passes.
func raw(t *testing.T, s *Server, send string) string {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(c, send); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(c)
	if err != nil {
		t.Fatalf("%v after %q", err, b)
	}
	return string(b)
}

func TestProtocol(t *testing.T) {
	s, _ := serve(t, "ttft=0&itl=0&tokens=2")
	body := chatBody(false, "")
	length := fmt.Sprintf("Content-Length: %d\r\n", len(body))
	for name, tt := range map[string]struct{ send, want string }{
		"close":        {"POST " + chatPath + " HTTP/1.1\r\nConnection: close\r\n" + length + "\r\n" + body, "HTTP/1.1 200 OK"},
		"old protocol": {"POST " + chatPath + " HTTP/1.0\r\n" + length + "\r\n" + chatBody(false, ""), "Connection: close"},
		"old stream": {"POST " + chatPath + " HTTP/1.0\r\n" + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(chatBody(true, ""))) + chatBody(true, ""),
			"}\n\ndata: [DONE]\n\n"},
		"chunked request": {"POST " + chatPath + " HTTP/1.1\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n" +
			fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body), "HTTP/1.1 200 OK"},
		"expect":   {"POST " + chatPath + " HTTP/1.1\r\nExpect: 100-continue\r\nConnection: close\r\n" + length + "\r\n" + body, "HTTP/1.1 100 Continue"},
		"no json":  {"POST " + chatPath + " HTTP/1.1\r\nConnection: close\r\nContent-Length: 2\r\n\r\n[]", "HTTP/1.1 400"},
		"get":      {"GET " + chatPath + " HTTP/1.1\r\nConnection: close\r\n\r\n", "HTTP/1.1 405"},
		"garbage":  {"hello\r\n\r\n", "HTTP/1.1 400"},
		"bad size": {"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n", "HTTP/1.1 400"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := raw(t, s, tt.send); !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q in it", got, tt.want)
			}
		})
	}
}

func TestTruthLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "truth.jsonl")
	s, c := serve(t, "tokens=5&ttft=4ms&itl=2ms&truth-log="+path)
	for i := range 3 {
		ask1(t.Context(), c, s.URL(), chatPath, chatBody(i > 0, wantUsage), fmt.Sprint("id-", i))
	}
	c.CloseIdleConnections()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines", len(lines))
	}
	for i, line := range lines {
		var tr Truth
		if err := json.Unmarshal([]byte(line), &tr); err != nil {
			t.Fatal(err)
		}
		if tr.RequestID != fmt.Sprint("id-", i) || tr.Tokens != 5 || tr.Outcome != "ok" || tr.Stream != (i > 0) || tr.Status != 200 {
			t.Errorf("%+v", tr)
		}
		checkWrites(t, &tr)
	}
}

func checkWrites(t *testing.T, tr *Truth) {
	t.Helper()
	tokens, last := 0, tr.Arrival
	k := int64(0)
	for _, w := range tr.Writes {
		if w.Before < last || w.After < w.Before {
			t.Errorf("write %+v is out of order", w)
		}
		last = w.After
		tokens += w.Tokens
		if w.Events == 0 {
			continue
		}
		due := tr.Arrival + 4e6 + k*2e6
		if !tr.Stream {
			due = tr.Arrival + 4e6 + 4*2e6
		}
		const slack = 100_000 // the real-time clock is set by others: it may run a little apart from the one that paces
		if w.Due != due || w.Before < due-slack {
			t.Errorf("event %d due at +%d, written at +%d, want +%d", k, w.Due-tr.Arrival, w.Before-tr.Arrival, due-tr.Arrival)
		}
		k++
	}
	if tokens != 5 {
		t.Errorf("%d tokens in writes", tokens)
	}
}

func TestCloseEndsAnswersUnderWay(t *testing.T) {
	s, c := serve(t, "tokens=100&ttft=1h")
	got := make(chan answer, 1)
	go func() { got <- ask1(context.Background(), c, s.URL(), chatPath, chatBody(true, ""), "") }()
	for limit := time.Now().Add(time.Minute); s.metrics.running.Load() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("the request did not arrive")
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if a := <-got; a.done || a.events != 0 {
		t.Errorf("%+v", a)
	}
}

// TestSlowReader lets the socket fill up: the pacer must give the stream back and continue with the others.
func TestSlowReader(t *testing.T) {
	s, c := serve(t, "tokens=200000&tokens-per-event=1000&ttft=1ms&itl=20us")
	slow, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	body := chatBody(true, `,"ignore_eos":true,"max_tokens":10000000`)
	fmt.Fprintf(slow, "POST %s HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s", chatPath, len(body), body)
	a := ask1(t.Context(), c, s.URL(), chatPath, chatBody(true, wantUsage), "")
	if a.err != nil || !a.done || a.usage.Completion != 200000 {
		t.Errorf("done %v, usage %+v, %v", a.done, a.usage, a.err)
	}
}

func TestOptionErrors(t *testing.T) {
	for query, want := range map[string]string{
		"ttft=x": "ttft", "itl=-1s": "duration", "jitter=2": "0 to 1", "tokens=0": "1 to", "error-kinds=boom": "http-400", "error-kinds=": "at least one",
		"speed=9": "unknown mock server option", "usage=maybe": "true or false", "seed=-1": "whole number",
	} {
		if _, err := ParseQuery(query); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", query, err)
		}
	}
	for _, query := range []string{"error-kinds=sse,stall", "error-kinds=sse+stall", "error-kinds=sse%2Bstall"} {
		if o, err := ParseQuery(query); err != nil || strings.Join(o.ErrorKinds, " ") != "sse stall" {
			t.Errorf("%s: %q %v", query, o.ErrorKinds, err)
		}
	}
	args, err := Args("ttft=50ms&error-kinds=http-500,sse")
	if err != nil || strings.Join(args, " ") != "--error-kinds=http-500,sse --ttft=50ms" {
		t.Errorf("%q %v", args, err)
	}
}

// TestBusyPort: a port in use is reported in words that say what to do.
func TestBusyPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	s, err := New(Defaults())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Listen(l.Addr().String()); err == nil || !strings.HasSuffix(err.Error(), "another program uses this port; choose another one, or 0 for a free one") {
		t.Error(err)
	}
}
