package load

import (
	"errors"
	"time"
)

// A server that no connection reaches any more gives no numbers, only records of failures, for as long as a duration lasts: the run ends when
// so many connections in a row have failed, and for so long. A phase that counts its requests ends soon enough by itself.
const (
	unreachableCount = 100
	unreachableTime  = int64(3 * time.Second)
)

// ErrUnreachable is why requests are cut when the server cannot be reached.
var ErrUnreachable = errors.New("no connection to the server could be made")

// Unreachable says how long no connection had been made when the run was ended for it.
type Unreachable struct {
	Failures int64 // connections that failed in a row
	For      time.Duration
	At       time.Duration // of the first of them, since its phase began
}

// streak counts connection failures without any other outcome between them.
type streak struct {
	n     int64
	since int64 // instant of the first
}

// add takes in an outcome; it tells whether the streak has become long enough to end the run. Requests that were cut tell nothing.
func (s *streak) add(out Outcome, now int64) bool {
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
