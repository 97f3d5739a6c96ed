package mathtext

import (
	"math/big"
	"slices"
)

// Limits of exact arithmetic; beyond them a value is computed numerically or not at all.
const (
	maxBits  = 1 << 16 // bits of a power
	maxTerms = 2000    // terms of a sum or a product; also the largest n of n!
	maxRoot  = 64
)

// exact returns the value of n if it is a rational number that can be computed within the limits.
func (n *Node) exact() (*big.Rat, bool) {
	switch n.Kind {
	case Num:
		return n.Rat, true
	case Add, Mul:
		out := big.NewRat(0, 1)
		if n.Kind == Mul {
			out.SetInt64(1)
		}
		for _, a := range n.Args {
			v, ok := a.exact()
			if !ok || v.Num().BitLen()+out.Num().BitLen()+v.Denom().BitLen()+out.Denom().BitLen() > 4*maxBits {
				return nil, false
			}
			if n.Kind == Add {
				out.Add(out, v)
			} else {
				out.Mul(out, v)
			}
		}
		return out, true
	case Pow:
		base, ok := n.Args[0].exact()
		if !ok {
			return nil, false
		}
		exp, ok := n.Args[1].exact()
		if !ok {
			return nil, false
		}
		return powerOf(base, exp)
	case Func:
		return n.exactFunction()
	}
	return nil, false
}

// powerOf returns a rational power if it is rational.
func powerOf(base, exp *big.Rat) (*big.Rat, bool) {
	if !exp.IsInt() {
		degree := exp.Denom()
		if !degree.IsInt64() || degree.Int64() > maxRoot || base.Sign() < 0 {
			return nil, false
		}
		above, ok1 := rootOf(base.Num(), degree.Int64())
		below, ok2 := rootOf(base.Denom(), degree.Int64())
		if !ok1 || !ok2 {
			return nil, false
		}
		base, exp = new(big.Rat).SetFrac(above, below), new(big.Rat).SetInt(exp.Num())
	}
	bits := int64(base.Num().BitLen() + base.Denom().BitLen())
	e := exp.Num()
	if !e.IsInt64() || abs(e.Int64()) > maxBits || abs(e.Int64())*bits > maxBits {
		return nil, false
	}
	times := big.NewInt(abs(e.Int64()))
	out := new(big.Rat).SetFrac(new(big.Int).Exp(base.Num(), times, nil), new(big.Int).Exp(base.Denom(), times, nil))
	if e.Sign() < 0 {
		if out.Sign() == 0 {
			return nil, false
		}
		out.Inv(out)
	}
	return out, true
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}

// rootOf returns the integer root of a non-negative integer.
func rootOf(n *big.Int, degree int64) (*big.Int, bool) {
	low, high := big.NewInt(0), new(big.Int).Lsh(big.NewInt(1), uint(int64(n.BitLen())/degree+1))
	times := big.NewInt(degree)
	for low.Cmp(high) <= 0 {
		mid := new(big.Int).Add(low, high)
		mid.Rsh(mid, 1)
		switch new(big.Int).Exp(mid, times, nil).Cmp(n) {
		case 0:
			return mid, true
		case -1:
			low = mid.Add(mid, big.NewInt(1))
		default:
			high = mid.Sub(mid, big.NewInt(1))
		}
	}
	return nil, false
}

// exactFunction returns the value of a function whose arguments and value are rational.
func (n *Node) exactFunction() (*big.Rat, bool) {
	if n.Name == "sum" || n.Name == "prod" {
		return n.series()
	}
	args := make([]*big.Rat, len(n.Args))
	for i, a := range n.Args {
		v, ok := a.exact()
		if !ok {
			return nil, false
		}
		args[i] = v
	}
	if len(args) == 0 {
		return nil, false
	}
	if f, ok := exactFunctions[n.Name]; ok && len(args) >= f.args {
		if v := f.of(args); v != nil {
			return v, true
		}
	}
	return nil, false
}

