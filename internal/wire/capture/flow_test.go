package capture

import (
	"math/rand/v2"
	"testing"
)

// sent is one segment of a simulated stream.
type sent struct {
	off, n int
	unseen bool // TCP got it, the ring did not
}

// stream cuts size bytes into segments, some sent twice, some overlapping, some out of order.
func stream(r *rand.Rand, size int, loss float64) []sent {
	var segs []sent
	for o := 0; o < size; {
		n := min(1+r.IntN(40), size-o)
		segs = append(segs, sent{o, n, r.Float64() < loss})
		if r.IntN(4) == 0 {
			b := max(0, o-r.IntN(30))
			segs = append(segs, sent{b, o + n - b, false})
		}
		o += n
	}
	for i := range segs {
		if j := i + r.IntN(5); j < len(segs) {
			segs[i], segs[j] = segs[j], segs[i]
		}
	}
	return segs
}

// against compares the mapping with the bytewise model: a byte has arrived at the first instant at which every byte up to it has been
// there. The reader is behind by some segments, asks for some places and gives a bound for each.
func against(t *testing.T, seed uint64, loss float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, seed))
	const size = 400
	segs := stream(r, size, loss)
	f := flow{base: uint32(0) - uint32(r.IntN(200))} // wraps soon
	there := make([]bool, size)
	truth := make([]int64, size)
	front, asked := 0, 0
	late := int64(r.IntN(50))
	question := func(now int64) {
		n := asked + 1 + r.IntN(30)
		if n > front {
			return
		}
		asked = n
		p := Point{End: uint64(n), Read: min(now, truth[n-1]+late)}
		switch a := f.arrival(p); {
		case a.At < truth[n-1] || a.At > p.Read:
			t.Fatalf("seed %d: byte %d at %d, truth %d, read %d", seed, n, a.At, truth[n-1], p.Read)
		case !a.Known && a.At != p.Read:
			t.Fatalf("seed %d: byte %d unknown but at %d, read %d", seed, n, a.At, p.Read)
		case loss == 0 && (!a.Known || a.At != truth[n-1]):
			t.Fatalf("seed %d: byte %d at %d (known: %v), truth %d", seed, n, a.At, a.Known, truth[n-1])
		}
	}
	for i, s := range segs {
		now := int64(i + 1)
		for k := s.off; k < s.off+s.n; k++ {
			there[k] = true
		}
		for front < size && there[front] {
			truth[front] = now
			front++
		}
		if !s.unseen {
			f.segment(f.base+uint32(s.off), s.n, now)
		}
		for range r.IntN(3) {
			question(now)
		}
	}
	for range size {
		question(int64(len(segs)) + late)
	}
	if f.lost || len(f.ahead) > len(segs) {
		t.Fatalf("seed %d: %+v", seed, f)
	}
}

func TestFlowAgainstModel(t *testing.T) {
	for seed := range uint64(2000) {
		against(t, seed, 0)
		against(t, seed, 0.2)
	}
}

func FuzzFlow(f *testing.F) {
	f.Add(uint64(1), byte(0))
	f.Add(uint64(2), byte(60))
	f.Fuzz(func(t *testing.T, seed uint64, loss byte) { against(t, seed, float64(loss)/256) })
}

// For lost packets the reader's bound counts; packets that waited behind them are unknown until a later one arrives.
func TestFlowHealsAGap(t *testing.T) {
	f := flow{base: 100}
	f.segment(100, 10, 1)
	f.segment(120, 10, 45) // 110 to 120 are lost
	f.segment(130, 10, 55)
	for _, c := range []struct {
		end   uint64
		read  int64
		at    int64
		known bool
	}{{10, 99, 1, true}, {20, 50, 50, false}, {30, 70, 70, false}, {40, 70, 55, true}} {
		if a := f.arrival(Point{c.end, c.read}); a.At != c.at || a.Known != c.known {
			t.Errorf("%+v: %+v", c, a)
		}
	}
	f.segment(140, 10, 60)
	if a := f.arrival(Point{50, 70}); a.At != 60 || !a.Known {
		t.Errorf("after the gap: %+v", a)
	}
}

// Many gigabytes: the sequence number wraps, and nothing grows.
func TestFlowOfALongStream(t *testing.T) {
	f := flow{base: 1<<32 - 5}
	var off uint64
	for i := range int64(20000) {
		f.segment(f.base+uint32(off), 1<<20, i+1)
		off += 1 << 20
		if a := f.arrival(Point{off, 1 << 40}); a.At != i+1 || !a.Known {
			t.Fatal(i, a)
		}
	}
	if cap(f.marks) > 16 {
		t.Error("marks grow to", cap(f.marks))
	}
}

// A flow that nobody asks about is given up before it takes the memory.
func TestFlowIsBounded(t *testing.T) {
	f, g := flow{base: 1}, flow{base: 1}
	for i := range uint32(maxMarks + 10) {
		f.segment(1+i, 1, int64(i+1))
		g.segment(10+2*i, 1, int64(i+1)) // gaps everywhere
	}
	for _, w := range []*flow{&f, &g} {
		if a := w.arrival(Point{1, 7}); !w.lost || w.marks != nil || w.ahead != nil || a.Known || a.At != 7 {
			t.Errorf("not given up: %v, %+v", w.lost, a)
		}
	}
}
