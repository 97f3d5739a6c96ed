package kubeclient

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"

	"aiperf/internal/run/kube"
)

// The protocol of port-forwards, and the header that says what a stream of it is for. The packages of Kubernetes that name them add 3 MB to the program.
const (
	forwardProtocol = "portforward.k8s.io"
	streamType      = "streamType"
)

// kubelets reaches pods through the API server.
type kubelets struct{ config *rest.Config }

// url returns the address of a part of a pod.
func (k *kubelets) url(namespace, pod, part string) (*url.URL, error) {
	base, _, err := rest.DefaultServerUrlFor(k.config)
	if err != nil {
		return nil, err
	}
	return base.JoinPath("api", "v1", "namespaces", namespace, "pods", pod, part), nil
}

// Log implements Transport.
func (k *kubelets) Log(ctx context.Context, namespace string, o kube.LogOptions) (io.ReadCloser, error) {
	at, err := k.url(namespace, o.Pod, "log")
	if err != nil {
		return nil, err
	}
	query := url.Values{}
	if o.Container != "" {
		query.Set("container", o.Container)
	}
	if o.Follow {
		query.Set("follow", "true")
	}
	if o.Tail >= 0 {
		query.Set("tailLines", strconv.FormatInt(o.Tail, 10))
	}
	at.RawQuery = query.Encode()
	client, err := rest.HTTPClientFor(k.config)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, statusOf(resp)
	}
	return resp.Body, nil
}

// longestStatus limits what is read of an error, bytes.
const longestStatus = 64 << 10

// statusOf returns the error in an answer of the API server.
func statusOf(resp *http.Response) error {
	text, err := io.ReadAll(io.LimitReader(resp.Body, longestStatus))
	if err != nil {
		return err
	}
	var status metav1.Status
	if json.Unmarshal(text, &status) == nil && status.Message != "" {
		return apierrors.FromObject(&status)
	}
	return errors.New(resp.Status + ": " + strings.TrimSpace(string(text)))
}

// Dial implements Transport. Each connection is a separate port-forward.
func (k *kubelets) Dial(ctx context.Context, namespace, pod string, port int) (net.Conn, error) {
	type dialed struct {
		conn net.Conn
		err  error
	}
	made := make(chan dialed, 1)
	go func() {
		conn, err := k.forward(namespace, pod, port)
		made <- dialed{conn, err}
	}()
	select {
	case d := <-made:
		return d.conn, d.err
	case <-ctx.Done():
		go func() { // nobody waits for the connection any more
			if d := <-made; d.conn != nil {
				_ = d.conn.Close()
			}
		}()
		return nil, ctx.Err()
	}
}

// forward opens a port-forward with one connection.
func (k *kubelets) forward(namespace, pod string, port int) (net.Conn, error) {
	at, err := k.url(namespace, pod, "portforward")
	if err != nil {
		return nil, err
	}
	transport, upgrader, err := spdy.RoundTripperFor(k.config)
	if err != nil {
		return nil, err
	}
	conn, _, err := spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: transport, Timeout: answerLimit}, http.MethodPost, at).Dial(forwardProtocol)
	if err != nil {
		return nil, err
	}
	f, err := newForwarded(conn, pod, port)
	if err != nil {
		_ = conn.Close() // the error above matters more
		return nil, err
	}
	return f, nil
}

// forwarded is a connection to a port of a pod.
type forwarded struct {
	httpstream.Stream
	conn   httpstream.Connection
	pod    string
	broken atomic.Pointer[error] // what the kubelet reported; nil = nothing
}

func newForwarded(conn httpstream.Connection, pod string, port int) (*forwarded, error) {
	header := http.Header{}
	header.Set(streamType, "error")
	header.Set("port", strconv.Itoa(port))
	header.Set("requestID", "0")
	faults, err := conn.CreateStream(header)
	if err != nil {
		return nil, err
	}
	if err := faults.Close(); err != nil { // this side writes nothing
		return nil, err
	}
	header.Set(streamType, "data")
	data, err := conn.CreateStream(header)
	if err != nil {
		return nil, err
	}
	f := &forwarded{Stream: data, conn: conn, pod: pod}
	go func() {
		text, err := io.ReadAll(io.LimitReader(faults, longestStatus))
		if err == nil && len(text) > 0 {
			err = errors.New(string(text))
			f.broken.Store(&err)
			_ = conn.Close() // the reason is known
		}
	}()
	return f, nil
}

// Read implements net.Conn.
func (f *forwarded) Read(p []byte) (int, error) {
	n, err := f.Stream.Read(p)
	if broken := f.broken.Load(); err != nil && broken != nil {
		err = *broken
	}
	return n, err
}

// Close implements net.Conn.
func (f *forwarded) Close() error { return errors.Join(f.Stream.Reset(), f.conn.Close()) }

// podAddr is the address of a pod.
type podAddr string

// Network implements net.Addr.
func (podAddr) Network() string { return "pod" }

func (a podAddr) String() string { return string(a) }

// LocalAddr implements net.Conn.
func (f *forwarded) LocalAddr() net.Addr { return podAddr("aiperf") }

// RemoteAddr implements net.Conn.
func (f *forwarded) RemoteAddr() net.Addr { return podAddr(f.pod) }

// SetDeadline implements net.Conn. Port-forwards have no deadlines; requests end them by closing the connection.
func (f *forwarded) SetDeadline(time.Time) error { return nil }

// SetReadDeadline implements net.Conn.
func (f *forwarded) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline implements net.Conn.
func (f *forwarded) SetWriteDeadline(time.Time) error { return nil }
