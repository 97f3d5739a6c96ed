//go:build linux

package sandbox

import "golang.org/x/sys/unix"

const (
	nativeArch   = unix.AUDIT_ARCH_X86_64
	foreignCalls = 0x40000000 // x32
)

// architectureCalls are denied calls that exist only on this architecture.
var architectureCalls = []uint32{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS_SYSFS, unix.SYS__SYSCTL}
