package bus

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// uplink is a worker's connection to the controller, made again whenever it is lost.
type uplink struct {
	client  *Client
	session string
	bulk    bool          // the connection is the one for pieces
	silence time.Duration // without a byte for so long it is lost
	handle  func(kind frameKind, body []byte)
	again   func() // called when it was made again

	mu      sync.Mutex
	current *connection // nil = lost
	closed  bool
}

// send sends a message on the current connection. While the connection is lost, it returns an error.
func (u *uplink) send(kind frameKind, m message) error {
	u.mu.Lock()
	c := u.current
	u.mu.Unlock()
	if c == nil {
		return errLost
	}
	return c.send(kind, m)
}

// lose gives up a connection, so that another one is made.
func (u *uplink) lose() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.current != nil {
		u.current.end(errLost)
	}
}

// finish ends the connection once what waits is written. No other one is made.
func (u *uplink) finish() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	if u.current != nil {
		u.current.finish()
	}
}

// connect makes the first connection. While nobody listens at the address it tries again until the context ends.
func (u *uplink) connect(ctx context.Context) error {
	for {
		err := u.dial(ctx)
		if wrong := (*wrongCertificateError)(nil); err == nil || errors.Is(err, ErrRefused) || errors.As(err, &wrong) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("no controller answers at %v: %w", u.client.opts.Join, errors.Join(context.Cause(ctx), err))
		case <-time.After(2 * redialPause):
		}
	}
}

// run reads from the connection and makes it again whenever it is lost, until the client is closed or refused.
func (u *uplink) run() {
	for u.serve(); u.client.ctx.Err() == nil; u.serve() {
		if !u.reconnect() {
			return
		}
		u.again()
	}
}

// serve reads from the connection until it is lost.
func (u *uplink) serve() {
	u.mu.Lock()
	c := u.current
	u.mu.Unlock()
	_ = c.read(func(kind frameKind, body []byte) error { // the next connection is made whatever the reason
		u.handle(kind, body)
		return nil
	})
	u.mu.Lock()
	defer u.mu.Unlock()
	u.current = nil
}

// reconnect makes another connection. It reports false if there will be none.
func (u *uplink) reconnect() bool {
	for {
		pause := redialPause + rand.N(redialPause/2) // so that machines do not come at the same instant
		select {
		case <-u.client.ctx.Done():
			return false
		case <-time.After(pause):
		}
		err := u.dial(u.client.ctx)
		if err == nil {
			return true
		}
		if errors.Is(err, ErrRefused) {
			u.client.refused.Store(true)
			return false
		}
	}
}

// dial makes one connection and introduces the worker.
func (u *uplink) dial(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", u.client.opts.Join.address())
	if err != nil {
		return err
	}
	out := &socket{Conn: conn}
	c := newConnection(out, out)
	if pin := u.client.opts.Join.Pin; pin != "" {
		c.Conn = tls.Client(out, pinned(pin))
	}
	stop := context.AfterFunc(ctx, func() { c.end(context.Cause(ctx)) })
	err = u.introduce(c)
	if !stop() && err == nil {
		err = c.reason()
	}
	if err == nil {
		err = u.take(c)
	}
	if err != nil {
		c.end(err)
	}
	return err
}

// introduce says who the worker is and waits to be accepted.
func (u *uplink) introduce(c *connection) error {
	opts := &u.client.opts
	h := hello{Greeting: greeting, Token: opts.Token, Name: opts.Name, Session: u.session, Bulk: u.bulk}
	if _, err := c.Write(encodeFrame(frameHello, &h)); err != nil {
		return err
	}
	kind, _, err := readFrame(c, 0)
	switch {
	case err != nil:
		return err
	case kind == frameRefused:
		return ErrRefused
	case kind != frameAccepted:
		return errors.New("the address is not that of a controller of aiperf")
	}
	return nil
}

// take makes a connection the current one.
func (u *uplink) take(c *connection) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return errClosed
	}
	c.socket.silence = u.silence
	u.current = c
	u.client.done.Go(c.write) // run, which waits for the connection, has not ended, or connect has not returned
	return nil
}
