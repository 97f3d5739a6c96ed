package transport

import (
	"math/rand/v2"
	"testing"
	"time"

	"aiperf/internal/measure/record"
)

// streamSim feeds a pacer with the reads of 100 streams.
type streamSim struct {
	p       *restPacer
	now     int64
	gap     func() int64
	answer  int64 // ns; 0 = none ends
	partial int   // one read of this number ends inside a message; 0 = none
	joined  int   // one read of this number brings two messages; 0 = none
}

// run feeds n reads.
func (s *streamSim) run(n int) {
	const streams = 100
	perStream := int64(0)
	for i := range n {
		gap := s.gap()
		s.now += gap / streams
		perStream += gap / streams
		s.p.read(gap, s.now)
		if s.partial > 0 && i%s.partial == 0 {
			s.p.partial()
		}
		if s.joined > 0 && i%s.joined == 0 {
			s.p.joined()
		}
		if s.answer > 0 && perStream > s.answer/streams {
			perStream = 0
			s.p.ended(s.answer)
		}
	}
}

func fixedGap(d time.Duration) func() int64 { return func() int64 { return int64(d) } }

func exponentialGap(r *rand.Rand, mean time.Duration) func() int64 {
	return func() int64 { return int64(r.ExpFloat64() * float64(mean)) }
}

// TestRestPacer: the loop rests where no instant, no server and no slot can notice it, and nowhere else.
func TestRestPacer(t *testing.T) {
	const ms = time.Millisecond
	r := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		s    streamSim
		want time.Duration
	}{
		"fixed gaps of 10 ms":           {streamSim{gap: fixedGap(10 * ms), answer: int64(time.Second)}, 2 * ms},
		"fixed gaps of 2.5 ms":          {streamSim{gap: fixedGap(2500 * time.Microsecond), answer: int64(time.Second)}, ms},
		"fixed gaps of 0.4 ms":          {streamSim{gap: fixedGap(400 * time.Microsecond), answer: int64(time.Second)}, 0},
		"no answer has ended":           {streamSim{gap: fixedGap(10 * ms)}, 2 * ms},
		"exponential gaps":              {streamSim{gap: exponentialGap(r, 10*ms), answer: int64(time.Second)}, 0},
		"exponential gaps of 4 s":       {streamSim{gap: exponentialGap(r, 4*time.Second), answer: int64(100 * time.Second)}, 2 * ms},
		"messages in two pieces":        {streamSim{gap: fixedGap(10 * ms), answer: int64(time.Second), partial: 2}, 0},
		"answers of 40 ms":              {streamSim{gap: fixedGap(10 * ms), answer: int64(40 * ms)}, 0},
		"answers of 300 ms":             {streamSim{gap: fixedGap(10 * ms), answer: int64(300 * ms)}, 500 * time.Microsecond},
		"two messages in every write":   {streamSim{gap: fixedGap(10 * ms), answer: int64(time.Second), joined: 1}, 2 * ms},
		"two messages in the last read": {streamSim{gap: fixedGap(10 * ms), answer: int64(time.Second), joined: 100}, 2 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			c.s.p = new(restPacer)
			if d := c.s.p.duration(); d != 0 {
				t.Errorf("it rests for %v before it has seen a read", time.Duration(d))
			}
			c.s.run(20 * windowReads)
			if d := time.Duration(c.s.p.duration()); d != c.want {
				t.Errorf("it rests for %v, want %v", d, c.want)
			}
			if c.want == 0 && c.s.p.longest() != 0 {
				t.Errorf("it rested for %v", c.s.p.longest())
			}
		})
	}
}

// TestRestPacerStops: whatever begins to suffer from the rest ends it within one window, and the next rest begins later each time.
func TestRestPacerStops(t *testing.T) {
	const ms = time.Millisecond
	fair := func() *streamSim {
		s := &streamSim{p: new(restPacer), gap: fixedGap(10 * ms), answer: int64(time.Second)}
		s.run(10 * windowReads)
		if s.p.duration() != int64(2*ms) {
			t.Fatalf("it rests for %v", time.Duration(s.p.duration()))
		}
		return s
	}
	for name, change := range map[string]func(s *streamSim){
		"short gaps":             func(s *streamSim) { s.gap = fixedGap(3 * ms) },
		"messages in two pieces": func(s *streamSim) { s.partial = 2 },
		"messages read together": func(s *streamSim) { s.joined = 10 },
		"short answers":          func(s *streamSim) { s.answer = int64(20 * ms) },
	} {
		s := fair()
		change(s)
		s.run(windowReads / 2)
		if d := s.p.duration(); d != 0 {
			t.Errorf("%s: it still rests for %v", name, time.Duration(d))
		}
	}
	s := fair()
	release := s.p.hold()
	if d := s.p.duration(); d != 0 {
		t.Errorf("an urgent reading: it rests for %v", time.Duration(d))
	}
	if release(); s.p.duration() != int64(2*ms) {
		t.Error("it does not rest again after the urgent reading")
	}
	if s.p.unstamped(); s.p.duration() != 0 {
		t.Error("it rests although the kernel has not stamped a read")
	}
	windows := func() (n int) {
		for s.p.duration() == 0 {
			s.run(windowReads)
			n++
		}
		return n
	}
	windows()
	before := 0
	for range 5 {
		s.p.unstamped()
		n := windows()
		if n <= before {
			t.Errorf("it rests again after %d windows, before after %d", n, before)
		}
		before = n
	}
}

// TestPermitted: a gap or an answer permits the longest rest that it is some times as long as. Stamps may precede the instant of their request.
func TestPermitted(t *testing.T) {
	for _, c := range []struct {
		ns   int64
		want int
	}{{-1, 0}, {0, 0}, {499_999, 0}, {500_000, 1}, {3_999_999, 3}, {4_000_000, 4}, {1 << 60, 4}} {
		if got := permitted(c.ns, 2); got != c.want {
			t.Errorf("%d ns: %d, want %d", c.ns, got, c.want)
		}
	}
}

// TestDelayWithoutRest: the delay of a read does not include the time that the loop chose to rest.
func TestDelayWithoutRest(t *testing.T) {
	p := new(restPacer)
	p.rested(1000, 3000)
	for _, c := range []struct{ at, user, want int64 }{
		{500, 900, 400}, {500, 3100, 600}, {1500, 3100, 100}, {1500, 2500, 0}, {3200, 3300, 100}, {2900, 9000, 6000},
	} {
		if got := p.withoutRest(c.at, c.user); got != c.want {
			t.Errorf("bytes of %d read at %d waited for %d, want %d", c.at, c.user, got, c.want)
		}
	}
	if got := (*restPacer)(nil).withoutRest(5, 12); got != 7 {
		t.Errorf("without a pacer: %d", got)
	}
}

// TestArrived: the time between the messages of an answer limits the rests, not the wait for the first one. An end mark does not count as a message.
func TestArrived(t *testing.T) {
	x := &Exchange{sent: 100, in: &readState{arrival: arrival{at: 1000}}}
	x.trace.FirstChunk = 900
	for _, c := range []struct {
		a    *arena
		want int64
	}{
		{nil, 900}, {&arena{messages: make([]record.Message, 2), marks: []int{1}}, 900}, {&arena{messages: make([]record.Message, 3), marks: []int{2}}, 100},
	} {
		if x.arena = c.a; x.arrived() != c.want {
			t.Errorf("%+v: %d ns, want %d", c.a, x.arrived(), c.want)
		}
	}
}
