package kubeclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/moby/spdystream"

	"aiperf/internal/run/kube"
)

// The protocol of port-forwards and that below it, which an HTTP/1.1 connection is upgraded to.
const (
	forwardProtocol = "portforward.k8s.io"
	streamProtocol  = "SPDY/3.1"
	// pingPeriod is how often a ping keeps the connection alive, also in load balancers on the way.
	pingPeriod = 5 * time.Second
)

// forward opens a port-forward with one connection.
func (l *link) forward(ctx context.Context, path []string, pod string, port int) (net.Conn, error) {
	r := l.request(http.MethodPost, path, nil, nil)
	r.header.Set("X-Stream-Protocol-Version", forwardProtocol)
	r.header.Set("Connection", "Upgrade")
	r.header.Set("Upgrade", streamProtocol)
	var made *forwarded
	err := l.withCredentials(ctx, func(c *credential) error {
		ctx, cancel := context.WithTimeout(ctx, answerLimit)
		defer cancel()
		raw, err := l.upgrade(ctx, r, c)
		if err != nil {
			return err
		}
		made, err = newForwarded(ctx, raw, pod, port)
		return err
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// upgrade returns the connection behind an answer that agrees to another protocol.
func (l *link) upgrade(ctx context.Context, r *request, c *credential) (io.ReadWriteCloser, error) {
	resp, err := l.send(ctx, l.transports.upgrades(c), r, c)
	if err != nil {
		return nil, err
	}
	raw, ok := resp.Body.(io.ReadWriteCloser)
	if ok && resp.StatusCode == http.StatusSwitchingProtocols && strings.EqualFold(resp.Header.Get("Upgrade"), streamProtocol) {
		return raw, nil
	}
	if resp.StatusCode == http.StatusSwitchingProtocols {
		_ = resp.Body.Close() // the error below matters more
		return nil, fmt.Errorf("the answer agrees to the protocol %q, expected %s", resp.Header.Get("Upgrade"), streamProtocol)
	}
	err = refused(r.method, resp)
	var known *kube.APIError
	if errors.As(err, &known) && known.Reason != kube.Forbidden && known.Reason != kube.Unauthorized {
		// A kubelet that restarts does not know its pods for a while, so only a missing right is final.
		known.Reason = kube.Unreachable
	}
	return nil, err
}

// streams are the streams of a port-forward.
type streams struct {
	conn   *spdystream.Connection
	faults *spdystream.Stream // the kubelet writes here what goes wrong
	data   *spdystream.Stream
}

// openStreams opens the streams for a port on a connection. It closes the connection if that fails.
func openStreams(ctx context.Context, raw io.ReadWriteCloser, port int) (_ *streams, err error) {
	conn, err := spdystream.NewConnection(pipe{ReadWriteCloser: raw}, false)
	if err != nil {
		_ = raw.Close() // the error above matters more
		return nil, err
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		conn.Serve(func(s *spdystream.Stream) { _ = s.Reset() }) // the other side opens none
	}()
	s := &streams{conn: conn}
	defer func() {
		if err != nil {
			s.abandon(served)
		}
	}()
	header := func(kind string) http.Header {
		return http.Header{"Streamtype": {kind}, "Port": {fmt.Sprint(port)}, "Requestid": {"0"}}
	}
	if s.faults, err = openStream(ctx, conn, header("error")); err != nil {
		return nil, err
	}
	if err = s.faults.Close(); err != nil { // this side writes nothing
		return nil, err
	}
	if s.data, err = openStream(ctx, conn, header("data")); err != nil {
		return nil, err
	}
	go s.ping()
	return s, nil
}

// openStream opens a stream and waits until the other side has accepted it. The stream needs a reset even if that fails.
func openStream(ctx context.Context, conn *spdystream.Connection, header http.Header) (*spdystream.Stream, error) {
	stream, err := conn.CreateStream(header, nil, false)
	if err != nil {
		return stream, err
	}
	for {
		// The package knows no contexts, and does not notice here that the connection has ended.
		err := stream.WaitTimeout(20 * time.Millisecond)
		if !errors.Is(err, spdystream.ErrTimeout) {
			return stream, err
		}
		select {
		case <-ctx.Done():
			return stream, ctx.Err()
		case <-conn.CloseChan():
			return stream, errors.New("the connection ended before the kubelet answered")
		default:
		}
	}
}

// abandon ends streams that were not opened completely, and waits until their goroutines have ended.
func (s *streams) abandon(served <-chan struct{}) {
	s.close()
	for {
		select {
		case <-served:
			return
		case <-time.After(time.Millisecond):
		}
		for _, one := range []*spdystream.Stream{s.faults, s.data} {
			if one != nil {
				_ = one.WaitTimeout(time.Millisecond) // a refusal that has just arrived blocks the connection until somebody takes it
			}
		}
	}
}

// ping sends pings until the connection ends.
func (s *streams) ping() {
	tick := time.NewTicker(pingPeriod)
	defer tick.Stop()
	for {
		select {
		case <-s.conn.CloseChan():
			return
		case <-tick.C:
			_, _ = s.conn.Ping() // if the connection has ended, the other case says so
		}
	}
}

// close ends the streams and the connection. Its last frames may reach nobody, because the other side may have ended first.
func (s *streams) close() {
	for _, one := range []*spdystream.Stream{s.faults, s.data} {
		if one != nil {
			_ = one.Reset()
		}
	}
	_ = s.conn.Close()
}
