package transport

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/measure/record"
	"aiperf/internal/wire/capture"
)

// captured is a client with a capture if the machine grants one; where it does not, the client must say why and work without.
func captured(t *testing.T) (c *Client, active bool) {
	t.Helper()
	c = mustClient(t, func(o *Options) { o.Capture, o.TLS.Insecure = CaptureAuto, true })
	s := c.CaptureStats()
	if s.Active == (s.Missing != "") {
		t.Fatalf("%+v", s)
	}
	if !s.Active {
		if _, err := NewClient(Options{Capture: CaptureOn}); !errors.Is(err, os.ErrPermission) && !errors.Is(err, capture.ErrUnsupported) {
			t.Errorf("a capture that cannot be had: %v", err)
		}
	}
	return c, s.Active
}

// A client that was paused still has the packets' instants, TLS or not; without a capture it has the bounds of its reads.
func TestPacketsTellTheInstantsOfAStalledClient(t *testing.T) {
	for _, secret := range []bool{false, true} {
		t.Run(fmt.Sprintf("TLS=%v", secret), func(t *testing.T) {
			c, active := captured(t)
			p := newPaced(t, secret)
			rec := p.ask(c)
			if rec.Error != nil || len(rec.Messages) != 4 {
				t.Fatalf("error %+v, %d messages", rec.Error, len(rec.Messages))
			}
			for i, m := range rec.Messages {
				next := clock.Now()
				if i < 3 {
					next = p.wrote[i+1]
				}
				if m.At < p.wrote[i] || m.At-m.UncertainNs > next {
					t.Errorf("event %d: %+v, written after %d and before %d", i, m, p.wrote[i], next)
				}
				if want := record.PacketClock; active && (m.Clock != want || m.UncertainNs != 0 || m.At > next) {
					t.Errorf("event %d: clock %v, uncertain by %d, at %d, written before %d", i, m.Clock, m.UncertainNs, m.At, next)
				}
				if !active && m.Clock == record.PacketClock {
					t.Errorf("event %d has a packet's instant without a capture", i)
				}
			}
			if !active {
				return
			}
			if n := rec.Trace.SharedReads; n != 0 {
				t.Errorf("%d messages count as coalesced, packets tell the instants of all", n)
			}
			tr := rec.Trace
			waited := p.wrote[3] - p.wrote[2] // the second event waited at least so long
			if tr.GapUncertainNs != 0 || tr.ReadDelayMax < waited || rec.End < rec.Messages[3].At || tr.FirstChunk > rec.Messages[0].At || rec.Ack > tr.FirstChunk {
				t.Errorf("%+v, ack %d, end %d", tr, rec.Ack, rec.End)
			}
			if s := c.CaptureStats(); s.Messages != 4 || s.Known != 4 || s.Lost != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// Bodies, codings, ends by close: the capture knows every one, and what it knows stays in order.
func TestPacketsOfEveryAnswer(t *testing.T) {
	cases := goldenCases(t)
	recs := make([]record.Record, len(cases))
	var all sync.WaitGroup
	c := mustClient(t, func(o *Options) { o.Timeout, o.Capture = 2*time.Second, CaptureAuto })
	active := c.CaptureStats().Active
	for i := range cases {
		req := &Request{Target: rawServer(t, cases[i].serve), Body: record.Plain([]byte("{}"))}
		all.Go(func() { c.Do(context.Background(), req, &recs[i], nil) })
	}
	all.Wait()
	for i := range cases {
		rec, name := &recs[i], cases[i].Name
		at := rec.Start
		for j, m := range rec.Messages {
			if m.At < at {
				t.Errorf("%s: message %d at %d, the one before at %d", name, j, m.At, at)
			}
			at = m.At
			if active && rec.Error == nil && m.Clock != record.PacketClock {
				t.Errorf("%s: message %d by %v", name, j, m.Clock)
			}
		}
		if rec.Error == nil && rec.End < at {
			t.Errorf("%s: end %d before the last message %d", name, rec.End, at)
		}
	}
}
