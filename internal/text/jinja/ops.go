package jinja

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

var errOverflow = errors.New("an integer has more than 64 bits")

func mismatch(op string, a, b Value) error {
	if u, ok := a.(Undefined); ok {
		return fmt.Errorf("%s is undefined", u.what)
	}
	if u, ok := b.(Undefined); ok {
		return fmt.Errorf("%s is undefined", u.what)
	}
	return fmt.Errorf("unsupported operand types for %s: %s and %s", op, typeName(a), typeName(b))
}

// numbers applies an operation to integers, or to floats if at least one operand is a float.
func numbers(op string, a, b Value, ints func(x, y int64) (Value, error), floats func(x, y float64) (Value, error)) (Value, error) {
	if x, ok := integer(a); ok {
		if y, ok := integer(b); ok {
			return ints(x, y)
		}
	}
	x, ok1 := number(a)
	y, ok2 := number(b)
	if !ok1 || !ok2 {
		return nil, mismatch(op, a, b)
	}
	return floats(x, y)
}

func add(a, b Value) (Value, error) {
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok {
			if len(x)+len(y) > maxString {
				return nil, errString
			}
			return x + y, nil
		}
	case *List:
		if y, ok := b.(*List); ok {
			if len(x.Items)+len(y.Items) > maxItems {
				return nil, errItems
			}
			return &List{Items: append(append([]Value{}, x.Items...), y.Items...)}, nil
		}
	case Tuple:
		if y, ok := b.(Tuple); ok {
			if len(x)+len(y) > maxItems {
				return nil, errItems
			}
			return append(append(Tuple{}, x...), y...), nil
		}
	}
	return numbers("+", a, b, func(x, y int64) (Value, error) {
		if s := x + y; (s > x) == (y > 0) {
			return s, nil
		}
		return nil, errOverflow
	}, func(x, y float64) (Value, error) { return x + y, nil })
}

func subtract(a, b Value) (Value, error) {
	return numbers("-", a, b, func(x, y int64) (Value, error) {
		if s := x - y; (s < x) == (y > 0) {
			return s, nil
		}
		return nil, errOverflow
	}, func(x, y float64) (Value, error) { return x - y, nil })
}

func multiply(a, b Value) (Value, error) {
	if _, ok := integer(a); ok {
		if _, num := number(b); !num {
			a, b = b, a
		}
	}
	if n, ok := integer(b); ok {
		switch x := a.(type) {
		case string:
			return repeated(x, n)
		case *List:
			if n <= 0 || len(x.Items) == 0 {
				return &List{}, nil
			}
			if n > maxItems/int64(len(x.Items)) {
				return nil, errItems
			}
			return &List{Items: slices.Repeat(x.Items, int(n))}, nil
		}
	}
	return numbers("*", a, b, func(x, y int64) (Value, error) {
		if p := x * y; x == 0 || p/x == y && !(x == -1 && y == math.MinInt64) {
			return p, nil
		}
		return nil, errOverflow
	}, func(x, y float64) (Value, error) { return x * y, nil })
}

var errZero = errors.New("division by zero")

func divide(a, b Value) (Value, error) {
	x, ok1 := number(a)
	y, ok2 := number(b)
	switch {
	case !ok1 || !ok2:
		return nil, mismatch("/", a, b)
	case y == 0:
		return nil, errZero
	}
	return x / y, nil
}

func floorDivide(a, b Value) (Value, error) {
	return numbers("//", a, b, func(x, y int64) (Value, error) {
		if y == 0 {
			return nil, errZero
		}
		q := x / y
		if x%y != 0 && (x < 0) != (y < 0) {
			q--
		}
		return q, nil
	}, func(x, y float64) (Value, error) {
		if y == 0 {
			return nil, errZero
		}
		return math.Floor(x / y), nil
	})
}

func modulo(a, b Value) (Value, error) {
	if f, ok := a.(string); ok {
		return printf(f, b)
	}
	return numbers("%", a, b, func(x, y int64) (Value, error) {
		if y == 0 {
			return nil, errZero
		}
		m := x % y
		if m != 0 && (m < 0) != (y < 0) {
			m += y
		}
		return m, nil
	}, func(x, y float64) (Value, error) {
		if y == 0 {
			return nil, errZero
		}
		m := math.Mod(x, y)
		if m != 0 && (m < 0) != (y < 0) {
			m += y
		}
		return m, nil
	})
}

