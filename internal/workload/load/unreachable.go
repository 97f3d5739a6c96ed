package load

import (
	"errors"
	"time"
)

// If the server cannot be reached any more, a phase with a duration would only produce failure records until its end. The run therefore ends after
// this many consecutive failed connections over at least this time. A phase with a number of requests ends soon by itself.
const (
	unreachableCount = 100
	unreachableTime  = int64(3 * time.Second)
)

// ErrUnreachable is the cause for cancelling requests when the server cannot be reached.
var ErrUnreachable = errors.New("no connection to the server could be made")

// UnreachableError reports that the run ended because no connection could be made.
type UnreachableError struct {
	Failures int64 // number of consecutive failed connections
	For      time.Duration
	At       time.Duration // time of the first of them since the start of its phase
}

// failureStreak counts consecutive connection failures.
type failureStreak struct {
	n     int64
	since int64 // instant of the first failure
}

// add records an outcome. It reports whether the streak is long enough to end the run. Cancelled requests are ignored.
func (s *failureStreak) add(out Outcome, now int64) bool {
	switch {
	case out.Cancelled:
	case !out.NoConnection:
		s.n = 0
	case s.n == 0:
		s.n, s.since = 1, now
	default:
		s.n++
	}
	return s.n >= unreachableCount && now-s.since >= unreachableTime
}
