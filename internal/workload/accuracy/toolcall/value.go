// Package toolcall parses function calls that a model wrote as text and compares them with the expected calls, by the rules of the Berkeley
// Function-Calling Leaderboard (its AST checker).
package toolcall

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
)

// Values correspond to those of Python: nil, bool, *big.Int, float64, string, []any, tuple, dict.
type (
	tuple []any
	dict  []pair
	pair  struct{ key, value any }
)

// Call is one call: a function and its arguments by name. Arguments without a name are ignored in comparisons.
type Call struct {
	Name string
	Args dict
}

func (d dict) get(key string) (any, bool) {
	for i := len(d) - 1; i >= 0; i-- { // the last one counts
		if d[i].key == key {
			return d[i].value, true
		}
	}
	return nil, false
}

// kind returns the name of a value's type in Python.
func kind(v any) string {
	switch v.(type) {
	case nil:
		return "NoneType"
	case bool:
		return "bool"
	case *big.Int:
		return "int"
	case float64:
		return "float"
	case string:
		return "str"
	case []any:
		return "list"
	case tuple:
		return "tuple"
	}
	return "dict"
}

// fromJSON converts a value that encoding/json decoded with UseNumber.
func fromJSON(v any) any {
	switch v := v.(type) {
	case json.Number:
		return number(v.String())
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = fromJSON(v[i])
		}
		return out
	case map[string]any:
		var d dict
		for k, x := range v {
			d = append(d, pair{k, fromJSON(x)})
		}
		return d
	}
	return v
}

// number parses a number of Python or JSON: a float64 if it has a point or an exponent; nil = not a number.
func number(text string) any {
	text = strings.ReplaceAll(text, "_", "")
	if n, ok := new(big.Int).SetString(text, 0); ok {
		return n
	}
	f, err := json.Number(text).Float64()
	if err != nil {
		return nil
	}
	return f
}

// numeric returns the value of a number or boolean; nil = neither.
func numeric(v any) *big.Float {
	switch v := v.(type) {
	case bool:
		if v {
			return big.NewFloat(1)
		}
		return new(big.Float)
	case *big.Int:
		return new(big.Float).SetPrec(uint(max(64, v.BitLen()))).SetInt(v)
	case float64:
		if math.IsNaN(v) {
			return nil
		}
		return new(big.Float).SetFloat64(v)
	}
	return nil
}

// equal compares as Python does: numbers by value, true as 1; a tuple never equals a list.
func equal(a, b any) bool {
	if x, y := numeric(a), numeric(b); x != nil || y != nil {
		return x != nil && y != nil && x.Cmp(y) == 0
	}
	switch a := a.(type) {
	case nil:
		return b == nil
	case string:
		s, ok := b.(string)
		return ok && s == a
	case []any:
		l, ok := b.([]any)
		return ok && equalItems(a, l)
	case tuple:
		l, ok := b.(tuple)
		return ok && equalItems(a, l)
	case dict:
		d, ok := b.(dict)
		if !ok || len(a) != len(d) {
			return false
		}
		for _, p := range a {
			if !contains(d, p) {
				return false
			}
		}
		return true
	}
	return false
}

func contains(d dict, p pair) bool {
	for _, q := range d {
		if equal(q.key, p.key) {
			return equal(q.value, p.value)
		}
	}
	return false
}

func equalItems(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func in(v any, list []any) bool {
	for _, x := range list {
		if equal(v, x) {
			return true
		}
	}
	return false
}
