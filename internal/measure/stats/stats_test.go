package stats

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func close9(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-12*math.Max(math.Abs(a), math.Abs(b))
}

// TestPercentile compares with what numpy gives.
func TestPercentile(t *testing.T) {
	v := []float64{1, 2, 4, 8, 16}
	for _, c := range []struct{ level, want float64 }{{0, 1}, {1, 1.04}, {10, 1.4}, {25, 2}, {50, 4}, {75, 8}, {90, 12.8}, {99, 15.68}, {100, 16}} {
		if got := Percentile(v, c.level); !close9(got, c.want) {
			t.Errorf("p%v = %v, not %v", c.level, got, c.want)
		}
	}
	if got := Percentile([]float64{7}, 99); got != 7 {
		t.Errorf("one value: %v", got)
	}
	if got := Percentile(nil, 50); !math.IsNaN(got) {
		t.Errorf("no value: %v", got)
	}
}

// TestSum adds what a plain loop loses.
func TestSum(t *testing.T) {
	if got := Total([]float64{1, 1e100, 1, -1e100}); got != 2 {
		t.Errorf("sum %v, not 2", got)
	}
	v := slices.Repeat([]float64{0.1}, 1_000_000)
	if got := Total(v); got != 100000 {
		t.Errorf("a million tenths are %v", got)
	}
}

// TestSumExact compares with exact arithmetic, in any order.
func TestSumExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float64Range(-1e12, 1e12), 1, 200).Draw(t, "values")
		exact := new(big.Float).SetPrec(400)
		size := 0.0
		for _, x := range v {
			exact.Add(exact, new(big.Float).SetPrec(400).SetFloat64(x))
			size += math.Abs(x)
		}
		want, _ := exact.Float64()
		if got := Total(v); math.Abs(got-want) > 1e-16*size+1e-15*math.Abs(want) {
			t.Fatalf("sum %v, not %v", got, want)
		}
	})
}

func TestDescribe(t *testing.T) {
	d := Describe([]float64{4, 2, 8, 6})
	if d.Count != 4 || d.Avg != 5 || d.Sum != 20 || d.Min != 2 || d.Max != 8 || !close9(d.Std, math.Sqrt(5)) || d.P[4] != 5 {
		t.Errorf("%+v", d)
	}
	if d := Describe(slices.Repeat([]float64{0.1}, 7)); d.Std != 0 || d.Avg != 0.1 || d.P[0] != 0.1 {
		t.Errorf("constant: %+v", d)
	}
	if d := Describe(nil); d.Count != 0 || !math.IsNaN(d.Avg) {
		t.Errorf("nothing: %+v", d)
	}
}

// TestStudent compares with published quantiles.
func TestStudent(t *testing.T) {
	for _, c := range []struct {
		level float64
		df    int
		want  float64
	}{{0.95, 2, 4.302652729749462}, {0.95, 1, 12.706204736432095}, {0.99, 9, 3.249835541592126}, {0.90, 30, 1.697260887091205}} {
		if got := StudentT(c.level, float64(c.df)); math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("t(%v, %d) = %v, not %v", c.level, c.df, got, c.want)
		}
	}
	for _, df := range []float64{0, -1, math.NaN()} {
		if got := StudentT(.95, df); !math.IsInf(got, 1) {
			t.Errorf("%v degrees of freedom: %v, want +Inf", df, got)
		}
	}
}

func TestConfidence(t *testing.T) {
	in := Confidence([]float64{9, 9, 10}, 0.95) // the Python tool's recorded numbers
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"mean", in.Mean, 9.333333333333334}, {"std", in.Std, 0.5773502691896257}, {"cv", in.CV, 0.06185895741317418},
		{"se", in.SE, 0.3333333333333333}, {"low", in.Low, 7.89911575675018}, {"high", in.High, 10.767550909916487},
	} {
		if math.Abs(c.got-c.want) > 1e-9 {
			t.Errorf("%s %v, not %v", c.name, c.got, c.want)
		}
	}
	one := Confidence([]float64{3}, 0.95)
	if one.Std != 0 || one.CV != 0 || one.Low != 3 || one.High != 3 || !math.IsNaN(one.T) {
		t.Errorf("one run: %+v", one)
	}
	if zero := Confidence([]float64{0, 0}, 0.95); !math.IsInf(zero.CV, 1) {
		t.Errorf("mean 0: cv %v", zero.CV)
	}
	if neg := Confidence([]float64{-9, -11}, 0.95); neg.CV <= 0 {
		t.Errorf("negative mean: cv %v", neg.CV)
	}
}

// TestColumn keeps every value, whatever form its block takes.
func TestColumn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 3*chunkLen+10).Draw(t, "n")
		kind := rapid.IntRange(0, 4).Draw(t, "kind")
		seed := rapid.Int64().Draw(t, "seed")
		value := func(i int) float64 {
			x := (int64(i)*2862933555777941757 + seed) >> 8
			switch kind {
			case 0:
				return 5
			case 1:
				return float64(x & 0xffff)
			case 2:
				return float64(x & 0xffffffff)
			case 3:
				if x&1 == 0 {
					return math.NaN()
				}
				return float64(x)
			}
			return float64(x) / 3
		}
		var c Column
		if rapid.Bool().Draw(t, "stored") {
			c.KeepIn(NewStore("", rapid.SampledFrom([]int{0, 2 * chunkLen, 1 << 30}).Draw(t, "limit")))
		}
		for i := range n {
			c.Append(value(i))
		}
		if c.Len() != n {
			t.Fatalf("%d values, not %d", c.Len(), n)
		}
		same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
		r := c.Cursor()
		all := c.AppendTo(nil)
		for i := range n {
			if v := value(i); !same(r.Next(), v) || !same(all[i], v) || !same(c.At(i), v) {
				t.Fatalf("kind %d: value %d differs", kind, i)
			}
		}
		if !math.IsNaN(r.Next()) {
			t.Fatal("the cursor goes on after the end")
		}
	})
}

// TestColumnSize: a value takes the bytes that it needs.
func TestColumnSize(t *testing.T) {
	for _, c := range []struct {
		name  string
		value float64
		bytes int
	}{
		{"tokens", 512, 2}, {"ns", 2e9, 4}, {"rates", 0.5, 8}, {"negative", -1, 8}, {"negative zero", math.Copysign(0, -1), 8},
	} {
		var col Column
		col.Append(1)
		for range chunkLen - 1 {
			col.Append(c.value)
		}
		if len(col.chunks) != 1 || len(col.chunks[0].block) != chunkLen*c.bytes {
			t.Errorf("%s are not packed as they should be", c.name)
		}
	}
}
