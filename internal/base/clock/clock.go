// Package clock defines the instants of a run: nanoseconds on the monotonic clock, counted from one process-wide base.
//
// All durations are differences of two instants. Wall time is derived from them with one (wall, monotonic) pair taken at process start. A step of the
// system clock therefore cannot distort a duration (spec: measurement, section 1).
package clock

import "time"

// base is the origin of all instants. It contains both the wall and the monotonic reading.
var base = time.Now()

// baseWall is base as Unix time in ns.
var baseWall = base.UnixNano()

// Now returns the current instant: ns on the monotonic clock since base, always > 0.
func Now() int64 { return int64(time.Since(base)) + 1 }

// Wall converts an instant to Unix time in ns.
func Wall(at int64) int64 { return baseWall + at - 1 }
