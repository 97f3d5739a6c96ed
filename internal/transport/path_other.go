//go:build !linux

package transport

// tcpState is told by no other platform in one way.
func (c *conn) tcpState() tcpState { return tcpState{} }
