package machine

import "time"

// Quota is the CPU time that the kernel grants to the control group of this process, or to a group around it.
type Quota struct {
	CPUs      float64       // CPU time per second of wall time; 0 = no quota
	Period    time.Duration // length of a period; when its share is used up, all threads stop until the next one
	Periods   int64         // periods in which the group ran, since it exists
	Throttled int64         // periods at whose end the group was stopped
	Stopped   time.Duration // total time for which it was stopped
}

// ReadQuota returns the smallest CPU quota that applies to this process. The zero value means that there is none, or that this system reports none.
func ReadQuota() Quota { return readQuota("/") }
