package testhome

import "testing"

// Slow marks a test that takes more than a few seconds, or as much as all others of its package. go test -short skips it, so that this tier takes about
// a minute. The race detector's tests are run with -short, too, and do not skip it.
func Slow(t testing.TB) {
	t.Helper()
	if Fast() {
		t.Skip("takes seconds; runs without -short")
	}
}

// Fast reports whether only the fast tests run, for loops whose first cases show the rule.
func Fast() bool { return testing.Short() && !RaceDetector }

// Stride returns n if only the fast tests run, so that a loop over many similar cases takes each n-th, and 1 otherwise.
func Stride(n int) int {
	if Fast() {
		return n
	}
	return 1
}
