//go:build !unix

package transport

// readiness is told by no call of this platform for all sockets at once: every bound goes back to the read before.
type readiness struct{}

// readySocket is one socket that a check found readable.
type readySocket struct{}

func (*readySocket) fd() int { return 0 }

func (*readiness) add(int) bool { return false }

func (*readiness) ready() ([]readySocket, bool) { return nil, false }

func (*readiness) close() {}
