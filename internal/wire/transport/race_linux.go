//go:build linux && race

package transport

import "syscall"

// received tells the race detector what every read of the standard library tells it: the reader of a socket comes after its writer. recvmsg as a raw
// system call does not, so a test server's handler would seem to race with the request that it answered. A read of zero bytes takes nothing but tells
// the detector.
func received(fd uintptr) {
	_, _ = syscall.Read(int(fd), nil) // only for the race detector
}

// sending tells the race detector the same for what is about to be written.
func sending(fd uintptr) {
	_, _ = syscall.Write(int(fd), nil) // only for the race detector
}
