package mathtext

import (
	"hash/fnv"
	"math"
	"math/cmplx"
	"slices"
)

// functions are the functions with a numeric value.
var functions = map[string]func(complex128) complex128{
	"sin": cmplx.Sin, "cos": cmplx.Cos, "tan": cmplx.Tan, "cot": cmplx.Cot,
	"sec": func(x complex128) complex128 { return 1 / cmplx.Cos(x) }, "csc": func(x complex128) complex128 { return 1 / cmplx.Sin(x) },
	"asin": cmplx.Asin, "acos": cmplx.Acos, "atan": cmplx.Atan,
	"acot": func(x complex128) complex128 { return cmplx.Atan(1 / x) }, "asec": func(x complex128) complex128 { return cmplx.Acos(1 / x) },
	"acsc": func(x complex128) complex128 { return cmplx.Asin(1 / x) },
	"sinh": cmplx.Sinh, "cosh": cmplx.Cosh, "tanh": cmplx.Tanh, "asinh": cmplx.Asinh, "acosh": cmplx.Acosh, "atanh": cmplx.Atanh,
	"abs":       func(x complex128) complex128 { return complex(cmplx.Abs(x), 0) },
	"floor":     realOnly(math.Floor),
	"ceiling":   realOnly(math.Ceil),
	"factorial": realOnly(func(x float64) float64 { return math.Gamma(x + 1) }),
}

// realOnly makes a real function undefined for other arguments.
func realOnly(f func(float64) float64) func(complex128) complex128 {
	return func(x complex128) complex128 {
		if math.Abs(imag(x)) > 1e-9*(1+math.Abs(real(x))) {
			return cmplx.NaN()
		}
		return complex(f(real(x)), 0)
	}
}

// point assigns every symbol a value.
type point func(symbol string) complex128

// value returns the value of n at a point; NaN if it has none.
func (n *Node) value(at point) complex128 {
	switch n.Kind {
	case Num:
		v, _ := n.Rat.Float64() // rounding is intended
		return complex(v, 0)
	case Sym:
		return at(n.Name)
	case Const:
		switch n.Name {
		case circle:
			return math.Pi
		case euler:
			return math.E
		case imaginary:
			return 1i
		}
		return cmplx.NaN()
	case Add:
		var sum complex128
		for _, a := range n.Args {
			sum += a.value(at)
		}
		return sum
	case Mul:
		product := complex128(1)
		for _, a := range n.Args {
			product *= a.value(at)
		}
		return product
	case Pow:
		if v, ok := n.exact(); ok {
			f, _ := v.Float64() // rounding is intended
			return complex(f, 0)
		}
		return raise(n.Args[0].value(at), n.Args[1].value(at))
	case Func, Opaque:
		return n.functionValue(at)
	}
	return cmplx.NaN()
}

// raise returns a power; real roots of positive numbers stay real.
func raise(base, exp complex128) complex128 {
	switch {
	case base == 0 && real(exp) <= 0:
		if exp == 0 {
			return 1
		}
		return cmplx.NaN()
	case imag(base) == 0 && imag(exp) == 0 && (real(base) > 0 || real(exp) == math.Trunc(real(exp))):
		return complex(math.Pow(real(base), real(exp)), 0)
	}
	return cmplx.Pow(base, exp)
}

// functionValue returns the value of a function. A function without a known value, for example f(x) or an integral, is replaced by some smooth
// function of its arguments, which is the same for the same name.
func (n *Node) functionValue(at point) complex128 {
	if v, ok := n.exact(); ok {
		f, _ := v.Float64() // rounding is intended
		return complex(f, 0)
	}
	if f, ok := functions[n.Name]; ok && n.Kind == Func {
		return f(n.Args[0].value(at))
	}
	if n.Name == "log" {
		return cmplx.Log(n.Args[0].value(at)) / cmplx.Log(n.Args[1].value(at))
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(n.Name)) // writing to a hash never fails
	seed := float64(h.Sum64()%100_003) / 100_003
	out := complex(seed, 0)
	for i, a := range n.Args {
		v := a.value(at)
		if !a.scalar() { // a range or a relation counts with its text
			g := fnv.New64a()
			_, _ = g.Write([]byte(a.Key())) // writing to a hash never fails
			v = complex(float64(g.Sum64()%100_003)/100_003, 0)
		}
		out += cmplx.Sin(v*complex(1+seed, 0)+complex(float64(i)+seed, 0)) + v*complex(seed/7, 0)
	}
	return out
}

