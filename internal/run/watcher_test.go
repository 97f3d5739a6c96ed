package run

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"aiperf/internal/measure/metric"
)

// onlooker counts its events and stops once a given number of requests have begun to answer.
type onlooker struct {
	mu                  sync.Mutex
	sent, first, ended  map[string]int64
	enough, looks, told int
}

func (o *onlooker) Sent(id string, at int64)  { o.mu.Lock(); o.sent[id] = at; o.mu.Unlock() }
func (o *onlooker) First(id string, at int64) { o.mu.Lock(); o.first[id] = at; o.mu.Unlock() }
func (o *onlooker) Ended(id string, at int64) { o.mu.Lock(); o.ended[id] = at; o.mu.Unlock() }

func (o *onlooker) Looks() (list []time.Duration) {
	for i := range 2000 {
		list = append(list, time.Duration(i+1)*5*time.Millisecond)
	}
	return list
}

func (o *onlooker) Look(start int64, after time.Duration) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.looks++
	for _, at := range o.sent {
		if at < start || at > start+int64(after)+int64(time.Minute) {
			o.told++ // of an instant that cannot be
		}
	}
	return len(o.first) >= o.enough
}

// TestWatcherEndsARun: a run whose watcher has seen enough ends at once, with what is in flight cut, and counts as complete.
func TestWatcherEndsARun(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer server.Close()
	cfg := whole(t.TempDir(), server.URL, 1000)
	cfg.Phases[0].Concurrency = ptr(3)
	seen := &onlooker{sent: map[string]int64{}, first: map[string]int64{}, ended: map[string]int64{}, enough: 3}
	rows := &rowsSeen{}
	run, err := Run(t.Context(), cfg, nil, Options{Err: io.Discard, Watch: seen, Observe: rows})
	if err != nil || run.IncompleteReason != "" || run.Cancelled {
		t.Fatalf("%v %+v", err, run)
	}
	if len(seen.sent) != 3 || len(seen.first) != 3 || len(seen.ended) != 3 || seen.looks == 0 || seen.told != 0 {
		t.Errorf("%+v", seen)
	}
	if len(rows.list) != 3 || run.Profiling.Cut != 3 {
		t.Errorf("%d rows, %d cut", len(rows.list), run.Profiling.Cut)
	}
	for _, row := range rows.list {
		id := row.Meta.RequestID
		if row.Class != metric.Cut || seen.sent[id] > seen.first[id] || seen.first[id] > seen.ended[id] || seen.ended[id] != row.End {
			t.Errorf("%s: %v, sent %d, first %d, ended %d, %d in its row", id, row.Class, seen.sent[id], seen.first[id], seen.ended[id], row.End)
		}
	}
}

// rowsSeen is an observer that keeps rows.
type rowsSeen struct{ list []*metric.Row }

func (k *rowsSeen) Observe(row *metric.Row) { k.list = append(k.list, row) }
