//go:build !race

package testhome

// RaceDetector is true if the race detector watches the program. Pools drop values at random then.
const RaceDetector = false
