//go:build !unix

package watch

import "time"

// ProcessCPU returns 0: this system does not report the CPU time in the same way, so CPU shares are 0.
func ProcessCPU() time.Duration { return 0 }
