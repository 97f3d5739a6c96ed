package kubelet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/cri-streaming/pkg/streaming/portforward"
)

// Time limits of streams, as the kubelet of Kubernetes has them.
const (
	streamIdle     = 4 * time.Hour
	streamCreation = 30 * time.Second
)

// servePortForward answers "kubectl port-forward".
func (k *Kubelet) servePortForward(w http.ResponseWriter, r *http.Request) {
	p, _ := k.requested(w, r)
	if p == nil {
		return
	}
	options, err := portforward.NewV4Options(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	portforward.ServePortForward(w, r, forwarder{p}, p.object.Name, string(p.object.UID), options, streamIdle, streamCreation,
		portforward.SupportedProtocols)
}

// forwarder connects streams to ports of a pod.
type forwarder struct{ pod *pod }

// PortForward copies between a stream and a port of the pod until either end closes.
func (f forwarder) PortForward(_ context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	defer stream.Close()
	process := f.pod.networkProcess()
	if process == 0 {
		return fmt.Errorf("pod %s is not running", f.pod.object.Name)
	}
	conn, err := dialIn(process, fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return fmt.Errorf("failed to connect to localhost:%d inside the pod: %w", port, err)
	}
	defer conn.Close()
	return join(conn, stream)
}

// join copies both ways. It ends when the pod's side has sent everything, or the client's side broke.
func join(conn net.Conn, stream io.ReadWriter) error {
	sent, received := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := io.Copy(conn, stream)
		if c, ok := conn.(*net.TCPConn); ok {
			_ = c.CloseWrite()
		}
		sent <- err
	}()
	go func() {
		_, err := io.Copy(stream, conn)
		received <- err
	}()
	select {
	case err := <-received:
		return err
	case err := <-sent:
		return errors.Join(err, <-received)
	}
}

// dialIn connects to an address inside the network namespace of a process.
func dialIn(process int, address string) (net.Conn, error) {
	theirs, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", process))
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	runtime.LockOSThread() // a namespace belongs to a thread
	defer runtime.UnlockOSThread()
	ours, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return nil, err
	}
	defer ours.Close()
	if err := unix.Setns(int(theirs.Fd()), unix.CLONE_NEWNET); err != nil {
		return nil, err
	}
	conn, err := net.DialTimeout("tcp", address, 10*time.Second)
	if back := unix.Setns(int(ours.Fd()), unix.CLONE_NEWNET); back != nil {
		panic(back) // this thread may have started containers, which end with it; there is no way to continue
	}
	return conn, err
}
