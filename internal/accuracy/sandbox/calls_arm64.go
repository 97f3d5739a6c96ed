//go:build linux

package sandbox

import "golang.org/x/sys/unix"

const (
	nativeArch   = unix.AUDIT_ARCH_AARCH64
	foreignCalls = 0x40000000 // no call has such a number
)

// architectureCalls are denied calls that only this architecture has.
var architectureCalls []uint32
