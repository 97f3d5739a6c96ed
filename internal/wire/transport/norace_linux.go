//go:build linux && !race

package transport

// received does nothing without the race detector.
func received(uintptr) {}

// sending does nothing without the race detector.
func sending(uintptr) {}
