package rng

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
)

// The vectors are the output of testdata/vectors.py under CPython 3.11 and numpy 2.
//
//go:embed testdata/vectors.json.gz
var vectorFile []byte

type vector struct {
	Seed   uint64        `json:"seed"`
	Call   string        `json:"call"`
	Values []json.Number `json:"values"`
}

func TestKnownAnswers(t *testing.T) {
	z, err := gzip.NewReader(bytes.NewReader(vectorFile))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(data, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 300 {
		t.Fatalf("only %d vectors", len(vectors))
	}
	for _, v := range vectors {
		t.Run(fmt.Sprintf("%d/%s", v.Seed, v.Call), func(t *testing.T) {
			for i, got := range draw(t, v) {
				if !same(got, v.Values[i].String()) {
					t.Fatalf("draw %d: got %v, want %v", i, got, v.Values[i])
				}
			}
		})
	}
}

// same compares integers exactly and floats to four units in the last place (the C library's log, sin and cos are not Go's).
func same(got any, want string) bool {
	f, ok := got.(float64)
	if !ok {
		return fmt.Sprint(got) == want
	}
	w, err := strconv.ParseFloat(want, 64)
	return err == nil && math.Abs(f-w) <= 4*(math.Nextafter(math.Abs(w), math.Inf(1))-math.Abs(w))
}

// draw makes the draws of a vector with a fresh generator.
func draw(t *testing.T, v vector) []any {
	t.Helper()
	s := NewStream(v.Seed)
	p, n := &s.Python, s.Numpy()
	words := strings.Fields(v.Call)
	arg := func(i int) float64 {
		f, err := strconv.ParseFloat(words[i+1], 64)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	integer := func(i int) int {
		k, err := strconv.Atoi(words[i+1])
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	var out []any
	each := func(f func() any) []any {
		for range v.Values {
			out = append(out, f())
		}
		return out
	}
	order := func(shuffle func(n int, swap func(i, j int)), times int) []any {
		list := make([]int, integer(0))
		for i := range list {
			list[i] = i
		}
		for range times {
			shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			for _, x := range list {
				out = append(out, x)
			}
		}
		return out
	}
	switch words[0] {
	case "random":
		for range 692 {
			p.Float64()
		}
		return each(func() any { return p.Float64() })
	case "randrange":
		return each(func() any { return p.Below(integer(0)) })
	case "getrandbits":
		return each(func() any { return p.Bits(integer(0)) })
	case "randint":
		return each(func() any { return p.Between(integer(0), integer(1)) })
	case "choices":
		return each(func() any { return p.Index(integer(0)) })
	case "sample":
		for _, x := range p.Sample(integer(0), integer(1)) {
			out = append(out, x)
		}
		return out
	case "shuffle":
		return order(p.Shuffle, 1)
	case "gauss":
		return each(func() any { return p.Gauss(arg(0), arg(1)) })
	case "uniform":
		return each(func() any { return p.Uniform(arg(0), arg(1)) })
	case "expovariate":
		return each(func() any { return p.Exponential(arg(0)) })
	case "gamma":
		return each(func() any { return p.Gamma(arg(0), arg(1)) })
	case "np.raw":
		return each(func() any { return n.Uint64() })
	case "np.random":
		return each(func() any { return n.Float64() })
	case "np.integers":
		return each(func() any { return n.Integers(integer(0), integer(1)) })
	case "np.shuffle":
		return order(n.Shuffle, 2)
	}
	t.Fatalf("no such call: %s", v.Call)
	return nil
}
