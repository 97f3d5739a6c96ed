package transport

import (
	"context"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
)

func mustTarget(t testing.TB, url string) *Target {
	t.Helper()
	g, err := NewTarget(url)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// poller makes the tests use Go's poller instead of the clients' loops. make test runs them both ways.
var poller = flag.Bool("poller", false, "wait with Go's poller")

// resting lets the clients' loops begin with the longest rest, although nothing is known of the server yet. make test runs the tests this way, too.
var resting = flag.Bool("resting", false, "begin with the longest rest")

func mustClient(t testing.TB, change func(*Options)) *Client {
	t.Helper()
	o := DefaultOptions()
	o.Loop, o.Rest = !*poller, true
	if change != nil {
		change(&o)
	}
	c, err := NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	if *resting && c.pace != nil {
		c.pace.step.Store(int32(len(rests) - 1))
	}
	t.Cleanup(c.Close)
	return c
}

func TestPlainRequests(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write([]byte("data: "))
		w.Write(body)
		w.Write([]byte("\n\n"))
		w.(http.Flusher).Flush()
		w.Write([]byte("data: [DONE]\n\n"))
	}))
	defer srv.Close()
	c := mustClient(t, nil)
	for i := range 3 {
		req := &Request{Target: mustTarget(t, srv.URL+"/x?y=1"), Body: record.Plain([]byte(`{"a":1}`))}
		var rec record.Record
		before := clock.Now()
		c.Do(context.Background(), req, &rec, nil)
		if rec.Error != nil {
			t.Fatal(rec.Error)
		}
		if len(rec.Messages) != 2 || string(rec.Messages[0].Raw) != `data: {"a":1}` || string(rec.Messages[1].Raw) != "data: [DONE]" {
			t.Fatalf("messages %v", rec.Messages)
		}
		tr := rec.Trace
		if (tr.Reused != 0) != (i > 0) {
			t.Errorf("request %d: reused at %d", i, tr.Reused)
		}
		order := []int64{before, rec.Start, tr.SendStart, tr.SendEnd, rec.Ack, rec.Messages[0].At, rec.Messages[1].At, rec.End, clock.Now()}
		for k := 1; k < len(order); k++ {
			if order[k] < order[k-1] {
				t.Errorf("instants out of order at %d: %v", k, order)
			}
		}
		rec.Release()
	}
}
