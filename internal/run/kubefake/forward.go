package kubefake

import (
	"io"
	"net"
	"net/http"

	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// forward answers as a kubelet: it reports on the stream for errors if nobody listens at the port, else it connects the other stream with the server.
func (c *Cluster) forward(w http.ResponseWriter, r *http.Request) {
	opened := make(chan httpstream.Stream, 2)
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, _ <-chan struct{}) error {
		opened <- s
		return nil
	})
	if conn == nil {
		return // the upgrader has answered
	}
	defer conn.Close()
	var faults, data httpstream.Stream
	for faults == nil || data == nil {
		select {
		case s := <-opened:
			if s.Headers().Get("streamType") == "error" {
				faults = s
			} else {
				data = s
			}
		case <-conn.CloseChan():
			return
		}
	}
	server, err := net.Dial("tcp", c.Server)
	if err != nil {
		_, _ = io.WriteString(faults, "failed to connect to the port: connection refused") // nobody may read it
		_ = faults.Close()
		<-conn.CloseChan()
		return
	}
	defer server.Close()
	_ = faults.Close()
	go func() {
		_, _ = io.Copy(server, data)
		_ = server.Close() // ends the copy below
	}()
	_, _ = io.Copy(data, server)
	_ = data.Close()
}
