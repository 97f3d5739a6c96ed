package bus

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"aiperf/internal/base/clock"
)

// Options of a server. Functions are called on goroutines of the bus.
type Options struct {
	Listen      string           // host:port; port 0 = any. Beyond loopback connections are encrypted
	Advertise   string           // host in the join line; "" = the one of Listen
	Encrypt     bool             // also encrypt on loopback
	Token       string           // what workers must know
	Certificate *tls.Certificate // nil = one is made

	// Answer handles a question, once. The context ends with the server. An error is the reason of a refusal.
	Answer func(ctx context.Context, member, kind string, data []byte) ([]byte, error)
	// Note handles a note. Notes of all workers come one after the other.
	Note func(member, kind string, data []byte)
	// Store makes a piece safe, before it is acknowledged. Pieces of all workers come one after the other, those of one worker in order.
	Store func(member string, p *Piece) error
	// Presence hears of joins, losses and returns, one after the other.
	Presence func(Event)
}

// Server is the controller's end of the bus.
type Server struct {
	opts   Options
	engine *server.Server
	auth   *authenticator
	join   Join
	clocks *clockServer
	conns  []*nats.Conn // its own: one for beats, one for the rest
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   sync.WaitGroup

	mu      sync.Mutex
	members map[string]*member
	epoch   int64

	storing sync.Mutex // held while a piece is handled
	noting  sync.Mutex // held while a note is handled
	drops   *drops
}

var errClosed = errors.New("the bus is closed")

// Listen starts a server.
func Listen(opts Options) (*Server, error) {
	host, portText, err := net.SplitHostPort(opts.Listen)
	if err != nil {
		return nil, fmt.Errorf("the address %q to listen on is not HOST:PORT: %w", opts.Listen, err)
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("the address %q to listen on has no port from 0 to 65535", opts.Listen)
	}
	if address := net.ParseIP(host); opts.Advertise == "" && (host == "" || address != nil && address.IsUnspecified()) {
		return nil, fmt.Errorf("the address %q to listen on means every address of this machine, but not which one workers use", opts.Listen)
	}
	if len(opts.Token) < shortestToken {
		return nil, fmt.Errorf("a token of %d characters is too short: use at least %d", len(opts.Token), shortestToken)
	}
	s := &Server{opts: opts, members: map[string]*member{}, drops: newDrops()}
	s.auth = &authenticator{token: opts.Token, own: NewToken(), sessions: map[string]session{}, drops: s.drops}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	settings := &server.Options{
		Host: host, Port: int(port), NoSigs: true, NoSystemAccount: true, MaxPayload: maxPayload, MaxPending: maxPending, MaxConn: 2*maxMembers + 4,
		MaxSubs: 16, MaxControlLine: 1024, PingInterval: time.Second, MaxPingsOut: 3, WriteDeadline: startTimeout, AuthTimeout: startTimeout.Seconds(),
		CustomClientAuthentication: s.auth, NoHeaderSupport: true,
	}
	if port == 0 {
		settings.Port = server.RANDOM_PORT
	}
	pin := ""
	if opts.Encrypt || !isLoopback(host) {
		if pin, err = encryption(settings, opts.Certificate); err != nil {
			return nil, err
		}
	}
	if s.engine, err = server.NewServer(settings); err != nil {
		return nil, err
	}
	s.engine.SetLoggerV2(s.drops, false, false, false)
	if err := s.start(pin); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// encryption makes the engine encrypt connections and returns the digest of its certificate.
func encryption(settings *server.Options, certificate *tls.Certificate) (pin string, err error) {
	if certificate == nil {
		if certificate, err = newCertificate(time.Now()); err != nil {
			return "", err
		}
	}
	settings.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{*certificate}}
	settings.TLSHandshakeFirst, settings.TLSTimeout = true, startTimeout.Seconds()
	return pinOf(certificate.Certificate[0]), nil
}

