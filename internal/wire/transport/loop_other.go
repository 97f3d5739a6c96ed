//go:build !(linux && (amd64 || arm64))

package transport

// readLoop does not exist on this platform: Go's own poller waits for the sockets.
type readLoop struct{}

func newReadLoop(*restPacer) *readLoop { return nil }

func (*readLoop) end() {}

// watched returns the socket unchanged.
func (*readLoop) watched(s socket) socket { return s }

// reading does a job that reads the connection.
func (c *conn) reading(j readJob) {
	j.read()
	j.readOver()
}