func power(a, b Value) (Value, error) {
	return numbers("**", a, b, func(x, y int64) (Value, error) {
		if y < 0 {
			return math.Pow(float64(x), float64(y)), nil
		}
		if y > 64 && x != 0 && x != 1 && x != -1 {
			return nil, errOverflow
		}
		if y > 64 {
			y = 64 + y&1
		}
		var p Value = int64(1)
		for range y {
			var err error
			if p, err = multiply(p, x); err != nil {
				return nil, err
			}
		}
		return p, nil
	}, func(x, y float64) (Value, error) { return math.Pow(x, y), nil })
}

// contains evaluates a in b.
func contains(a, b Value) (bool, error) {
	switch x := b.(type) {
	case string:
		s, ok := a.(string)
		if !ok {
			return false, fmt.Errorf("'in <string>' requires a string as left operand, not %s", typeName(a))
		}
		return strings.Contains(x, s), nil
	case *Dict:
		switch a.(type) {
		case *List, *Dict:
			return false, fmt.Errorf("unhashable type: %s", typeName(a))
		}
		_, ok := x.Get(a)
		return ok, nil
	}
	list, err := items(b)
	if err != nil {
		return false, err
	}
	for _, v := range list {
		if equal(a, v) {
			return true, nil
		}
	}
	return false, nil
}

// sliceOf evaluates v[a:b:c].
func sliceOf(v Value, bounds [3]Value) (Value, error) {
	if m, ok := v.(Markup); ok {
		return toMarkup(sliceOf(string(m), bounds))
	}
	var part []Value
	var pick func([]Value) Value
	switch x := v.(type) {
	case string:
		if bounds[2] == nil && utf8.RuneCountInString(x) == len(x) {
			lo, hi, _, err := limits(bounds, len(x))
			if err != nil {
				return nil, err
			}
			return x[min(lo, hi):hi], nil
		}
		part, _ = items(x)
		pick = func(l []Value) Value {
			var b strings.Builder
			for _, c := range l {
				b.WriteString(c.(string))
			}
			return b.String()
		}
	case *List:
		part, pick = x.Items, func(l []Value) Value { return &List{Items: l} }
	case Tuple:
		part, pick = x, func(l []Value) Value { return Tuple(l) }
	case Undefined:
		return nil, fmt.Errorf("%s is undefined", x.what)
	default:
		return nil, fmt.Errorf("a value of type %s cannot be sliced", typeName(v))
	}
	lo, hi, step, err := limits(bounds, len(part))
	if err != nil {
		return nil, err
	}
	out := []Value{}
	for i := lo; step > 0 && i < hi || step < 0 && i > hi; i += step {
		out = append(out, part[i])
	}
	return pick(out), nil
}

// limits resolves the bounds of a slice of n items as Python does.
func limits(bounds [3]Value, n int) (lo, hi, step int, err error) {
	step = 1
	for i, b := range bounds {
		if _, ok := integer(b); b != nil && !ok {
			return 0, 0, 0, fmt.Errorf("slice bound %d is of type %s, want an integer", i+1, typeName(b))
		}
	}
	if s, ok := integer(bounds[2]); ok {
		if s == 0 {
			return 0, 0, 0, errors.New("slice step cannot be zero")
		}
		step = int(max(min(s, int64(n)+1), -int64(n)-1))
	}
	first, last := 0, n
	if step < 0 {
		first, last = -1, n-1
	}
	resolve := func(v Value, otherwise int) int {
		i, ok := integer(v)
		if !ok {
			return otherwise
		}
		if i < 0 {
			i += int64(n)
		}
		return int(max(int64(first), min(i, int64(last))))
	}
	if step > 0 {
		return resolve(bounds[0], 0), resolve(bounds[1], n), step, nil
	}
	return resolve(bounds[0], n-1), resolve(bounds[1], -1), step, nil
}
