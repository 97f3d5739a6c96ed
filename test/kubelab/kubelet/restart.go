package kubelet

import (
	"time"

	v1 "k8s.io/api/core/v1"
)

// Restarts wait this long, doubled up to the maximum. A real kubelet waits 10 s to 5 minutes; tests have less time.
const (
	firstBackOff = 500 * time.Millisecond
	lastBackOff  = 8 * time.Second
)

// backOff returns the wait before a restart, by the number of restarts so far.
func backOff(restarts int) time.Duration {
	wait := firstBackOff
	for range restarts {
		wait = min(2*wait, lastBackOff)
	}
	return wait
}

// restarts reports whether a container that ended with a status runs again.
func restarts(policy v1.RestartPolicy, status int) bool {
	switch policy {
	case v1.RestartPolicyAlways:
		return true
	case v1.RestartPolicyOnFailure:
		return status != 0
	default:
		return false
	}
}
