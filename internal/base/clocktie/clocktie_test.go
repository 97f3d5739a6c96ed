package clocktie

import (
	"testing"

	"pgregory.net/rapid"
)

// world simulates two clocks: reference = local + offset(local). The offset drifts by at most 1 ns in MaxDrift and can step.
type world struct {
	at     []int64 // local instants where the drift changes
	offset []int64 // offsets there
	steps  []step
}

type step struct{ at, by int64 }

// drawWorld draws drifts for some minutes, and an offset of up to a day.
func drawWorld(t *rapid.T) *world {
	w := &world{at: []int64{0}, offset: []int64{rapid.Int64Range(-86400e9, 86400e9).Draw(t, "offset")}}
	for range rapid.IntRange(1, 30).Draw(t, "drifts") {
		n := len(w.at) - 1
		length := rapid.Int64Range(1, 60e9).Draw(t, "length")
		ppb := rapid.Int64Range(-100_000, 100_000).Draw(t, "ppb")
		w.at, w.offset = append(w.at, w.at[n]+length), append(w.offset, w.offset[n]+length/1000*ppb/1_000_000)
	}
	return w
}

// truth returns the offset at a local instant.
func (w *world) truth(at int64) int64 {
	v := w.offset[len(w.offset)-1]
	for k := 1; k < len(w.at); k++ {
		if at < w.at[k] {
			part := float64(at-w.at[k-1]) / float64(w.at[k]-w.at[k-1])
			v = w.offset[k-1] + int64(part*float64(w.offset[k]-w.offset[k-1]))
			break
		}
	}
	for _, s := range w.steps {
		if at >= s.at {
			v += s.by
		}
	}
	return v
}

// exchange is a probe with the given delays, all in local time.
func (w *world) exchange(sent, there, held, back int64) Probe {
	came, left, arrived := sent+there, sent+there+held, sent+there+held+back
	return Probe{Sent: sent, Received: came + w.truth(came) + base, Answered: left + w.truth(left) + base, Arrived: arrived}
}

// base keeps instants of the reference clock positive.
const base = int64(1e15)

// slack covers the rounding of the simulation to whole ns.
const slack = 4

// delay draws a delay: mostly short, sometimes very long, and different for each direction.
func delay(t *rapid.T, name string) int64 {
	return rapid.OneOf(rapid.Int64Range(0, 50_000), rapid.Int64Range(0, 50_000), rapid.Int64Range(0, 5e6), rapid.Int64Range(0, 3e9)).Draw(t, name)
}

// probes runs probes one after the other, up to about the given number of them.
func (w *world) probes(t *rapid.T, tie *Tie, from int64, count int) (end int64) {
	at := from
	for range count {
		p := w.exchange(at, delay(t, "there"), rapid.Int64Range(0, 100_000).Draw(t, "held"), delay(t, "back"))
		if err := tie.Add(p); err != nil {
			t.Fatal(err)
		}
		at = p.Arrived + rapid.Int64Range(0, 2e9).Draw(t, "pause")
	}
	return at
}

// TestIntervalHoldsTheTruth: with any drift up to 100 ppm, any delays and any asymmetry, the interval holds the offset at every instant.
func TestIntervalHoldsTheTruth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, tie := drawWorld(t), &Tie{}
		end := w.probes(t, tie, rapid.Int64Range(1, 10e9).Draw(t, "first"), rapid.IntRange(1, 60).Draw(t, "probes"))
		if s := tie.Stats(); s.Steps != 0 || s.Rejected != 0 {
			t.Fatalf("no clock was stepped: %+v", s)
		}
		for range 50 {
			at := rapid.Int64Range(0, end+20e9).Draw(t, "at")
			i, ok := tie.At(at)
			if truth := w.truth(at) + base; !ok || truth < i.Low-slack || truth > i.High+slack {
				t.Fatalf("at %d: the offset %d is not in %+v", at, truth, i)
			}
			ref, bound, _ := tie.Reference(at)
			local, back, ok := tie.Local(at + w.truth(at) + base)
			if !ok || abs(local-at) > back+slack || abs(ref-at-w.truth(at)-base) > bound+slack {
				t.Fatalf("at %d: reference %d ± %d, local %d ± %d", at, ref, bound, local, back)
			}
		}
	})
}

// TestIntervalIsNarrow: the interval is never wider than that of any probe nearby, loosened by its age.
func TestIntervalIsNarrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, tie := drawWorld(t), &Tie{}
		at := int64(1e9)
		var last []Probe
		for range rapid.IntRange(1, neighbours).Draw(t, "probes") {
			p := w.exchange(at, delay(t, "there"), 0, delay(t, "back"))
			if err := tie.Add(p); err != nil {
				t.Fatal(err)
			}
			last, at = append(last, p), p.Arrived+5e8
		}
		i, _ := tie.At(at)
		for _, p := range last {
			low, high := p.limits()
			if own := high - low + loosened(at-p.Sent) + loosened(at-p.Arrived); i.High-i.Low > own {
				t.Fatalf("%+v is wider than %d, which one probe proves", i, own)
			}
		}
	})
}

