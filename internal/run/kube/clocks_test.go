package kube

import (
	"strings"
	"testing"
	"time"
)

// TestClocks: the bounds of a clock include the time of the request and the step of the clock.
func TestClocks(t *testing.T) {
	begin := time.Unix(1000, 0)
	end := begin.Add(300 * time.Millisecond)
	for _, one := range []struct {
		shown time.Duration // since begin
		step  time.Duration
		state string
		want  string
	}{
		{0, time.Second, Passed, "within 1.0 s of this computer"},
		{100 * time.Millisecond, 0, Passed, "within 0.2 s of this computer"},
		{10 * time.Second, time.Second, Noted, "at least 9.7 s ahead of this computer"},
		{-10 * time.Second, time.Second, Noted, "at least 9.0 s behind this computer"},
	} {
		b := boundsOf(begin, end, begin.Add(one.shown), one.step)
		checks := checkClocks(&b, &b)
		if len(checks) != 2 || checks[0].State != one.state || checks[1].State != one.state || !strings.HasPrefix(checks[0].Text, one.want) {
			t.Errorf("%+v: %+v", one, checks)
		}
	}
}
