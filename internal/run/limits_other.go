//go:build !unix

package run

import "time"

func openFileLimit() int { return 0 }

// processCPU is not told in the same way by this system: shares of processors are 0.
func processCPU() time.Duration { return 0 }
