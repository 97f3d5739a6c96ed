package kube

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
)

// PagePort is the port of a run's live page, on the loopback interface of its controller's pod.
const PagePort = 8090

// PageLink returns the address of the live page behind a local address.
func (r *Remote) PageLink(local net.Addr) string {
	return "http://" + local.String() + "/?token=" + r.token
}

// ServePage forwards the connections of a listener to the live page of a run, until the context ends. fault receives errors of single connections, but not
// the same one again: a page that the browser shows connects over and over.
func (r *Remote) ServePage(ctx context.Context, l net.Listener, fault func(error)) error {
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	var (
		all  sync.WaitGroup
		mu   sync.Mutex
		last string
	)
	defer all.Wait()
	for {
		browser, err := l.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return context.Cause(ctx)
			}
			return err
		}
		all.Go(func() {
			defer browser.Close()
			err := r.forwardPage(ctx, browser)
			if err == nil || ctx.Err() != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if err.Error() != last {
				last = err.Error()
				fault(err)
			}
		})
	}
}

// forwardPage forwards a connection of a browser to the live page.
func (r *Remote) forwardPage(ctx context.Context, browser net.Conn) error {
	page, err := r.cluster.Dial(ctx, r.pod, PagePort)
	if err != nil {
		return err
	}
	defer page.Close()
	return join(ctx, browser, page)
}

// join copies both ways until one of them ends, or the context does. It returns the error of reading the page: a port-forward reports there that nobody
// listens. Other errors mean that the browser has left.
func join(ctx context.Context, browser, page net.Conn) error {
	over := make(chan error, 2)
	go func() {
		_, _ = io.Copy(page, browser)
		over <- nil
	}()
	go func() {
		from := &faultReader{from: page}
		_, _ = io.Copy(browser, from)
		over <- from.fault
	}()
	select {
	case err := <-over:
		return err
	case <-ctx.Done():
		return nil
	}
}

// faultReader remembers the error that ended reading.
type faultReader struct {
	from  io.Reader
	fault error // nil = none, or the end
}

// Read implements io.Reader.
func (r *faultReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.fault = err
	}
	return n, err
}
