package metric

import (
	"math"
	"testing"

	"aiperf/internal/base/binenc"
)

// carried returns what arrives elsewhere of what was collected.
func carried(t *testing.T, p *Prefixes) *Prefixes {
	t.Helper()
	w := binenc.NewWriter(nil)
	p.Visit(w)
	got, r := NewPrefixes(nil), binenc.NewReader(w.Bytes())
	if got.Visit(r); r.Err() != nil || len(r.Bytes()) > 0 {
		t.Fatalf("%v, %d bytes left", r.Err(), len(r.Bytes()))
	}
	return got
}

// TestMergedPrefixes: the requests of several machines give the cache use that they give on one.
func TestMergedPrefixes(t *testing.T) {
	for _, machines := range []int{1, 2, 3, 7} {
		one, merged := NewPrefixes(nil), NewPrefixes(nil)
		parts := make([]*Prefixes, machines)
		for k := range parts {
			parts[k] = NewPrefixes(nil)
		}
		var s cachingServer
		for i := range 60 {
			texts := []string{drawWords(uint64(i%3), 300), drawWords(uint64(100+i%20), 80)}
			q := s.ask(texts, drawWords(uint64(500+i), 20), i%5 != 0)
			one.Add(q)
			parts[i*i%machines].Add(q)
		}
		for _, p := range parts {
			merged.Merge(carried(t, p))
		}
		got, want := merged.Use(), one.Use()
		for _, d := range []float64{got.CacheExpected - want.CacheExpected, got.CacheExpectedMax - want.CacheExpectedMax, got.CacheReported - want.CacheReported} {
			if math.Abs(d) > 1e-4 { // a block has its tokens as a float32
				t.Errorf("%d machines: %+v, want %+v", machines, got, want)
			}
		}
		if got.CacheSource != want.CacheSource || want.CacheExpected < 20 || merged.Tokens() != one.Tokens() {
			t.Errorf("%d machines: %+v of %v tokens, want %+v of %v", machines, got, merged.Tokens(), want, one.Tokens())
		}
	}
}

// TestDamagedPrefixes: sums and blocks that no run can have are refused.
func TestDamagedPrefixes(t *testing.T) {
	good := NewPrefixes(nil)
	good.Add(&Prompt{Texts: []string{"a text"}, Counted: true, Client: 3, Cached: -1})
	w := binenc.NewWriter(nil)
	good.Visit(w)
	for name, damage := range map[string]func(p *Prefixes){
		"negative sum":  func(p *Prefixes) { p.tokens = -1 },
		"no number":     func(p *Prefixes) { p.allowance = math.NaN() },
		"infinite":      func(p *Prefixes) { p.reported = math.Inf(1) },
		"block":         func(p *Prefixes) { p.blocks[1] = -2 },
		"block of NaNs": func(p *Prefixes) { p.blocks[1] = float32(math.NaN()) },
	} {
		bad := carried(t, good)
		damage(bad)
		c := binenc.NewWriter(nil)
		bad.Visit(c)
		r := binenc.NewReader(c.Bytes())
		if NewPrefixes(nil).Visit(r); r.Err() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for n := range len(w.Bytes()) {
		r := binenc.NewReader(w.Bytes()[:n])
		if NewPrefixes(nil).Visit(r); r.Err() == nil {
			t.Errorf("%d bytes of %d are accepted", n, len(w.Bytes()))
		}
	}
}