// exactFunctions are the functions of rational numbers with rational values, and their number of arguments; nil = no value within the limits.
var exactFunctions = map[string]struct {
	args int
	of   func(args []*big.Rat) *big.Rat
}{
	"abs":   {1, func(a []*big.Rat) *big.Rat { return new(big.Rat).Abs(a[0]) }},
	"floor": {1, func(a []*big.Rat) *big.Rat { return new(big.Rat).SetInt(floor(a[0])) }},
	"ceiling": {1, func(a []*big.Rat) *big.Rat {
		return new(big.Rat).SetInt(new(big.Int).Neg(floor(new(big.Rat).Neg(a[0]))))
	}},
	"factorial": {1, factorial},
	"binomial":  {2, binomial},
	"mod":       {2, modulo},
	"max":       {1, func(a []*big.Rat) *big.Rat { return slices.MaxFunc(a, (*big.Rat).Cmp) }},
	"min":       {1, func(a []*big.Rat) *big.Rat { return slices.MinFunc(a, (*big.Rat).Cmp) }},
	"gcd":       {1, func(a []*big.Rat) *big.Rat { return commonMeasure(a, false) }},
	"lcm":       {1, func(a []*big.Rat) *big.Rat { return commonMeasure(a, true) }},
}

func factorial(a []*big.Rat) *big.Rat {
	if v := a[0].Num(); a[0].IsInt() && v.Sign() >= 0 && v.Cmp(big.NewInt(maxTerms)) <= 0 {
		return new(big.Rat).SetInt(new(big.Int).MulRange(1, v.Int64()))
	}
	return nil
}

func binomial(a []*big.Rat) *big.Rat {
	if n, k := a[0], a[1]; n.IsInt() && k.IsInt() && k.Sign() >= 0 && n.Cmp(k) >= 0 && n.Cmp(big.NewRat(maxTerms, 1)) <= 0 {
		return new(big.Rat).SetInt(new(big.Int).Binomial(n.Num().Int64(), k.Num().Int64()))
	}
	return nil
}

func modulo(a []*big.Rat) *big.Rat {
	if a[1].Sign() == 0 {
		return nil
	}
	whole := new(big.Rat).SetInt(floor(new(big.Rat).Quo(a[0], a[1])))
	return whole.Sub(a[0], whole.Mul(whole, a[1]))
}

func floor(x *big.Rat) *big.Int {
	return new(big.Int).Div(x.Num(), x.Denom()) // Euclidean division rounds down, because the denominator is positive
}

// commonMeasure returns the greatest common divisor or the least common multiple of integers.
func commonMeasure(args []*big.Rat, multiple bool) *big.Rat {
	out := new(big.Int)
	for i, a := range args {
		if !a.IsInt() || a.Sign() == 0 {
			return nil
		}
		v := new(big.Int).Abs(a.Num())
		divisor := new(big.Int).GCD(nil, nil, out, v)
		switch {
		case i == 0:
			out = v
		case multiple:
			out = new(big.Int).Div(new(big.Int).Mul(out, v), divisor)
		default:
			out = divisor
		}
	}
	return new(big.Rat).SetInt(out)
}

// series returns the value of a sum or product over a range of integers.
func (n *Node) series() (*big.Rat, bool) {
	from, ok1 := n.Args[2].exact()
	to, ok2 := n.Args[3].exact()
	if !ok1 || !ok2 || !from.IsInt() || !to.IsInt() || !from.Num().IsInt64() || !to.Num().IsInt64() || to.Num().Int64()-from.Num().Int64() > maxTerms {
		return nil, false
	}
	name := n.Args[1].Name
	terms := &Node{Kind: Add}
	if n.Name == "prod" {
		terms.Kind = Mul
	}
	for i := from.Num().Int64(); i <= to.Num().Int64(); i++ {
		terms.Args = append(terms.Args, n.Args[0].with(name, integer(i)))
	}
	return terms.exact()
}

// with returns n with a value substituted for a symbol.
func (n *Node) with(name string, value *Node) *Node {
	if n.Kind == Sym && n.Name == name {
		return value
	}
	if len(n.Args) == 0 {
		return n
	}
	out := *n
	out.Args = make([]*Node, len(n.Args))
	for i, a := range n.Args {
		out.Args[i] = a.with(name, value)
	}
	return &out
}