// samples are odd values on both sides of zero, so that differences in roots and absolute values appear.
var samples = []float64{0.7390851332, 2.3561029471, -1.2720196495, 0.1831477052, -0.4812118251, 5.6038568317}

// smallest is the difference, relative to the size of the parts, below which two values are equal.
const smallest = 1e-10

// sameValue reports whether two scalars are equal.
func sameValue(a, b *Node) bool {
	if a.Key() == b.Key() {
		return true
	}
	x, okX := a.exact()
	y, okY := b.exact()
	if okX && okY {
		return x.Cmp(y) == 0
	}
	if u, v := a.infinite(), b.infinite(); u != 0 || v != 0 {
		return u == v
	}
	found := map[string]bool{}
	a.symbols(found)
	b.symbols(found)
	names := make([]string, 0, len(found))
	for name := range found {
		names = append(names, name)
	}
	slices.Sort(names)
	points := len(samples)
	if len(names) == 0 {
		points = 1
	}
	seen := 0
	for k := range points {
		at := func(name string) complex128 {
			i, _ := slices.BinarySearch(names, name)
			return complex(samples[(k+i)%len(samples)]+float64(i)*0.0719346, 0)
		}
		u, v := a.value(at), b.value(at)
		if bad(u) || bad(v) {
			continue
		}
		seen++
		if cmplx.Abs(u-v) > smallest*(cmplx.Abs(u)+cmplx.Abs(v))+1e-13 {
			return false
		}
	}
	return seen > 0
}

func bad(v complex128) bool { return cmplx.IsNaN(v) || cmplx.IsInf(v) }

// constantValue returns the value of a scalar without symbols.
func (n *Node) constantValue() (complex128, bool) {
	found := map[string]bool{}
	if n.symbols(found); len(found) > 0 || !n.scalar() {
		return 0, false
	}
	v := n.value(nil)
	return v, !bad(v)
}

// compare orders two numbers; known = false if they have no order.
func compare(a, b *Node) (order int, known bool) {
	x, okX := a.exact()
	y, okY := b.exact()
	if okX && okY {
		return x.Cmp(y), true
	}
	if a.Key() == b.Key() {
		return 0, true
	}
	u, okU := a.realValue()
	v, okV := b.realValue()
	switch {
	case !okU || !okV:
		return 0, false
	case sameReal(u, v):
		return 0, true
	case u < v:
		return -1, true
	}
	return 1, true
}

// infinite returns the sign of an infinite value, including sums and products with finite ones; 0 = n is finite, unknown or undefined.
func (n *Node) infinite() (sign int) {
	switch {
	case n.Kind == Const && n.Name == infinity:
		return 1
	case n.Kind == Const && n.Name == minusInfinity:
		return -1
	case n.Kind != Add && n.Kind != Mul:
		return 0
	}
	some, value := false, 0.0
	if n.Kind == Mul {
		value = 1
	}
	for _, a := range n.Args {
		v, ok := a.realValue()
		if !ok {
			return 0
		}
		some = some || math.IsInf(v, 0)
		if n.Kind == Add {
			value += v
		} else {
			value *= v
		}
	}
	switch {
	case !some || !math.IsInf(value, 0):
		return 0
	case value > 0:
		return 1
	}
	return -1
}

// realValue returns the value of a real number, including infinities.
func (n *Node) realValue() (float64, bool) {
	if sign := n.infinite(); sign != 0 {
		return math.Inf(sign), true
	}
	v, ok := n.constantValue()
	return real(v), ok && math.Abs(imag(v)) <= smallest*(1+math.Abs(real(v)))
}

// sameReal reports whether two real values are equal up to rounding.
func sameReal(u, v float64) bool {
	return u == v || !math.IsInf(u, 0) && !math.IsInf(v, 0) && math.Abs(u-v) <= smallest*(math.Abs(u)+math.Abs(v))
}
