package exec

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/testhome"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/wire/transport"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/load"
)

// TestUploadTime: the time that a large body takes to be taken is http_req_sending, and part of the latency; over HTTP/2 as well.
func TestUploadTime(t *testing.T) {
	testhome.Slow(t)
	const pause = 150 * time.Millisecond
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(pause) // in this time nobody takes the body
		n, _ := io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"delta\":{\"content\":\"%d\"}}]}\n\ndata: [DONE]\n\n", n)
	}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	defer server.Close()
	pad, _ := json.Marshal(strings.Repeat("x", 24<<20)) // a string always has a JSON form
	set, err := metric.NewSelection(metric.Options{Streaming: true, ProducesTokens: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, second := range []bool{false, true} {
		g := ask(t, server.URL, asked{extras: []endpoint.Member{{Key: "pad", Value: pad}}, options: func(o *transport.Options) { o.HTTP2, o.SendBuffer = second, 64<<10 }})
		g.is(t, fmt.Sprintf("HTTP/2 %v", second), "ok", "", fmt.Sprint(g.Payload.Len()))
		row := set.Row(g.Record, g.reply, record.Counts{Input: -1, Output: 1, Reasoning: 0})
		sending, there := row.Value("http_req_sending")
		latency, _ := row.Value("request_latency")
		if !there || time.Duration(sending) < pause || latency < sending {
			t.Errorf("HTTP/2 %v: sending %v, latency %v", second, time.Duration(sending), time.Duration(latency))
		}
	}
}

// TestBodiesAreReadyBeforeTheirInstant: the body is encoded when a request is prepared; at its instant only the write is left.
func TestBodiesAreReadyBeforeTheirInstant(t *testing.T) {
	s := play(t, func(p *player) {
		for p.request() {
			p.say(measured(eventHead, expand(plainStream)[0]))
		}
	})
	q := newAsker(t, s.url, asked{})
	worded := &wordings{Codec: q.codec}
	q.executor.codec = worded
	armed := q.executor.Prepare(t.Context(), &load.Request{Phase: &load.PhaseInfo{}, Session: &load.Session{ID: "s", Turns: 1}})
	if worded.times != 1 || len(s.headsSeen()) != 0 {
		t.Errorf("before the instant: worded %d times, %d requests on the wire", worded.times, len(s.headsSeen()))
	}
	armed.Fire(load.Issue{CancelAfter: -1, At: clock.Now()})
	wait(armed, func(int64) {})
	if worded.times != 1 || len(s.headsSeen()) != 1 {
		t.Errorf("after it: worded %d times, %d requests on the wire", worded.times, len(s.headsSeen()))
	}
}

// wordings counts how often bodies are worded.
type wordings struct {
	endpoint.Codec
	times int
}

// Encode implements endpoint.Codec.
func (c *wordings) Encode(t *conversation.Turn, h *endpoint.History) (endpoint.Request, error) {
	c.times++
	return c.Codec.Encode(t, h)
}
