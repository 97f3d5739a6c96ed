package load

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"aiperf/internal/base/rng"
)

func testStream() *rng.Stream { return rng.New(&testSeed).Stream(rampStream) }

func TestProfileInverts(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := Phase{Rate: rapid.Float64Range(0.01, 5000).Draw(r, "rate")}
		p.RateRamp = Ramp{
			Duration: time.Duration(rapid.IntRange(0, 100000).Draw(r, "ramp")) * ms,
			Strategy: rapid.SampledFrom([]RampStrategy{Linear, Exponential, PoissonRamp}).Draw(r, "strategy"),
			From:     float64(rapid.IntRange(0, 100).Draw(r, "from")),
		}
		if p.Rate*p.RateRamp.Duration.Seconds() > 1e4 && p.RateRamp.Strategy == PoissonRamp {
			p.RateRamp.Strategy = Linear
		}
		at := 0.0
		for range rapid.IntRange(0, 4).Draw(r, "points") {
			p.Series = append(p.Series, RatePoint{at, rapid.Float64Range(0.01, 1000).Draw(r, "qps")})
			at += rapid.Float64Range(0.01, 10).Draw(r, "step")
		}
		f := newRateCurve(&p, testStream)
		u, last := 0.0, 0.0
		for range 100 {
			u += rapid.Float64Range(0, 50).Draw(r, "gap")
			x := f.invert(u)
			if x < last-1e-10 || math.IsNaN(x) { // instants are whole nanoseconds
				t.Fatalf("time runs backwards: %v after %v", x, last)
			}
			if got := f.integral(x); math.Abs(got-u) > 1e-6*max(1, u) {
				t.Fatalf("integral(%v) = %v, want %v", x, got, u)
			}
			last = x
		}
	})
}

func TestProfileValues(t *testing.T) {
	d := 8 * sec
	for _, c := range []struct {
		name  string
		p     Phase
		at    map[float64]float64 // s -> rate
		total map[float64]float64 // s -> integral
	}{
		{"constant", Phase{Rate: 5}, map[float64]float64{0: 5, 100: 5}, map[float64]float64{2: 10}},
		{"linear ramp", Phase{Rate: 10, RateRamp: Ramp{Duration: d}}, map[float64]float64{0: 0.125, 4: 5.0625, 8: 10, 9: 10}, map[float64]float64{8: 40.5, 9: 50.5}},
		{"ramp shorter than a step", Phase{Rate: 10, RateRamp: Ramp{Duration: 50 * ms}}, map[float64]float64{0: 10, 1: 10}, map[float64]float64{1: 10}},
		{"from 20 down", Phase{Rate: 10, RateRamp: Ramp{Duration: d, From: 20}}, map[float64]float64{0: 20, 4: 15, 8: 10}, map[float64]float64{8: 120}},
		{"exponential", Phase{Rate: 10, RateRamp: Ramp{Duration: d, Strategy: Exponential, From: 1}}, map[float64]float64{0: 1, 4: 3.25, 8: 10}, map[float64]float64{8: 8 + 72.0/3}},
		{"series after a ramp", Phase{Series: []RatePoint{{1, 4}, {2, 8}}, RateRamp: Ramp{Duration: 2 * sec, From: 4}},
			map[float64]float64{0: 4, 2: 4, 3: 4, 3.5: 6, 4: 8, 9: 8}, map[float64]float64{3: 12, 4: 18, 5: 26}},
	} {
		f := newRateCurve(&c.p, testStream)
		for at, want := range c.at {
			if got := rateAt(f, at); math.Abs(got-want) > 1e-3 {
				t.Errorf("%s: rate at %v: %v, want %v", c.name, at, got, want)
			}
		}
		for at, want := range c.total {
			if got := f.integral(at); math.Abs(got-want) > 1e-3 {
				t.Errorf("%s: integral to %v: %v, want %v", c.name, at, got, want)
			}
		}
	}
}

// rateAt is the rate of a curve at t seconds: how fast its integral grows just after.
func rateAt(f *rateCurve, t float64) float64 {
	const h = 1e-6
	return (f.integral(t+h) - f.integral(t)) / h
}

func TestLimitSteps(t *testing.T) {
	for _, c := range []struct {
		name   string
		ramp   Ramp
		target int
		at     map[float64]int // s -> limit
	}{
		{"none", Ramp{}, 0, map[float64]int{0: unlimited, 9: unlimited}},
		{"no ramp", Ramp{}, 7, map[float64]int{0: 7}},
		{"ramp of nothing", Ramp{Duration: sec}, 0, map[float64]int{0: unlimited}},
		{"to one", Ramp{Duration: sec}, 1, map[float64]int{0: 1}},
		{"linear", Ramp{Duration: 2 * sec}, 5, map[float64]int{0: 1, 0.49: 1, 0.5: 2, 1: 3, 1.5: 4, 1.99: 4, 2: 5, 9: 5}},
		{"exponential", Ramp{Duration: 2 * sec, Strategy: Exponential}, 5, map[float64]int{0: 1, 0.99: 1, 1: 2, 1.42: 3, 1.74: 4, 2: 5}},
		{"down", Ramp{Duration: 2 * sec, From: 5}, 1, map[float64]int{0: 5, 0.5: 4, 2: 1}},
	} {
		for at, want := range c.at {
			l := limit{steps: limitSteps(c.ramp, c.target, testStream)}
			if got, _ := l.at(ns(at)); got != want {
				t.Errorf("%s at %v s: %d, want %d", c.name, at, got, want)
			}
		}
	}
	steps := limitSteps(Ramp{Duration: 3 * sec, Strategy: PoissonRamp}, 20, testStream)
	for i := 1; i < len(steps); i++ {
		if steps[i].at < steps[i-1].at || steps[i].value <= steps[i-1].value {
			t.Errorf("step %d: %v after %v", i, steps[i], steps[i-1])
		}
	}
	if last := steps[len(steps)-1]; last != (step{3, 20}) {
		t.Errorf("ends with %v", last)
	}
}

