package ui

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

type buffer struct {
	sync.Mutex
	strings.Builder
}

func (b *buffer) Write(p []byte) (int, error) {
	b.Lock()
	defer b.Unlock()
	return b.Builder.Write(p)
}

func TestProgressRedrawsAndClears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out buffer
		n := int64(0)
		p := Start(NewScreen(&out), 80, func() (Snapshot, bool) {
			n++
			return Snapshot{Phase: "profiling", Finished: 10 * n, Elapsed: time.Duration(n) * interval, Sending: true}, n > 1
		})
		time.Sleep(3*interval + interval/2)
		p.Stop()
		text := out.String()
		if got := strings.Count(text, "done"); got != 2 {
			t.Errorf("%d lines drawn in three intervals, the first of them empty: want 2; %q", got, text)
		}
		if !strings.Contains(text, "50.0 req/s") {
			t.Errorf("10 finished every %v is 50/s; got %q", interval, text)
		}
		if !strings.HasSuffix(text, "\r\x1b[K") {
			t.Errorf("the line is not cleared at the end: %q", text)
		}
	})
}

func TestLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		n := int64(0)
		p := Lines(5*time.Second, func() (Snapshot, bool) {
			n++
			return Snapshot{Phase: "profiling", Finished: 10 * n * n, Elapsed: time.Duration(n) * 5 * time.Second, Sending: true}, n > 1
		}, func(line string) { said = append(said, line) })
		time.Sleep(16 * time.Second)
		p.Stop()
		if len(said) != 2 || !strings.Contains(said[0], "4.00 req/s") || !strings.Contains(said[1], "10.0 req/s") {
			t.Errorf("said %q: want the state at 10 s with the rate so far, at 15 s with the rate of the last 5 s", said)
		}
	})
}