// start starts the engine, its clock and its handlers.
func (s *Server) start(pin string) error {
	s.engine.Start()
	for end := time.Now().Add(startTimeout); !s.engine.ReadyForConnections(presencePause); {
		if reason := s.drops.fatal(); reason != "" {
			return fmt.Errorf("the bus cannot listen on %s: %s", s.opts.Listen, reason)
		}
		if time.Now().After(end) {
			return fmt.Errorf("the bus did not listen on %s within %v", s.opts.Listen, startTimeout)
		}
	}
	address, ok := s.engine.Addr().(*net.TCPAddr)
	if !ok {
		return fmt.Errorf("the bus listens on %v, which is not a TCP address", s.engine.Addr())
	}
	s.join = Join{Host: s.opts.Advertise, Port: address.Port, Pin: pin}
	if s.join.Host == "" {
		s.join.Host, _, _ = net.SplitHostPort(s.opts.Listen)
	}
	if c, err := newClockServer(address, s.opts.Token); err == nil { // without it workers send their probes over the bus
		s.clocks = c
		s.done.Go(c.run)
	}
	beats, err := s.connect()
	if err != nil {
		return err
	}
	rest, err := s.connect()
	if err != nil {
		return err
	}
	for _, h := range []struct {
		conn    *nats.Conn
		subject string
		handle  nats.MsgHandler
	}{{beats, subjectBeats, s.handleBeat}, {rest, subjectNotes, s.handleNote}, {rest, subjectQuestions, s.handleQuestion}, {rest, subjectPieces, s.handlePiece}} {
		sub, err := h.conn.Subscribe(h.subject, h.handle)
		if err != nil {
			return err
		}
		if err := sub.SetPendingLimits(-1, maxPending); err != nil {
			return err
		}
	}
	for _, c := range s.conns {
		if err := c.FlushTimeout(startTimeout); err != nil {
			return err
		}
	}
	s.done.Go(s.watch)
	return nil
}

// connect makes a connection of the controller itself.
func (s *Server) connect() (*nats.Conn, error) {
	c, err := nats.Connect("", nats.InProcessServer(s.engine), nats.UserInfo(controllerName, s.auth.own), nats.MaxReconnects(-1),
		nats.ReconnectWait(10*time.Millisecond), nats.Timeout(startTimeout), nats.ReconnectBufSize(-1), nats.NoEcho())
	if err == nil {
		s.conns = append(s.conns, c)
	}
	return c, err
}

// Join returns how workers reach the server.
func (s *Server) Join() Join { return s.join }

// HasClock reports whether workers can send clock probes by UDP.
func (s *Server) HasClock() bool { return s.clocks != nil }

// Drops returns how many messages and connections were refused, by reason.
func (s *Server) Drops() map[string]int { return s.drops.counts() }

// Close ends the server. Questions in progress are cancelled. No function of Options runs after it, and none may call it.
func (s *Server) Close() {
	s.mu.Lock()
	s.cancel(errClosed)
	s.mu.Unlock()
	for _, c := range s.conns {
		c.Close()
	}
	if s.clocks != nil {
		s.clocks.close()
	}
	s.engine.Shutdown()
	s.engine.WaitForShutdown()
	s.done.Wait()
	for _, handling := range []*sync.Mutex{&s.storing, &s.noting} { // waits for handlers that have begun
		handling.Lock()
		handling.Unlock() //nolint:staticcheck // the section is empty: others see that the server is closed
	}
}

// sender returns the member that sent a message, or nil. The engine has checked that the subject is the sender's.
func (s *Server) sender(m *nats.Msg) *member {
	_, rest, _ := strings.Cut(m.Subject, ".")
	name, _, _ := strings.Cut(rest, ".")
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.members[name]
	if w == nil && s.ctx.Err() == nil && s.auth.known(name) {
		w = newMember(name)
		s.members[name] = w
	}
	return w
}

// reply publishes to a worker's inbox. What is lost is asked for again.
func (s *Server) reply(conn int, w *member, what string, m message) {
	_ = s.conns[conn].Publish(inboxSubject(w.name, what), encode(m))
}

