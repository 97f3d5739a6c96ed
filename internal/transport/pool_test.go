package transport

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"aiperf/internal/record"
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

// An idle connection of one host makes room for another host at the limit.
func TestIdleConnectionMakesRoom(t *testing.T) {
	for _, reuse := range []Reuse{Pooled, Sticky} {
		a, b := newAnswers(t, okAnswer), newAnswers(t, okAnswer)
		c := mustClient(t, func(o *Options) { o.Connections, o.Timeout, o.Reuse = 1, 2*time.Second, reuse })
		for i, target := range []*Target{a.target, b.target, a.target} {
			if rec := do(c, &Request{Target: target, Session: string(rune('a' + i))}); rec.Error != nil || rec.Trace.Reused != 0 {
				t.Fatalf("%s: %+v, reused %d", reuse, rec.Error, rec.Trace.Reused)
			}
		}
		if s := c.Stats(); s.OpenConns != 1 || s.MostOpenConns != 1 {
			t.Errorf("%s: %+v", reuse, s)
		}
	}
}

// However requests of several hosts and strategies come, wait, are answered, fail and are cut, no permit is lost and nothing hangs.
func TestNoPermitIsLost(t *testing.T) {
	hosts := []*answers{newAnswers(t, okAnswer), newAnswers(t, okAnswer), newAnswers(t, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}")}
	hosts[1].closeAfter = 2
	for _, reuse := range []Reuse{Pooled, Never, Sticky} {
		c := mustClient(t, func(o *Options) {
			o.Connections, o.PerHost, o.Timeout, o.Reuse = 5, 3, 2*time.Second, reuse
		})
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
		if s := c.Stats(); s.OpenConns != 0 || s.MostOpenConns > 5 {
			t.Errorf("%s: %+v", reuse, s)
		}
	}
}

// A host at its limit whose connections are all idle, but belong to other sessions, must not make a request wait.
func TestIdleSessionMakesRoom(t *testing.T) {
	a := newAnswers(t, okAnswer)
	c := mustClient(t, func(o *Options) { o.PerHost, o.Timeout, o.Reuse = 1, 2*time.Second, Sticky })
	for _, session := range []string{"a", "b", "a"} {
		if rec := do(c, &Request{Target: a.target, Session: session}); rec.Error != nil || rec.Trace.PoolWaitStart != 0 {
			t.Fatalf("session %s: %+v, waited from %d", session, rec.Error, rec.Trace.PoolWaitStart)
		}
	}
}
