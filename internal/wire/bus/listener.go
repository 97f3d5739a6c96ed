package bus

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"
)

// encryption returns how connections are encrypted, and the digest of the certificate.
func encryption(certificate *tls.Certificate) (settings *tls.Config, pin string, err error) {
	if certificate == nil {
		if certificate, err = newCertificate(time.Now()); err != nil {
			return nil, "", err
		}
	}
	settings = &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{*certificate}}
	return settings, pinOf(certificate.Certificate[0]), nil
}

// accept takes connections until the server closes.
func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // too many open files, for example
			time.Sleep(presencePause)
		case !s.admit(conn):
			_ = conn.Close() // too many connections, or the server closes
		}
	}
}

// admit serves a connection on a goroutine that Close waits for, unless there are too many.
func (s *Server) admit(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() != nil || len(s.open) >= maxConnections {
		return false
	}
	in := &socket{Conn: conn, stall: startTimeout}
	c := newConnection(in, in)
	if s.encrypted != nil {
		c.Conn = tls.Server(in, s.encrypted)
	}
	s.open[c] = true
	s.done.Go(func() {
		s.serve(c)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.open, c)
	})
	return true
}

// serve talks with a worker until the connection ends.
func (s *Server) serve(c *connection) {
	w, bulk := s.greet(c)
	if w == nil {
		c.end(errLost)
		return
	}
	w.enter(c, bulk)
	defer w.depart(c)
	s.done.Go(c.write) // serve runs, so Close waits already
	_ = c.send(frameAccepted, nil)
	handle := s.handleControl
	if bulk {
		handle = s.handleBulk
	} else {
		c.socket.silence = goneAfter
	}
	switch err := c.read(func(kind frameKind, body []byte) error { return handle(c, w, kind, body) }); {
	case errors.Is(err, errFrameSize):
		s.drops.add(DroppedSize)
	case errors.Is(err, errSlow):
		s.drops.add(DroppedSlow)
	}
}

// greet reads a worker's hello and returns its account, or nil if it may not connect.
func (s *Server) greet(c *connection) (w *member, bulk bool) {
	late := time.AfterFunc(startTimeout, func() { c.end(errLost) })
	defer late.Stop()
	kind, body, err := readFrame(c, maxHello)
	if err != nil {
		return nil, false
	}
	var h hello
	reason := DroppedDamaged
	if kind == frameHello {
		err := decode(body, &h)
		reason = s.auth.refusal(&h, err)
	}
	if reason == "" {
		return s.member(h.Name), h.Bulk
	}
	s.drops.add(reason)
	if reason != DroppedDamaged { // a stranger who does not speak this language gets no answer
		s.refused(c, &h, reason)
		_, _ = c.Write(encodeFrame(frameRefused, nil)) // the worker tries again without it
	}
	return nil, false
}

// refused reports a worker that may not connect.
func (s *Server) refused(c *connection, h *hello, reason string) {
	if s.opts.Refused == nil {
		return
	}
	address, _, err := net.SplitHostPort(c.RemoteAddr().String())
	if err != nil {
		return // the connection has ended
	}
	name := h.Name
	if CheckName(name) != nil {
		name = ""
	}
	s.opts.Refused(address, name, reason)
}

// member returns the account of the worker with a name.
func (s *Server) member(name string) *member {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.members[name]
	if w == nil {
		w = newMember(name)
		s.members[name] = w
	}
	return w
}

var errNotAllowed = errors.New("a worker may not send this message")

// handleControl handles a message on the connection for all but pieces.
func (s *Server) handleControl(_ *connection, w *member, kind frameKind, body []byte) error {
	switch kind {
	case frameBeat:
		s.handleBeat(w, body)
	case frameNote:
		s.handleNote(w, body)
	case frameQuestion:
		s.handleQuestion(w, body)
	default:
		s.drops.add(DroppedKind)
		return fmt.Errorf("%w: kind %d", errNotAllowed, kind)
	}
	return nil
}

// handleBulk handles a message on the connection for pieces.
func (s *Server) handleBulk(c *connection, w *member, kind frameKind, body []byte) error {
	switch {
	case kind == framePiece:
		s.handlePiece(w, body)
	case kind == framePing && len(body) == 0:
		return c.send(framePong, nil)
	default:
		s.drops.add(DroppedKind)
		return fmt.Errorf("%w: kind %d", errNotAllowed, kind)
	}
	return nil
}
