//go:build !linux

package transport

// tcpState returns the zero state: other platforms have no common way to query it.
func (c *conn) tcpState() tcpState { return tcpState{} }
