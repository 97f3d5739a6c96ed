//go:build linux

package sandbox

import "golang.org/x/sys/unix"

const (
	nativeArch   = unix.AUDIT_ARCH_AARCH64
	foreignCalls = 0x40000000 // no call has such a number
)

// architectureCalls are denied calls that exist only on this architecture.
var architectureCalls []uint32
