package grade

import (
	"encoding/json"
	"io"
	"math/big"
	"strings"
)

// sameValue compares two JSON values as Python compares the parsed values: numbers by value, however they are written, with true as 1 and false as 0.
func sameValue(got, want string) bool {
	a, okA := readValue(got)
	b, okB := readValue(want)
	return okA && okB && equalValues(a, b)
}

func readValue(text string) (v any, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil, false
	}
	_, err := d.Token()
	return v, err == io.EOF
}

func equalValues(a, b any) bool {
	if x, y := pythonNumber(a), pythonNumber(b); x != nil || y != nil {
		return x != nil && y != nil && x.Cmp(y) == 0
	}
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equalValues(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k := range a {
			other, ok := b[k]
			if !ok || !equalValues(a[k], other) {
				return false
			}
		}
		return true
	}
	return a == b
}

// pythonNumber returns the value of a number or boolean. A number with a point or exponent has the value of its float64. nil = neither.
func pythonNumber(v any) *big.Rat {
	switch v := v.(type) {
	case bool:
		if v {
			return big.NewRat(1, 1)
		}
		return new(big.Rat)
	case json.Number:
		if !strings.ContainsAny(v.String(), ".eE") {
			r, _ := new(big.Rat).SetString(v.String())
			return r
		}
		if f, err := v.Float64(); err == nil {
			return new(big.Rat).SetFloat64(f)
		}
	}
	return nil
}
