//go:build !linux

package clock

// RequestShortTimeslices does nothing, because this system has no such request.
func RequestShortTimeslices() {}
