package ui

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestLine(t *testing.T) {
	tests := []struct {
		name string
		s    Snapshot
		want string
	}{
		{"by count", Snapshot{Phase: "profiling", Finished: 50, Errors: 2, InFlight: 8, Requests: 200, Elapsed: 10 * time.Second, Sending: true},
			"profiling [=====               ]  25%  50/200 done  5.0/s  8 in flight  2 errors  10s  ETA 30s"},
		{"by time", Snapshot{Phase: "warmup", Finished: 3, Duration: 20 * time.Second, Elapsed: 5 * time.Second, Sending: true},
			"warmup [=====               ]  25%  3 done  5.0/s  0 in flight  0 errors  5s  ETA 15s"},
		{"unlimited", Snapshot{Phase: "profiling", Finished: 3, Elapsed: 5 * time.Second, Sending: true},
			"profiling  3 done  5.0/s  0 in flight  0 errors  5s"},
		{"draining", Snapshot{Phase: "profiling", Finished: 9, Requests: 10, Elapsed: time.Second},
			"profiling [==================  ]  90%  9/10 done  5.0/s  0 in flight  0 errors  1s  draining"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.s.Line(5); got != tt.want {
				t.Errorf("\n got %q\nwant %q", got, tt.want)
			}
		})
	}
}

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
		p := Start(&out, 80, func() (Snapshot, bool) {
			n++
			return Snapshot{Phase: "profiling", Finished: 10 * n, Elapsed: time.Duration(n) * interval, Sending: true}, n > 1
		})
		time.Sleep(3*interval + interval/2)
		p.Stop()
		text := out.String()
		if got := strings.Count(text, "done"); got != 2 {
			t.Errorf("%d lines drawn in three intervals, the first of them empty: want 2; %q", got, text)
		}
		if !strings.Contains(text, "50.0/s") {
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
		if len(said) != 2 || !strings.Contains(said[0], "4.0/s") || !strings.Contains(said[1], "10.0/s") {
			t.Errorf("said %q: want the state at 10 s with the rate so far, at 15 s with the rate of the last 5 s", said)
		}
	})
}
