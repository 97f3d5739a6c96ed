//go:build !unix

package transport

// readiness is empty: no call of this platform reports the state of all sockets at once. Every bound then goes back to the previous read.
type readiness struct{}

// readySocket is one socket that a check found readable.
type readySocket struct{}

func (*readySocket) fd() int { return 0 }

func (*readiness) add(int) bool { return false }

func (*readiness) ready() ([]readySocket, bool) { return nil, false }

func (*readiness) close() {}
