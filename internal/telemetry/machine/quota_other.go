//go:build !linux

package machine

// readQuota returns no quota: only Linux has control groups.
func readQuota(string) Quota { return Quota{} }