func (s *Server) handleBeat(m *nats.Msg) {
	received := clock.Now()
	var b beat
	w := s.sender(m)
	if w == nil || decode(m.Data, &b) != nil {
		s.drops.add(DroppedDamaged)
		return
	}
	due, ok := w.beat(received, b.Orders)
	if !ok {
		s.drops.add(DroppedDamaged)
		return
	}
	s.reply(0, w, "beat", &beatAnswer{Number: b.Number, Received: received, Answered: clock.Now()})
	for _, o := range due {
		s.reply(0, w, "order", o)
	}
}

func (s *Server) handleNote(m *nats.Msg) {
	var n note
	w := s.sender(m)
	if w == nil || decode(m.Data, &n) != nil || len(n.Data) > MaxData {
		s.drops.add(DroppedDamaged)
		return
	}
	w.seen(clock.Now())
	s.noting.Lock()
	defer s.noting.Unlock()
	if s.opts.Note != nil && s.ctx.Err() == nil {
		s.opts.Note(w.name, n.Kind, n.Data)
	}
}

func (s *Server) handleQuestion(m *nats.Msg) {
	var q question
	w := s.sender(m)
	if w == nil || decode(m.Data, &q) != nil || len(q.Data) > MaxData {
		s.drops.add(DroppedDamaged)
		return
	}
	w.seen(clock.Now())
	known, begin := w.ask(&q)
	switch {
	case known != nil:
		s.reply(1, w, "answer", known)
	case begin:
		s.begin(func() {
			a := s.answer(w, &q)
			w.answered(a)
			s.reply(1, w, "answer", a)
		})
	}
}

// begin runs a function on a goroutine that Close waits for. It does nothing once the server closes.
func (s *Server) begin(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() == nil {
		s.done.Go(f)
	}
}

// answer lets the handler answer a question.
func (s *Server) answer(w *member, q *question) *answer {
	a := &answer{Number: q.Number}
	var err error = &Refusal{Reason: "the controller answers no questions"}
	if s.opts.Answer != nil {
		a.Data, err = s.opts.Answer(s.ctx, w.name, q.Kind, q.Data)
	}
	if err == nil && len(a.Data) > MaxData {
		err = fmt.Errorf("the answer to %q has %d bytes, at most %d are possible", q.Kind, len(a.Data), MaxData)
	}
	if err != nil {
		a.Refused, a.Reason, a.Data = true, shorten(err.Error()), nil
	}
	return a
}

// shorten limits a text that goes into a message.
func shorten(text string) string { return strings.ToValidUTF8(text[:min(len(text), 4096)], "") }

func (s *Server) handlePiece(m *nats.Msg) {
	s.storing.Lock()
	defer s.storing.Unlock()
	var p Piece
	w := s.sender(m)
	if w == nil || s.ctx.Err() != nil || decode(m.Data, &p) != nil {
		s.drops.add(DroppedDamaged)
		return
	}
	w.seen(clock.Now())
	r := w.piece(&p, s.currentEpoch(), func(p *Piece) error {
		if s.opts.Store == nil {
			return errors.New("the controller takes no results")
		}
		return s.opts.Store(w.name, p)
	})
	switch r.Result {
	case pieceOld:
		s.drops.add(DroppedEpoch)
	case pieceChanged:
		s.drops.add(DroppedPiece)
	}
	r.Reason = shorten(r.Reason)
	s.reply(1, w, "receipt", &r)
}

func (s *Server) currentEpoch() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.epoch
}

// BeginEpoch makes the server accept pieces of another epoch and of no other. It waits for a piece that is being stored.
func (s *Server) BeginEpoch(epoch int64) {
	s.storing.Lock()
	defer s.storing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.epoch = epoch
}

// Order sends an order to a worker. It arrives once, in order, as soon as the worker can be reached. An error means that there is no such worker, or
// that too many orders wait for it.
func (s *Server) Order(name, kind string, data []byte) error {
	if !kindPattern.MatchString(kind) || len(data) > MaxData {
		return fmt.Errorf("an order of kind %q with %d bytes is not possible", kind, len(data))
	}
	s.mu.Lock()
	w := s.members[name]
	s.mu.Unlock()
	if w == nil {
		return fmt.Errorf("no machine %q has joined", name)
	}
	o, err := w.order(kind, data)
	if err == nil {
		s.reply(0, w, "order", o)
	}
	return err
}
