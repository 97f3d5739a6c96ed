package clock

import (
	"testing"
	"time"
)

func TestTieFollowsTheRealTimeClock(t *testing.T) {
	tie := NewRealTimeOffset()
	before := Now()
	at := tie.Instant(time.Now().UnixNano())
	after := Now()
	if at < before-1000 || at > after+1000 {
		t.Errorf("instant %d of a real-time reading lies outside [%d, %d]", at, before, after)
	}
	if _, ok := tie.Now(); !ok || tie.Stepped() || tie.Step() != 0 {
		t.Error("a clock that nobody set counts as stepped")
	}
}

func TestTieNoticesAStep(t *testing.T) {
	for _, step := range []time.Duration{time.Hour, -time.Hour, 5 * time.Millisecond} {
		tie := NewRealTimeOffset()
		tie.offset -= int64(step) // as if the real-time clock had been set forward by step since
		if _, ok := tie.Now(); ok {
			t.Errorf("step of %v not noticed", step)
		}
		if d := tie.Step() - int64(step); d > maxStep || d < -maxStep {
			t.Errorf("step of %v measured as %v", step, time.Duration(tie.Step()))
		}
		tie.offset += int64(step)
		if _, ok := tie.Now(); ok {
			t.Error("a step was forgotten")
		}
	}
}
