//go:build !unix

package run

import "time"

// processCPU returns 0: this system does not report the CPU time in the same way, so CPU shares are 0.
func processCPU() time.Duration { return 0 }