// TestStep: an interval is off by at most the step of a clock, and by nothing after as many probes as take part in it. A step that is larger than the
// intervals is noticed by the first probe after it.
func TestStep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, tie := drawWorld(t), &Tie{}
		before := w.probes(t, tie, 1e9, rapid.IntRange(1, 20).Draw(t, "before"))
		i, _ := tie.At(before)
		by := rapid.OneOf(rapid.Int64Range(-1e6, 1e6), rapid.Int64Range(-1e12, 1e12)).Draw(t, "by")
		w.steps = []step{{before, by}}
		p := w.exchange(before, delay(t, "there"), 0, delay(t, "back"))
		if err := tie.Add(p); err != nil {
			t.Fatal(err)
		}
		low, high := p.limits()
		if noticed := tie.Stats().Steps == 1; abs(by) > i.High-i.Low+high-low+2*loosened(p.Arrived-p.Sent)+slack && !noticed {
			t.Fatalf("a step of %d ns was not noticed: %+v before, %d to %d after", by, i, low, high)
		}
		end := w.probes(t, tie, p.Arrived, 2*neighbours)
		for range 50 {
			at := rapid.Int64Range(0, end+10e9).Draw(t, "at")
			i, _ := tie.At(at)
			if truth := w.truth(at) + base; truth < i.Low-abs(by)-slack || truth > i.High+abs(by)+slack {
				t.Fatalf("at %d: the offset %d is not within %d of %+v", at, truth, by, i)
			}
		}
		late := rapid.Int64Range(end, end+20e9).Draw(t, "late")
		if i, _ := tie.At(late); w.truth(late)+base < i.Low-slack || w.truth(late)+base > i.High+slack {
			t.Fatalf("at %d, %d probes after the step: the offset %d is not in %+v", late, 2*neighbours, w.truth(late)+base, i)
		}
	})
}

// TestSuspendedMachine: this machine's clock stopped for 30 s, as in a suspended virtual machine. The tie notices it and bounds the new offset.
func TestSuspendedMachine(t *testing.T) {
	w, tie := &world{at: []int64{0}, offset: []int64{5e9}}, &Tie{}
	w.steps = []step{{at: 20e9, by: 30e9}}
	for k := range int64(80) {
		if err := tie.Add(w.exchange(1e9+k*5e8, 10_000, 1000, 30_000)); err != nil {
			t.Fatal(err)
		}
	}
	if s := tie.Stats(); s.Steps != 1 || s.Probes != 80 || s.Best != 20_000 {
		t.Errorf("%+v", s)
	}
	for _, c := range []struct{ at, offset, most int64 }{
		{15e9, 5e9, 50_000}, {30e9, 35e9, 50_000}, {20e9 - 1, 5e9, 15e9 + 50_000},
	} {
		i, _ := tie.At(c.at)
		if c.offset+base < i.Low || c.offset+base > i.High || i.Bound() > c.most {
			t.Errorf("at %d: %+v (bound %d), want %d within %d", c.at, i, i.Bound(), c.offset+base, c.most)
		}
	}
}

// TestHandCalculation: 100 ms there, 20 ms back, 5 ms held; the offset is 1 s.
func TestHandCalculation(t *testing.T) {
	tie := &Tie{}
	if _, ok := tie.At(5); ok {
		t.Error("an interval without probes")
	}
	if _, _, ok := tie.Local(5); ok {
		t.Error("an instant without probes")
	}
	if err := tie.Add(Probe{Sent: 1e9, Received: 2_100e6, Answered: 2_105e6, Arrived: 1_125e6}); err != nil {
		t.Fatal(err)
	}
	// high = 2.1 s − 1 s = 1.1 s; low = 2.105 s − 1.125 s = 0.98 s. At the arrival, high is 125 ms old: 12,500 ns (+1 for rounding up).
	if i, _ := tie.At(1_125e6); i != (Interval{980e6 - 1, 1_100e6 + 12_501}) {
		t.Errorf("%+v", i)
	}
	// Ten seconds after the arrival: both loosen by another ms.
	if i, _ := tie.At(11_125e6); i != (Interval{980e6 - 1e6 - 1, 1_100e6 + 1_012_501}) || i.Offset() != 1_040_006_250 || i.Bound() != 61_006_251 {
		t.Errorf("%+v: %d ± %d", i, i.Offset(), i.Bound())
	}
}

// TestImpossibleProbes are rejected, counted and change nothing.
func TestImpossibleProbes(t *testing.T) {
	tie := &Tie{}
	good := Probe{1e9, 2e9, 2e9 + 5, 1e9 + 100}
	if err := tie.Add(good); err != nil {
		t.Fatal(err)
	}
	want, _ := tie.At(2e9)
	bad := []Probe{
		{2e9, 3e9, 3e9 - 1, 2e9 + 100},       // answered before received
		{2e9, 3e9, 3e9, 2e9 - 1},             // arrived before sent
		{2e9, 3e9, 3e9 + 200, 2e9 + 100},     // the other machine had it for longer than the exchange took
		{-1, 3e9, 3e9, 2e9},                  // no instant
		{2e9, 3e9, 1<<60 + 1, 2e9 + 1},       // too large
		{-1 << 63, 1<<63 - 1, 0, -1<<63 + 5}, // overflow
		{1e9 - 100, 2e9, 2e9, 1e9 - 50},      // out of order
	}
	for _, p := range bad {
		if tie.Add(p) == nil {
			t.Errorf("%+v was accepted", p)
		}
	}
	if s := tie.Stats(); s.Rejected != len(bad) || s.Probes != 1 {
		t.Errorf("%+v", s)
	}
	if i, _ := tie.At(2e9); i != want {
		t.Errorf("%+v, before %+v", i, want)
	}
}

// TestLongRun: the list is bounded, and the newest probes count.
func TestLongRun(t *testing.T) {
	w, tie := &world{at: []int64{0}, offset: []int64{0}}, &Tie{}
	for k := range int64(mostProbes + 10) {
		if err := tie.Add(w.exchange(1+k*1000, 10, 0, 10)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(tie.probes); n != mostProbes/2+10 {
		t.Errorf("%d probes are kept", n)
	}
	if i, _ := tie.At(mostProbes * 1000); i.Bound() > 15 || i.Low > base || i.High < base {
		t.Errorf("%+v", i)
	}
}

func abs(v int64) int64 { return max(v, -v) }