func TestSlots(t *testing.T) {
	var s slots
	s.begin(limitSteps(Ramp{}, 2, testStream), 1000, never)
	s.take(1100)
	s.take(1200)
	s.give(1500)
	s.take(1600)
	if s.free() != 0 || s.full.until(1900) != 600e-9 {
		t.Errorf("free %d, full %v", s.free(), s.full.until(1900))
	}
	s.begin(limitSteps(Ramp{}, 1, testStream), 2000, never) // lowered with two in use
	if s.give(2100); s.free() != 0 {
		t.Error("the debt was not paid")
	}
	if s.give(2200); s.free() != 1 {
		t.Error("no slot after the debt")
	}
}

func TestArrivalsAhead(t *testing.T) {
	// What is known ahead is what comes, whoever asks first.
	p := Phase{Mode: Rate, Pattern: Gamma, Smoothness: 0.5, Rate: 100, RateRamp: Ramp{Duration: 2 * sec}}
	open := func() *arrivals {
		return newArrivals(newIntervals(&p, rng.New(&testSeed)), newRateCurve(&p, testStream), Share{}, 0)
	}
	a, b := open(), open()
	for i := range 500 {
		if i%7 == 0 {
			b.within(b.next()+int64(50*ms), 20)
		}
		if a.next() != b.next() {
			t.Fatalf("arrival %d: %d and %d", i, a.next(), b.next())
		}
		if i == 250 {
			a.reanchor(a.next() + 1e9)
			b.reanchor(b.next() + 1e9)
		}
		a.pass()
		b.pass()
	}
}

func TestSampling(t *testing.T) {
	root := rng.New(&testSeed)
	seq, _ := newSampler(Sequential, sized(3), root)
	for i := range 7 {
		wantCount(t, "sequential", seq(), i%3)
	}
	shuffled, _ := newSampler(Shuffle, sized(10), root)
	for range 3 {
		seen := map[int]bool{}
		for range 10 {
			seen[shuffled()] = true
		}
		wantCount(t, "different entries", len(seen), 10)
	}
	random, _ := newSampler(Random, sized(4), root)
	var n [4]int
	for range 4000 {
		n[random()]++
	}
	for i, k := range n {
		if k < 850 || k > 1150 {
			t.Errorf("entry %d: %d of 4000", i, k)
		}
	}
	if _, err := newSampler("mixed", sized(3), root); err == nil {
		t.Error("an unknown order was accepted")
	}
}

func TestPlanIsChecked(t *testing.T) {
	good := Phase{Mode: ClosedLoop, Concurrency: 1, Requests: 1}
	for name, change := range map[string]func(p *Phase){
		"mode":         func(p *Phase) { p.Mode = "fast" },
		"concurrency":  func(p *Phase) { p.Concurrency = 0 },
		"stop":         func(p *Phase) { p.Requests = 0 },
		"rate":         func(p *Phase) { p.Mode = Rate; p.Pattern = Poisson },
		"pattern":      func(p *Phase) { p.Mode = Rate; p.Rate = 1 },
		"series":       func(p *Phase) { p.Mode = Rate; p.Pattern = Constant; p.Series = []RatePoint{{1, 1}, {1, 2}} },
		"users":        func(p *Phase) { p.Mode = UserCentric; p.Rate = 1 },
		"user rate":    func(p *Phase) { p.Mode = UserCentric; p.Users = 1 },
		"cancellation": func(p *Phase) { p.Cancellation.Percent = 101 },
		"seamless":     func(p *Phase) { p.Seamless = true },
		"warm-up":      func(p *Phase) { p.Seamless, p.Warmup = true, true },
	} {
		p := good
		change(&p)
		if _, err := New(one(p), Options{Source: talk(1, 1, 0), Root: rng.New(nil)}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := New(one(good), Options{Source: talk(0, 1, 0), Root: rng.New(nil)}); err == nil {
		t.Error("no data: accepted")
	}
	if _, err := New(Scenario{}, Options{Source: talk(1, 1, 0), Root: rng.New(nil)}); err == nil {
		t.Error("no phase: accepted")
	}
}

// sized is a source of a given number of conversations.
type sized int

func (n sized) Len() int { return int(n) }

func (n sized) Shape(int) (Shape, error) { return Shape{}, nil }

// unread is a source that is read while it is used: of its conversations, seen are known.
type unread struct {
	sized
	seen int
}

func (u *unread) Len() int { panic("the end was waited for") }

func (u *unread) Has(i int) bool {
	u.seen = max(u.seen, min(i+1, int(u.sized)))
	return i < int(u.sized)
}

func (u *unread) Ordered() bool { return true }

// TestSequentialReadsNoFurther: conversations in order need no more of the source than those that are used.
func TestSequentialReadsNoFurther(t *testing.T) {
	u := &unread{sized: 5}
	next, err := newSampler(Sequential, u, rng.New(nil))
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for range 3 {
		got = append(got, next())
	}
	if !slices.Equal(got, []int{0, 1, 2}) || u.seen != 3 {
		t.Errorf("%v, %d seen", got, u.seen)
	}
	for range 4 {
		got = append(got, next())
	}
	if !slices.Equal(got[3:], []int{3, 4, 0, 1}) {
		t.Errorf("%v", got)
	}
}
