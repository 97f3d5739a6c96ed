package bus

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"

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
	// Refused hears of a worker that may not connect: its IP address, its name ("" = not valid), and the reason (DroppedToken, DroppedName, DroppedVersion).
	Refused func(address, name, reason string)
}

// Server is the controller's end of the bus.
type Server struct {
	opts      Options
	listener  net.Listener
	encrypted *tls.Config // nil = connections are not encrypted
	auth      *authenticator
	join      Join
	clocks    *clockServer
	ctx       context.Context
	cancel    context.CancelCauseFunc
	done      sync.WaitGroup

	mu      sync.Mutex
	open    map[*connection]bool
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
	if _, err := strconv.ParseUint(portText, 10, 16); err != nil {
		return nil, fmt.Errorf("the address %q to listen on has no port from 0 to 65535", opts.Listen)
	}
	if address := net.ParseIP(host); opts.Advertise == "" && (host == "" || address != nil && address.IsUnspecified()) {
		return nil, fmt.Errorf("the address %q to listen on means every address of this machine, but not which one workers use", opts.Listen)
	}
	if n := len(opts.Token); n < shortestToken || n > longestToken {
		return nil, fmt.Errorf("a token of %d characters is not possible: use %d to %d", n, shortestToken, longestToken)
	}
	s := &Server{opts: opts, open: map[*connection]bool{}, members: map[string]*member{}, drops: newDrops()}
	s.auth = &authenticator{token: opts.Token, sessions: map[string][sha256.Size]byte{}}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	pin := ""
	if opts.Encrypt || !isLoopback(host) {
		if s.encrypted, pin, err = encryption(opts.Certificate); err != nil {
			return nil, err
		}
	}
	if s.listener, err = net.Listen("tcp", opts.Listen); err != nil {
		return nil, fmt.Errorf("the bus cannot listen on %s: %w", opts.Listen, err)
	}
	s.join = Join{Host: cmp.Or(opts.Advertise, host), Port: s.listener.Addr().(*net.TCPAddr).Port, Pin: pin}
	s.start()
	return s, nil
}

// start starts the clock and the goroutines of a server that listens.
func (s *Server) start() {
	if c, err := newClockServer(s.listener.Addr().(*net.TCPAddr), s.opts.Token); err == nil { // without it workers send their probes over the bus
		s.clocks = c
		s.done.Go(c.run)
	}
	s.done.Go(s.accept)
	s.done.Go(s.watch)
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
	for c := range s.open {
		c.finish()
	}
	s.mu.Unlock()
	_ = s.listener.Close() // closed before
	if s.clocks != nil {
		s.clocks.close()
	}
	s.done.Wait()
}

func (s *Server) handleBeat(w *member, body []byte) {
	received := clock.Now()
	var b beat
	if decode(body, &b) != nil {
		s.drops.add(DroppedDamaged)
		return
	}
	due, ok := w.beat(received, b.Orders)
	if !ok {
		s.drops.add(DroppedDamaged)
		return
	}
	w.reply(frameBeatAnswer, &beatAnswer{Number: b.Number, Received: received, Answered: clock.Now()})
	for _, o := range due {
		w.reply(frameOrder, o)
	}
}

func (s *Server) handleNote(w *member, body []byte) {
	var n note
	if decode(body, &n) != nil || len(n.Data) > MaxData {
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

func (s *Server) handleQuestion(w *member, body []byte) {
	var q question
	if decode(body, &q) != nil || len(q.Data) > MaxData {
		s.drops.add(DroppedDamaged)
		return
	}
	w.seen(clock.Now())
	known, begin := w.ask(&q)
	switch {
	case known != nil:
		w.reply(frameAnswer, known)
	case begin:
		s.begin(func() {
			a := s.answer(w, &q)
			w.answered(a)
			w.reply(frameAnswer, a)
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

func (s *Server) handlePiece(w *member, body []byte) {
	s.storing.Lock()
	defer s.storing.Unlock()
	var p Piece
	if s.ctx.Err() != nil || decode(body, &p) != nil {
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
	w.reply(frameReceipt, &r)
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
		w.reply(frameOrder, o)
	}
	return err
}
