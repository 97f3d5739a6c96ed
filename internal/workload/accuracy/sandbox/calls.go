//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// deniedCalls are system calls that no program of a test needs: calls that reach other processes, mounts, namespaces, keys, the clock or the kernel
// itself, and calls that take memory which belongs to no process.
var deniedCalls = append([]uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_QUOTACTL, unix.SYS_SWAPON, unix.SYS_SWAPOFF,
	unix.SYS_BPF, unix.SYS_USERFAULTFD, unix.SYS_PERF_EVENT_OPEN, unix.SYS_SECCOMP, unix.SYS_PERSONALITY,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_REBOOT,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_SYSLOG, unix.SYS_ACCT, unix.SYS_VHANGUP, unix.SYS_LOOKUP_DCOOKIE,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX, unix.SYS_MOVE_PAGES, unix.SYS_MIGRATE_PAGES,
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SHMDT,
	unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMCTL, unix.SYS_SEMTIMEDOP,
	unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK, unix.SYS_MQ_NOTIFY, unix.SYS_MQ_GETSETATTR, unix.SYS_MQ_TIMEDSEND, unix.SYS_MQ_TIMEDRECEIVE,
	unix.SYS_MEMFD_CREATE, unix.SYS_IO_SETUP, unix.SYS_REMAP_FILE_PAGES,
	unix.SYS_BIND, unix.SYS_CONNECT, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4,
}, architectureCalls...)

// firstUnifiedCall is the number from which on system calls have the same number on every architecture.
const firstUnifiedCall = unix.SYS_PIDFD_SEND_SIGNAL

// knownCalls are the allowed calls with unified numbers. All others, including those of future kernels, return "not implemented".
var knownCalls = []uint32{unix.SYS_CLOSE_RANGE, unix.SYS_OPENAT2, unix.SYS_FACCESSAT2, unix.SYS_EPOLL_PWAIT2, unix.SYS_FUTEX_WAITV,
	unix.SYS_FCHMODAT2, unix.SYS_FUTEX_WAKE, unix.SYS_FUTEX_WAIT, unix.SYS_FUTEX_REQUEUE}

// Flags in the arguments of calls.
const (
	namespaceFlags = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID |
		unix.CLONE_NEWNET
	sharedMemory = unix.MAP_SHARED | unix.MAP_ANONYMOUS
	socketKind   = 0xf // mask of the kind in the second argument of socket and socketpair; the rest are flags
)

// Offsets in struct seccomp_data. An argument has 64 bits; the low half comes first.
const (
	callNumber    = 0
	callArch      = 4
	callArguments = 16
)

// Results of the filter.
var (
	allow     = verdict(unix.SECCOMP_RET_ALLOW)
	kill      = verdict(unix.SECCOMP_RET_KILL_PROCESS)
	forbidden = verdict(unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM))
	missing   = verdict(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS))
)

func verdict(value uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: value}
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

func loadArgument(i uint32) unix.SockFilter { return load(callArguments + 8*i) }

// skipUnless skips instructions if the comparison of the loaded value with k fails. The operation is BPF_JEQ, BPF_JGE or BPF_JSET.
func skipUnless(operation uint16, k uint32, skip uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | operation | unix.BPF_K, K: k, Jf: skip}
}

// filter returns the BPF program that decides about each system call.
func filter() []unix.SockFilter {
	f := []unix.SockFilter{
		load(callArch), skipUnless(unix.BPF_JEQ, nativeArch, 1), {Code: unix.BPF_JMP | unix.BPF_JA, K: 1}, kill, // another architecture's calls: i386, arm
		load(callNumber), skipUnless(unix.BPF_JGE, foreignCalls, 1), kill, // x32
	}
	for _, call := range deniedCalls {
		f = append(f, skipUnless(unix.BPF_JEQ, call, 1), forbidden)
	}
	f = append(f, skipUnless(unix.BPF_JEQ, unix.SYS_CLONE3, 1), missing) // its flags are in memory, out of the filter's reach; the C library falls back to clone
	for _, call := range knownCalls {
		f = append(f, skipUnless(unix.BPF_JEQ, call, 1), allow)
	}
	f = append(f, skipUnless(unix.BPF_JGE, firstUnifiedCall, 1), missing, skipUnless(unix.BPF_JEQ, unix.SYS_SOCKET, 1), forbidden)
	f = onCall(f, unix.SYS_CLONE, loadArgument(0), skipUnless(unix.BPF_JSET, namespaceFlags, 1), forbidden)
	f = onCall(f, unix.SYS_MMAP, loadArgument(3), // if both flags are set
		unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: sharedMemory}, skipUnless(unix.BPF_JEQ, sharedMemory, 1), forbidden)
	f = onCall(f, unix.SYS_IOCTL, loadArgument(1), skipUnless(unix.BPF_JEQ, unix.TIOCSTI, 1), forbidden, skipUnless(unix.BPF_JEQ, unix.TIOCLINUX, 1), forbidden)
	f = onCall(f, unix.SYS_SOCKETPAIR, // a pair of stream sockets reaches no other socket
		loadArgument(0), skipUnless(unix.BPF_JEQ, unix.AF_UNIX, 3),
		loadArgument(1), unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: socketKind}, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SOCK_STREAM, Jt: 1},
		forbidden)
	return append(f, allow)
}

// onCall appends instructions that check the arguments of one call. The call is allowed unless they forbid it.
func onCall(f []unix.SockFilter, call uint32, judge ...unix.SockFilter) []unix.SockFilter {
	f = append(f, skipUnless(unix.BPF_JEQ, call, uint8(len(judge)+1)))
	return append(append(f, judge...), allow)
}

// filterCalls installs the filter for this thread, which becomes the program. Programs that it starts inherit the filter.
func filterCalls() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("cannot give up set-user-ID programs: %w", err)
	}
	f := filter()
	program := unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil {
		return fmt.Errorf("cannot filter system calls: %w", err)
	}
	return nil
}
