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

// ServePage forwards the connections of a listener to the live page of a run, until the context ends. fault receives errors of single connections.
func (r *Remote) ServePage(ctx context.Context, l net.Listener, fault func(error)) error {
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	var all sync.WaitGroup
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
			page, err := r.cluster.Dial(ctx, r.pod, PagePort)
			if err != nil {
				fault(err)
				return
			}
			defer page.Close()
			join(ctx, browser, page)
		})
	}
}

// join copies both ways until one of them ends, or the context does.
func join(ctx context.Context, a, b net.Conn) {
	over, end := context.WithCancel(ctx)
	defer end()
	for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
		go func() {
			defer end()
			_, _ = io.Copy(way[0], way[1]) // browsers leave
		}()
	}
	<-over.Done()
}
