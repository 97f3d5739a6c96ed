package livepage

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
	"aiperf/internal/report/ui/liveview"
)

// growing is a run whose counts grow with every reading.
type growing struct{ reads atomic.Int64 }

func (g *growing) fill(s *liveview.State) {
	n := g.reads.Add(1)
	none := liveview.Figure{Recent: math.NaN(), Run: math.NaN(), P90: math.NaN(), P99: math.NaN()}
	s.Stage, s.Known, s.Share = liveview.Profiling, true, 0.25
	s.Plan.Model = "model <b>"
	s.Counts = liveview.Counts{OK: n, InFlight: 3, Elapsed: time.Duration(n) * time.Second, ETA: -1}
	s.Figures = liveview.Figures{Requests: liveview.Figure{Recent: float64(n), Run: 2, Trend: []float64{1, 2, 3}}, Tokens: none, TTFT: none, ITL: none, Latency: none, Errors: none, Goodput: none}
	s.Health = liveview.Health{LagP99: 1.25, ReadDelay: math.NaN(), CPUWait: 2, Verdict: "valid", Reason: "The client had spare capacity."}
}

// listen starts a server on a free port, with a token.
func listen(t *testing.T) *Server {
	t.Helper()
	s, err := Listen(t.Context(), Options{Address: "127.0.0.1:0", Token: "secret", Version: "test", Open: func(path string) bool { return path == "/healthz" }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// get asks a path with a token.
func get(t *testing.T, s *Server, path, token string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.server.URL()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	r.Header.Set("Origin", "http://elsewhere")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

// ask returns the whole answer to a path.
func ask(t *testing.T, s *Server, path, token string) (status int, header http.Header, text string) {
	t.Helper()
	resp := get(t, s, path, token)
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(all)
}

// stream reads the messages of an event stream.
func stream(t *testing.T, s *Server) <-chan message {
	t.Helper()
	resp := get(t, s, "/events", "secret")
	t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Fatalf("%d %v", resp.StatusCode, resp.Header)
	}
	list := make(chan message, 100)
	go func() {
		defer close(list)
		in := bufio.NewReader(resp.Body)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			if text, ok := strings.CutPrefix(line, "data: "); ok {
				var m message
				if err := json.Unmarshal([]byte(text), &m); err != nil {
					t.Error(err)
				}
				list <- m
				if m.Over {
					resp.Body.Close()
				}
			}
		}
	}()
	return list
}

// take returns the next message.
func take(t *testing.T, from <-chan message) message {
	t.Helper()
	select {
	case m, ok := <-from:
		if !ok {
			t.Fatal("the stream has ended")
		}
		return m
	case <-time.After(10 * time.Second):
		t.Fatal("no message")
	}
	return message{}
}

// TestMessages: a browser gets every part at once and then only what changes, and at the end that it is over.
func TestMessages(t *testing.T) {
	s, run := listen(t), new(growing)
	s.Begin(Source{Fill: run.fill, API: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "api "+r.URL.Path) })})
	list := stream(t, s)
	first := take(t, list)
	for id, want := range map[string]string{"head": "model &lt;b&gt;", "verdict": "Valid so far", "health": "1.25 ms", "cards": "spark", "stage": "3 in flight", "log": "Nothing has been logged"} {
		var text string
		if err := json.Unmarshal(first.Parts[id], &text); err != nil || !strings.Contains(text, want) {
			t.Errorf("%s: %v: %s, want %q", id, err, text, want)
		}
	}
	second := take(t, list)
	if len(second.Parts) != 2 || second.Parts["cards"] == nil || second.Parts["stage"] == nil || second.Number <= first.Number || second.Over || second.Title != "25 % · aiperf" {
		t.Errorf("after a second: %d parts, %+v", len(second.Parts), second)
	}
	if _, _, text := ask(t, s, "/api/run", "secret"); text != "api /api/run" {
		t.Errorf("API: %s", text)
	}
	if _, _, text := ask(t, s, "/report.html", "secret"); !strings.Contains(text, "while the run was in progress") || !strings.Contains(text, "default-src 'none'") {
		t.Errorf("a report of %d bytes", len(text))
	}
	s.End("")
	reads := run.reads.Load()
	closed := make(chan error, 1)
	go func() { closed <- s.Close(t.Context()) }()
	for m := take(t, list); !m.Over; m = take(t, list) {
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if now := run.reads.Load(); now != reads {
		t.Errorf("the ended run was read %d more times", now-reads)
	}
}

