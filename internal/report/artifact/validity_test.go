package artifact

import (
	"encoding/json"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"aiperf/internal/measure/metric"
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
		v := metric.Assess(want, nil, nil)
		got, err := ReadValidity(appendValidity(nil, v))
		if err != nil || !reflect.DeepEqual(got, want) {
			r.Fatalf("read %+v, written %+v (%v)", got, want, err)
		}
		if again := metric.Assess(got, nil, nil); again.Sentence() != v.Sentence() || !reflect.DeepEqual(again.Notes, v.Notes) {
			r.Errorf("%s, then %s", v.Sentence(), again.Sentence())
		}
	})
}

// TestBoundsComeBack: limits are written by metric and statistic and read again; a limit that does not exist is omitted.
func TestBoundsComeBack(t *testing.T) {
	want := metric.Bounds{
		"time_to_first_token":              {metric.Avg: {Low: 56.25, High: 75}, metric.P99: {Low: 1, High: 1e3}},
		"output_token_throughput_per_user": {metric.P1: {Low: 3, High: math.Inf(1)}},
	}
	text := appendValidity(nil, &metric.Validity{Bounds: want})
	if say := `"bounds":{"time_to_first_token":{"avg":{"low":56.25,"high":75.0},"p99":{"low":1.0,"high":1000.0}},"output_token_throughput_per_user":{"p1":{"low":3.0}}}`; !strings.Contains(string(text), say) {
		t.Errorf("%s is not in %s", say, text)
	}
	var got struct{ Bounds metric.Bounds }
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got.Bounds, want) {
		t.Errorf("%+v, %v", got.Bounds, err)
	}
	if text := appendValidity(nil, &metric.Validity{}); strings.Contains(string(text), "bounds") {
		t.Errorf("an exact run has bounds: %s", text)
	}
	for text, says := range map[string]string{`{"x":{"avg":{"low":3,"high":1}}}`: "from 3 to 1 is empty", `{"x":{"mean":{"low":3}}}`: `"mean" is not a statistic`} {
		var b metric.Bounds
		if err := json.Unmarshal([]byte(text), &b); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestValidityIsWhole: no field of ClientStats is missing in the file.
func TestValidityIsWhole(t *testing.T) {
	s := metric.ClientStats{MachineParts: metric.MachineParts{Machines: someMachines()}, ServerPods: somePods()}
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

func someMachines() []metric.Machine {
	return []metric.Machine{
		{
			Name: "w1", Host: "h", Complete: true, ClockOffset: -7, ClockBound: 19 * time.Microsecond, OutOfSight: 2600 * time.Millisecond, Sent: 500, SentAll: true, Delivered: 500, Pieces: 4,
			LagP99: 120 * time.Microsecond, CPUShare: 0.25, Cores: 8, Stalls: 1,
		},
		{Name: "w2", Index: 1, Problem: "its process ended", LostAt: 2100 * time.Millisecond, Sent: 300, Delivered: 250},
		{Name: "w3", Index: 2, Complete: true, Problem: "out of sight", LostAt: time.Second, Sent: 90, Delivered: 90},
	}
}

// TestMachinesOfVerdict: the machines of a verdict come back as they were, and machines.json says the same.
func TestMachinesOfVerdict(t *testing.T) {
	want := someMachines()
	text := appendValidity(nil, &metric.Validity{ClientStats: metric.ClientStats{MachineParts: metric.MachineParts{Machines: want}}})
	got, err := ReadValidity(text)
	if err != nil || !reflect.DeepEqual(got.Machines, want) {
		t.Errorf("%+v, %v", got.Machines, err)
	}
	l := NewLayout(t.TempDir(), "x")
	if err := WriteMachines(l, want); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(l.Machines())
	var doc struct{ Machines json.RawMessage }
	if err == nil {
		err = json.Unmarshal(file, &doc)
	}
	if again, e := readMachines(doc.Machines); err != nil || e != nil || !reflect.DeepEqual(again, want) {
		t.Errorf("%+v, %v, %v", again, err, e)
	}
	if _, err := ReadValidity([]byte(`{"machines":{}}`)); err == nil {
		t.Error("machines that are no list are read")
	}
}
