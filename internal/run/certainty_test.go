package run

import (
	"testing"

	"aiperf/internal/record"
)

// spell says that the client was blind in one stretch of time.
type spell struct{ from, to int64 }

func (s spell) Unseen(from, at int64) int64 {
	if at <= s.from || at > s.to {
		return 0
	}
	return at - max(from, s.from)
}

// TestNarrow: a message that shares its read is as uncertain as the client was blind before it, and no more.
func TestNarrow(t *testing.T) {
	events := func(at ...[2]int64) (list []record.Message) {
		for _, a := range at {
			list = append(list, record.Message{At: a[0], UncertainNs: a[1], Clock: record.KernelClock, Raw: []byte("data: {}")})
		}
		return list
	}
	for _, c := range []struct {
		name       string
		messages   []record.Message
		blind      spell
		first, gap int64
		delay      int64
	}{
		{"a server that writes two events at once", events([2]int64{500, 400}, [2]int64{500, 0}), spell{}, 0, 0, 30},
		{"a client that was stopped", events([2]int64{500, 400}, [2]int64{500, 0}), spell{300, 520}, 200, 200, 230},
		{"stopped, but before all of it", events([2]int64{500, 400}, [2]int64{500, 0}), spell{50, 200}, 0, 0, 30},
		{"only the read before bounds it", events([2]int64{400, 0}, [2]int64{500, 90}, [2]int64{500, 0}), spell{50, 520}, 0, 90, 120},
	} {
		rec := &record.Record{Start: 100, Messages: c.messages, Trace: &record.Trace{LastByteDelayMax: 30, ReadDelayMax: 430}}
		if !doubtful(rec) {
			t.Errorf("%s: nothing doubtful", c.name)
		}
		narrow(rec, c.blind)
		if tr := rec.Trace; tr.FirstUncertainNs != c.first || tr.GapUncertainNs != c.gap || tr.ReadDelayMax != c.delay {
			t.Errorf("%s: first %d, gap %d, delay %d; want %d, %d, %d", c.name, tr.FirstUncertainNs, tr.GapUncertainNs, tr.ReadDelayMax, c.first, c.gap, c.delay)
		}
	}
}

// TestNarrowWithoutStamps: an instant that the client took itself is as uncertain as it was blind, shared or not.
func TestNarrowWithoutStamps(t *testing.T) {
	rec := &record.Record{Start: 100, Trace: &record.Trace{}, Messages: []record.Message{{At: 500, Body: true}}}
	narrow(rec, spell{300, 500})
	if u := rec.Messages[0].UncertainNs; u != 200 {
		t.Errorf("uncertain by %d, want 200", u)
	}
}

// TestNarrowKeepsPackets: what a captured packet says stands.
func TestNarrowKeepsPackets(t *testing.T) {
	rec := &record.Record{Start: 100, Trace: &record.Trace{SendStart: 1, SendEnd: 9_000_000, LastByteDelayMax: 5, ReadDelayMax: 300},
		Messages: []record.Message{{At: 500, Clock: record.PacketClock}}}
	narrow(rec, spell{300, 500})
	if m := rec.Messages[0]; m.UncertainNs != 0 || rec.Trace.ReadDelayMax != 300 {
		t.Errorf("uncertain by %d, delay %d; want 0, 300", m.UncertainNs, rec.Trace.ReadDelayMax)
	}
}

// TestNarrowSend: a request that took long to write because the client stood still left that much later than it says.
func TestNarrowSend(t *testing.T) {
	rec := &record.Record{Trace: &record.Trace{SendStart: 1_000_000, SendEnd: 9_000_000}}
	if !doubtful(rec) {
		t.Error("a send of 8 ms is not doubtful")
	}
	narrow(rec, spell{2_000_000, 9_000_000})
	if u := rec.Trace.SendUncertainNs; u != 7_000_000 {
		t.Errorf("uncertain by %d ns, want 7 ms", u)
	}
	calm := &record.Record{Trace: &record.Trace{SendStart: 1_000_000, SendEnd: 1_100_000}}
	if doubtful(calm) {
		t.Error("a short send is doubtful")
	}
}

// TestCertaintyKeepsRecords: records wait until it is known what the client saw, and none is lost at the end.
func TestCertaintyKeepsRecords(t *testing.T) {
	got := make(chan *record.Record, 10)
	c := newCertainty(func(r *record.Record) { got <- r })
	c.watch(spell{})
	sure := &record.Record{}
	c.put(sure)
	if r := <-got; r != sure {
		t.Error("a certain record waits")
	}
	doubt := func() *record.Record {
		return &record.Record{Trace: &record.Trace{}, Messages: []record.Message{{At: 5, UncertainNs: 3, Clock: record.KernelClock}}}
	}
	one, two := doubt(), doubt()
	c.put(one)
	c.put(two)
	c.known(1) // long ago
	c.known(1 << 62)
	if a, b := <-got, <-got; a != one || b != two || one.Messages[0].UncertainNs != 0 {
		t.Error("records are lost, out of order or not narrowed")
	}
	last := doubt()
	c.put(last)
	c.close()
	if r := <-got; r != last {
		t.Error("a record is lost at the end")
	}
}
