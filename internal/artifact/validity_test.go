package artifact

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"aiperf/internal/metric"
)

// TestValidityComesBack: every figure that a verdict rests on is in the file, and the verdict made from the file is the run's own.
func TestValidityComesBack(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var want metric.ClientStats
		for _, k := range validityKeys {
			switch p := k.ref(&want).(type) {
			case *string:
				*p = rapid.String().Draw(r, k.key)
			case *bool:
				*p = rapid.Bool().Draw(r, k.key)
			case *time.Duration:
				*p = time.Duration(rapid.Int64Range(0, int64(3*time.Hour)).Draw(r, k.key))
			case *float64:
				*p = rapid.Float64Range(0, 1e6).Draw(r, k.key)
			case *int:
				*p = rapid.IntRange(0, 1e6).Draw(r, k.key)
			case *int64:
				*p = rapid.Int64Range(0, 1e9).Draw(r, k.key)
			default:
				r.Fatalf("%s is a %T", k.key, p)
			}
		}
		v := metric.Assess(want, nil)
		got, err := ReadValidity(appendValidity(nil, v))
		if err != nil || !reflect.DeepEqual(got, want) {
			r.Fatalf("read %+v, written %+v (%v)", got, want, err)
		}
		if again := metric.Assess(got, nil); again.Sentence() != v.Sentence() || !reflect.DeepEqual(again.Notes, v.Notes) {
			r.Errorf("%s, then %s", v.Sentence(), again.Sentence())
		}
	})
}

// TestValidityIsWhole: no field of ClientStats is missing in the file.
func TestValidityIsWhole(t *testing.T) {
	var s metric.ClientStats
	for _, k := range validityKeys {
		reflect.ValueOf(k.ref(&s)).Elem().Set(reflect.ValueOf(nonzero(k.ref(&s))).Elem())
	}
	var look func(v reflect.Value, path string)
	look = func(v reflect.Value, path string) {
		for i := range v.NumField() {
			name := path + v.Type().Field(i).Name
			if f := v.Field(i); f.Kind() == reflect.Struct {
				look(f, name+".")
			} else if f.IsZero() {
				t.Errorf("%s is not written", name)
			}
		}
	}
	look(reflect.ValueOf(s), "")
}

// nonzero points to a value other than zero of the same type.
func nonzero(ref any) any {
	switch ref.(type) {
	case *string:
		v := "x"
		return &v
	case *bool:
		v := true
		return &v
	case *time.Duration:
		v := time.Second
		return &v
	case *float64:
		v := 1.0
		return &v
	case *int:
		v := 1
		return &v
	}
	v := int64(1)
	return &v
}

func TestValidityRefused(t *testing.T) {
	for text, says := range map[string]string{`[]`: "validity", `{"messages":"many"}`: "messages", `{"stall_longest_ms":true}`: "stall_longest_ms"} {
		if _, err := ReadValidity([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
