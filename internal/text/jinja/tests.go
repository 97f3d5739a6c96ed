package jinja

import (
	"fmt"
	"math"
	"strings"
	"sync"
)

// a returns a test that applies a predicate.
func a(f func(v Value) bool) Test { return func(v Value, _ *Call) (bool, error) { return f(v), nil } }

// comparisonTest returns a test that compares with one argument.
func comparisonTest(op string) Test {
	return func(v Value, c *Call) (bool, error) { return comparisons[op](v, c.Arg(0, "other", nil)) }
}

func isType[T any](v Value) bool { _, ok := v.(T); return ok }

func isSequence(v Value) bool {
	if l, ok := v.(*List); ok {
		return !l.lazy
	}
	return isType[Tuple](v) || isType[string](v) || isType[*Dict](v) || isType[Undefined](v)
}

// tests are the functions allowed after "is".
var tests = sync.OnceValue(func() map[string]Test {
	t := map[string]Test{
		"defined":   a(func(v Value) bool { return !isType[Undefined](v) }),
		"undefined": a(isType[Undefined]),
		"none":      a(func(v Value) bool { return v == nil }),
		"boolean":   a(isType[bool]),
		"true":      a(func(v Value) bool { return v == true }),
		"false":     a(func(v Value) bool { return v == false }),
		"integer":   a(isType[int64]),
		"float":     a(isType[float64]),
		"number":    a(func(v Value) bool { _, ok := number(v); return ok }),
		"string":    a(isType[string]),
		"mapping":   a(isType[*Dict]),
		"sequence":  a(isSequence),
		"iterable":  a(func(v Value) bool { return isSequence(v) || isType[*List](v) }),
		"callable":  a(func(v Value) bool { return isType[Func](v) || isType[*loop](v) }),
		"escaped":   a(func(Value) bool { return false }),
		"lower":     a(func(v Value) bool { s := Str(v); return s == strings.ToLower(s) && s != strings.ToUpper(s) }),
		"upper":     a(func(v Value) bool { s := Str(v); return s == strings.ToUpper(s) && s != strings.ToLower(s) }),
		"odd":       remainder(2, 1),
		"even":      remainder(2, 0),
		"divisibleby": func(v Value, c *Call) (bool, error) {
			m, err := modulo(v, c.Arg(0, "num", nil))
			return err == nil && equal(m, int64(0)), err
		},
		"sameas": func(v Value, c *Call) (bool, error) {
			o := c.Arg(0, "other", nil)
			return typeName(v) == typeName(o) && equal(v, o), nil
		},
		"in": func(v Value, c *Call) (bool, error) { return contains(v, c.Arg(0, "seq", nil)) },
	}
	for name, op := range map[string]string{
		"eq": "==", "equalto": "==", "ne": "!=", "lt": "<", "lessthan": "<", "le": "<=", "gt": ">", "greaterthan": ">", "ge": ">=",
	} {
		t[name] = comparisonTest(op)
	}
	return t
})

func remainder(by, want int64) Test {
	return func(v Value, _ *Call) (bool, error) {
		n, ok := integer(v)
		if f, isFloat := v.(float64); isFloat {
			n = int64(f)
			if ok = float64(n) == f; !ok && !math.IsInf(f, 0) && !math.IsNaN(f) {
				return false, nil
			}
		}
		if !ok {
			return false, fmt.Errorf("odd and even want an integer, found %s", typeName(v))
		}
		return (n%by+by)%by == want, nil
	}
}
