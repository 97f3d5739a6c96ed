//go:build linux && !race

package transport

// received is for the race detector; without it, nothing.
func received(uintptr) {}
