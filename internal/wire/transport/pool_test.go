package transport

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"aiperf/internal/measure/record"
)

func TestIdleConnectionsGrowTooOld(t *testing.T) {
	a := newAnswers(t, okAnswer)
	c := mustClient(t, func(o *Options) { o.IdleTimeout = time.Nanosecond })
	for range 3 {
		if rec := do(c, &Request{Target: a.target}); rec.Error != nil || rec.Trace.Reused != 0 {
			t.Fatalf("%+v, reused %d", rec.Error, rec.Trace.Reused)
		}
	}
	if s := c.Stats(); s.Dialled != 3 || s.OpenConns != 1 {
		t.Errorf("%+v", s)
	}
}

// However requests of several hosts and strategies come, are answered, fail and are cut, every open connection is counted and nothing hangs.
func TestConnectionsAreCounted(t *testing.T) {
	hosts := []*answers{newAnswers(t, okAnswer), newAnswers(t, okAnswer), newAnswers(t, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}")}
	hosts[1].closeAfter = 2
	for _, reuse := range []Reuse{Pooled, Never, Sticky} {
		c := mustClient(t, func(o *Options) { o.Timeout, o.Reuse = time.Minute, reuse })
		var all sync.WaitGroup
		for worker := range 20 {
			all.Go(func() {
				for turn := range 10 {
					ctx, stop := context.WithCancel(context.Background())
					if rand.IntN(4) == 0 {
						time.AfterFunc(time.Duration(rand.IntN(500))*time.Microsecond, stop)
					}
					req := &Request{Target: hosts[rand.IntN(3)].target, Session: string(rune('a' + worker)), LastTurn: turn == 9}
					if rand.IntN(8) == 0 {
						c.Prepare(ctx, req).Drop()
					} else {
						var rec record.Record
						c.Do(ctx, req, &rec, nil)
						if rec.Error != nil && rec.Error.Type == ErrTimeout {
							t.Errorf("%s: hung", reuse)
						}
					}
					stop()
				}
			})
		}
		all.Wait()
		c.Close()
		if s := c.Stats(); s.OpenConns != 0 || s.MostOpenConns < 1 || s.MostOpenConns > 60 { // 20 workers, each with one at a time and one idle at each host
			t.Errorf("%s: %+v", reuse, s)
		}
	}
}