// TestLeave: browsers of a run that continues without this server do not show that the run is over.
func TestLeave(t *testing.T) {
	s, run := listen(t), new(growing)
	s.Begin(Source{Fill: run.fill})
	list := stream(t, s)
	take(t, list)
	if err := s.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	for m := range list {
		if m.Over {
			t.Error("a message says that the run is over")
		}
	}
}

// TestGuard: without the token there is nothing, another site's name is refused, and the page may load nothing from elsewhere.
func TestGuard(t *testing.T) {
	s := listen(t)
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	for path, want := range map[string]int{"/": 401, "/events": 401, "/report.html": 401, "/api/run": 401, "/healthz": 404} {
		if got, _, _ := ask(t, s, path, ""); got != want {
			t.Errorf("%s without the token: %d, want %d", path, got, want)
		}
	}
	status, header, text := ask(t, s, "/", "secret")
	if status != http.StatusOK || !strings.Contains(header.Get("Content-Security-Policy"), "connect-src 'self'") || header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%d %v", status, header)
	}
	for _, absolute := range []string{`src="`, `href="/`, `"/events`, `http-equiv`} {
		if strings.Contains(text, absolute) {
			t.Errorf("the page has %s", absolute)
		}
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.server.URL()+"/?token=secret", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "evil.example:80"
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusForbidden {
		t.Errorf("another Host: %d", resp.StatusCode)
	}
}

// TestSleepers: fifty browsers that do not read delay neither the run nor each other; the next one is refused, and one that wakes up gets the present
// state in one message.
func TestSleepers(t *testing.T) {
	testhome.Slow(t)
	s, run := listen(t), new(growing)
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	s.Begin(Source{Fill: func(st *liveview.State) {
		run.fill(st)
		st.Log = append(st.Log[:0], liveview.Line{At: time.Unix(run.reads.Load(), 0), Text: strings.Repeat("x", 40_000)})
	}})
	for range maxClients - 1 {
		c, err := net.Dial("tcp", strings.TrimPrefix(s.server.URL(), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		if err := c.(*net.TCPConn).SetReadBuffer(4096); err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(c, "GET /events?token=secret HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	list := stream(t, s)
	take(t, list)
	for until := time.Now().Add(10 * time.Second); s.Clients() < maxClients && time.Now().Before(until); {
		time.Sleep(time.Millisecond)
	}
	if got, header, _ := ask(t, s, "/events", "secret"); got != http.StatusServiceUnavailable || header.Get("Retry-After") == "" {
		t.Errorf("browser %d: %d %v", maxClients+1, got, header)
	}
	var slowest time.Duration
	for range 200 { // more than any buffer of a connection holds
		s.mu.Lock()
		from := time.Now()
		s.sample()
		s.publish()
		slowest = max(slowest, time.Since(from))
		s.mu.Unlock()
	}
	if slowest > 2*time.Second {
		t.Errorf("one of 200 states took %v", slowest)
	}
	last := run.reads.Load()
	for {
		m := take(t, list)
		var text string
		if m.Parts["stage"] == nil {
			continue
		}
		if err := json.Unmarshal(m.Parts["stage"], &text); err != nil {
			t.Fatal(err)
		}
		var seconds int64
		if at := strings.Index(text, "</strong> "); at < 0 {
			t.Fatal(text)
		} else if _, err := fmt.Sscan(text[at+len("</strong> "):], &seconds); err != nil {
			t.Fatal(err, text)
		}
		if seconds >= last {
			break
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.number < 200 {
		t.Errorf("%d states", s.number)
	}
}

// TestAuto: the default port is taken if it is free, else another one; an address that is in use is an error.
func TestAuto(t *testing.T) {
	one, err := Listen(t.Context(), Options{Address: Auto, Token: "x"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = one.Close(context.Background()) })
	two, err := Listen(t.Context(), Options{Address: Auto, Token: "x"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = two.Close(context.Background()) })
	if one.Address(false) == two.Address(false) || !strings.HasPrefix(two.Address(true), "http://127.0.0.1:") || !strings.HasSuffix(two.Address(true), "/?token=x") {
		t.Errorf("%s and %s", one.Address(false), two.Address(true))
	}
	if _, err := Listen(t.Context(), Options{Address: strings.TrimSuffix(strings.TrimPrefix(one.Address(false), "http://"), "/"), Token: "x"}); err == nil {
		t.Error("an address in use is no error")
	}
}
