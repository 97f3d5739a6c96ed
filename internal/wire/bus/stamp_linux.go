//go:build linux && (amd64 || arm64)

package bus

import (
	"encoding/binary"
	"net"

	"golang.org/x/sys/unix"
)

// enableStamps asks the kernel for the instants at which datagrams come. Without them the instants of the reads are used.
func enableStamps(conn *net.UDPConn) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	})
}

// kernelStamp returns the real-time ns in a datagram's control messages; 0 = none.
func kernelStamp(control []byte) int64 {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return 0
	}
	for _, m := range messages {
		if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SCM_TIMESTAMPNS && len(m.Data) >= 16 {
			return int64(binary.NativeEndian.Uint64(m.Data))*1e9 + int64(binary.NativeEndian.Uint64(m.Data[8:]))
		}
	}
	return 0
}
