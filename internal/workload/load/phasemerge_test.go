package load

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"aiperf/internal/base/binenc"
)

var sameStats = cmp.AllowUnexported(Histogram{})

// fillStats sets every field to a value other than zero, so that a field that is forgotten is noticed.
func fillStats(v reflect.Value, next *int) {
	switch v.Kind() {
	case reflect.Struct:
		if h, ok := v.Addr().Interface().(*Histogram); ok {
			*next++
			h.Add(int64(*next * 1000))
			h.Add(int64(*next * 70_000))
			return
		}
		for i := range v.NumField() {
			fillStats(v.Field(i), next)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillStats(v.Elem(), next)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("text")
	case reflect.Int, reflect.Int64:
		*next++
		v.SetInt(int64(*next))
	case reflect.Float64:
		*next++
		v.SetFloat(float64(*next) + 0.25)
	default:
		panic(v.Kind().String())
	}
}

// TestPhaseStatsAreWrittenAndRead: every field comes back.
func TestPhaseStatsAreWrittenAndRead(t *testing.T) {
	want, n := &PhaseStats{}, 0
	fillStats(reflect.ValueOf(want).Elem(), &n)
	w := binenc.NewWriter(nil)
	want.Visit(w)
	got, r := &PhaseStats{}, binenc.NewReader(w.Bytes())
	if got.Visit(r); r.Err() != nil || len(r.Bytes()) > 0 {
		t.Fatal(r.Err(), len(r.Bytes()))
	}
	if d := cmp.Diff(want, got, sameStats); d != "" {
		t.Error(d)
	}
	twice := MergeShares([]*PhaseStats{want, want})
	want.Schedule.Steady.Planned = want.Schedule.Steady.Expected // as MergeShares computes it
	if d := cmp.Diff(want, MergeShares([]*PhaseStats{want}), sameStats); d != "" {
		t.Error(d)
	}
	if twice.Sent != 2*want.Sent || twice.Started != want.Started || twice.Schedule.Expected != 2*want.Schedule.Expected || twice.Schedule.Caps != want.Schedule.Caps ||
		twice.Schedule.Lag.Count != 4 || twice.Slots.Busy != 2*want.Slots.Busy || twice.Branches.GraphsCompleted != 2*want.Branches.GraphsCompleted || want.Branches == twice.Branches {
		t.Errorf("%+v", twice)
	}
	shifted := *want
	if shifted.Shift(100); shifted.Started != want.Started+100 || shifted.SentAll != want.SentAll+100 || shifted.Ended != want.Ended+100 {
		t.Errorf("%+v", shifted)
	}
	if MergeShares(nil) != nil || MergeShares([]*PhaseStats{nil, nil}) != nil {
		t.Error("something from nothing")
	}
}

func FuzzReadPhaseStats(f *testing.F) {
	one, n := &PhaseStats{}, 0
	fillStats(reflect.ValueOf(one).Elem(), &n)
	w := binenc.NewWriter(nil)
	one.Visit(w)
	f.Add(w.Bytes())
	f.Fuzz(func(_ *testing.T, b []byte) { new(PhaseStats).Visit(binenc.NewReader(b)) })
}

// TestMergedShares: the statistics of several machines together are those of one process.
func TestMergedShares(t *testing.T) {
	p := Phase{Mode: Rate, Pattern: Poisson, Rate: 100, Duration: 4 * sec, Grace: -1}
	source := talk(40, 1, 0)
	scenario := one(p)
	var want *PhaseStats
	bubble(t, "one process", func(t *testing.T) {
		s := newSim(t, manner{})
		s.behave = steadyServer
		want = play(t, scenario, source, s).Phases[0]
	})
	bubble(t, "on 3", func(t *testing.T) {
		var parts []*PhaseStats
		for _, r := range playOn(t, 3, scenario, source, steadyServer, nil).results {
			parts = append(parts, r.Phases[0])
		}
		got := MergeShares(parts)
		if got.Sent != want.Sent || got.Completed != want.Completed || got.StoppedBy != want.StoppedBy || got.SentAll-got.Started != want.SentAll-want.Started ||
			got.Schedule.Ticks != want.Schedule.Ticks || got.Schedule.Lag.Count != want.Schedule.Lag.Count || got.Schedule.SendSeconds != want.Schedule.SendSeconds ||
			got.Schedule.Steady.Sent != want.Schedule.Steady.Sent || got.Schedule.Steady.Drawn != want.Schedule.Steady.Drawn {
			t.Errorf("%+v\nwant\n%+v", got, want)
		}
		if d := got.Schedule.Expected - want.Schedule.Expected; d > 1e-6 || d < -1e-6 {
			t.Errorf("%v requests expected, want %v", got.Schedule.Expected, want.Schedule.Expected)
		}
		lost := MergeShares([]*PhaseStats{parts[0], nil, parts[2]}).Schedule.Steady // without the statistics of the second machine
		if d := lost.Planned - want.Schedule.Steady.Expected; d > 1e-6 || d < -1e-6 {
			t.Errorf("%v requests planned, want %v", lost.Planned, want.Schedule.Steady.Expected)
		}
		if d := lost.Expected - want.Schedule.Steady.Expected*2/3; d > 1e-6 || d < -1e-6 {
			t.Errorf("%v requests expected of 2 of 3 machines, want %v", lost.Expected, want.Schedule.Steady.Expected*2/3)
		}
	})
}
