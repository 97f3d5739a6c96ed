package mockserver

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestLump: events are held back to the ends of lumps, counted from the arrival of the request, and written together: none is lost, and none is
// written before it was due. The share that fails in the middle does so as ever.
func TestLump(t *testing.T) {
	log := filepath.Join(t.TempDir(), "truth.jsonl")
	s, c := serve(t, "ttft=25ms&itl=10ms&tokens=20&lump=50ms&truth-log="+log)
	for range 3 {
		a := ask1(t.Context(), c, s.URL(), "/v1/chat/completions", `{"stream":true,"messages":[{"role":"user","content":"x"}]}`, "")
		if a.err != nil || a.events != 20 || !a.done || a.failed {
			t.Errorf("%+v", a)
		}
	}
	whole := ask1(t.Context(), c, s.URL(), "/v1/chat/completions", `{"messages":[{"role":"user","content":"x"}]}`, "")
	if whole.err != nil || whole.status != 200 || whole.text == "" {
		t.Errorf("an answer in one piece: %+v", whole)
	}
	c.CloseIdleConnections()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range strings.SplitN(string(b), "\n", 4)[:3] {
		var line Truth
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		events, lumps := 0, 0
		for i, w := range line.Writes {
			if w.Events == 0 { // the head
				continue
			}
			lumps++
			after := time.Duration(w.Due - line.Arrival)
			events += w.Events
			if lag := after % (50 * time.Millisecond); lag > 10*time.Microsecond && lag < 50*time.Millisecond-10*time.Microsecond {
				t.Errorf("lump %d is due %v after the arrival", i, after)
			}
			if last := 25*time.Millisecond + time.Duration(events-1)*10*time.Millisecond; after < last-10*time.Microsecond || w.Before < w.Due-int64(time.Millisecond) {
				t.Errorf("lump %d was written %v after the arrival, its last event is due after %v", i, after, last)
			}
		}
		if events != 20 || lumps != 5 {
			t.Errorf("%d events in %d lumps", events, lumps)
		}
	}
	s, c = serve(t, "ttft=0&itl=1ms&tokens=20&lump=5ms&error-rate=1&error-kinds=sse")
	if a := ask1(t.Context(), c, s.URL(), "/v1/chat/completions", `{"stream":true,"messages":[{"role":"user","content":"x"}]}`, ""); !a.failed || a.err != nil || a.events == 0 || a.events == 20 {
		t.Errorf("an answer that fails: %+v", a)
	}
}
