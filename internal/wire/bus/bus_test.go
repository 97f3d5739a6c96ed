package bus

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/base/binenc"
	"aiperf/internal/base/clock"
)

const testToken = "0123456789abcdef0123456789abcdef"

// controller is a server with what it received.
type controller struct {
	*Server
	mu     sync.Mutex
	pieces map[string][]Piece
	asked  []string
	notes  []string
	full   error // what storing a piece fails with
	events chan Event
	hold   chan struct{} // questions of kind "wait" end with it
}

func listen(t *testing.T, opts Options) *controller {
	t.Helper()
	c := &controller{pieces: map[string][]Piece{}, events: make(chan Event, 100), hold: make(chan struct{})}
	opts.Token = testToken
	if opts.Listen == "" {
		opts.Listen = "127.0.0.1:0"
	}
	opts.Answer = c.answer
	opts.Note = func(member, kind string, data []byte) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.notes = append(c.notes, fmt.Sprintf("%s %s %s", member, kind, data))
	}
	opts.Store = func(member string, p *Piece) error {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.full != nil {
			return c.full
		}
		c.pieces[member] = append(c.pieces[member], *p)
		return nil
	}
	opts.Presence = func(e Event) { c.events <- e }
	s, err := Listen(opts)
	if err != nil {
		t.Fatal(err)
	}
	c.Server = s
	t.Cleanup(s.Close)
	return c
}

func (c *controller) answer(ctx context.Context, member, kind string, data []byte) ([]byte, error) {
	c.mu.Lock()
	c.asked = append(c.asked, fmt.Sprintf("%s %s %s", member, kind, data))
	c.mu.Unlock()
	switch kind {
	case "refuse":
		return nil, errors.New("the run is under way: its shares are given out")
	case "wait":
		select {
		case <-c.hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return append([]byte("re: "), data...), nil
}

func (c *controller) stored(name string) []Piece {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.pieces[name])
}

// patience is how long a test waits for one acknowledgement.
const patience = 20 * time.Second

// deadline is the context of a step that must end.
func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func dial(t *testing.T, join Join, name string, order func(string, []byte)) *Client {
	t.Helper()
	c, err := Dial(context.WithoutCancel(t.Context()), DialOptions{Join: join, Token: testToken, Name: name, Order: order})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// until waits for a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for ctx := deadline(t); !ok(); {
		select {
		case <-ctx.Done():
			t.Fatalf("%s: not within 20 s", what)
		case <-tick.C:
		}
	}
}

// event waits for an event of a kind and returns it.
func (c *controller) event(t *testing.T, kind EventKind, member string) Event {
	t.Helper()
	for ctx := deadline(t); ; {
		select {
		case e := <-c.events:
			if e.Kind == kind && e.Member == member {
				return e
			}
		case <-ctx.Done():
			t.Fatalf("no event %d of %s", kind, member)
		}
	}
}

// TestExchange: everything that the bus carries, open and encrypted.
func TestExchange(t *testing.T) {
	for _, encrypt := range []bool{false, true} {
		c := listen(t, Options{Encrypt: encrypt})
		join, err := ParseJoin(c.Join().String())
		if err != nil || join != c.Join() || (join.Pin != "") != encrypt {
			t.Fatal(join, err)
		}
		orders := make(chan string, 10)
		w := dial(t, join, "w1", func(kind string, data []byte) { orders <- kind + " " + string(data) })
		c.event(t, Joined, "w1")

		got, err := w.Ask(deadline(t), "hello", []byte("8 cores"))
		if err != nil || string(got) != "re: 8 cores" {
			t.Errorf("%q, %v", got, err)
		}
		var refusal *Refusal
		if _, err := w.Ask(deadline(t), "refuse", nil); !errors.As(err, &refusal) || refusal.Reason != "the run is under way: its shares are given out" {
			t.Errorf("%v", err)
		}
		for k := range 3 {
			if err := c.Order("w1", "start", fmt.Append(nil, k)); err != nil {
				t.Fatal(err)
			}
		}
		for k := range 3 {
			if got := <-orders; got != fmt.Sprint("start ", k) {
				t.Errorf("order %d is %q", k, got)
			}
		}
		if err := c.Order("w2", "start", nil); err == nil {
			t.Error("an order to nobody")
		}
		if err := w.Note("progress", []byte("5")); err != nil {
			t.Fatal(err)
		}
		until(t, "the note", func() bool { c.mu.Lock(); defer c.mu.Unlock(); return slices.Equal(c.notes, []string{"w1 progress 5"}) })

		c.BeginEpoch(7)
		out := w.Outbox(7, 4<<20)
		big := bytes.Repeat([]byte("x"), MaxPiece)
		for k := range 20 {
			if n, err := out.Put(deadline(t), big[:MaxPiece-k], k == 19); err != nil || n != int64(k) {
				t.Fatal(n, err)
			}
		}
		if err := out.Flush(t.Context(), patience); err != nil {
			t.Fatal(err)
		}
		pieces := c.stored("w1")
		for k, p := range pieces {
			if p.Number != int64(k) || p.Epoch != 7 || len(p.Data) != MaxPiece-k || p.Last != (k == 19) {
				t.Errorf("piece %d: %d of %d, %d bytes, last %v", k, p.Number, p.Epoch, len(p.Data), p.Last)
			}
		}
		if m := c.Members(); len(pieces) != 20 || len(m) != 1 || m[0].Pieces != 20 || !m[0].Connected || m[0].LastSeen == 0 {
			t.Errorf("%d pieces, %+v", len(pieces), m)
		}
		if _, err := out.Put(deadline(t), nil, false); err == nil {
			t.Error("a piece after the last one")
		}
		if d := c.Drops(); len(d) != 0 {
			t.Errorf("%v", d)
		}
	}
}

// TestClock: controller and worker have one clock here, so every interval must hold 0, by UDP and without it.
func TestClock(t *testing.T) {
	c := listen(t, Options{})
	w := dial(t, c.Join(), "w1", nil)
	if !c.HasClock() {
		t.Error("no clock by UDP")
	}
	until(t, "probes", func() bool { return w.Tie().Stats().Probes > probesAtStart+3 })
	check := func(w *Client) {
		t.Helper()
		i, ok := w.Tie().At(clock.Now())
		if s := w.Tie().Stats(); !ok || i.Low > 0 || i.High < 0 || s.Steps != 0 {
			t.Errorf("%+v, %+v", i, s)
		}
	}
	check(w)
	c.clocks.close()
	without := dial(t, c.Join(), "w2", nil)
	until(t, "probes", func() bool { return without.Tie().Stats().Probes > 3 })
	check(without)
	if s := without.InSight(); s <= 0 || s > clock.Now() {
		t.Errorf("in sight at %d", s)
	}
}

// TestRefused: wrong token, taken and impossible names, wrong certificate, nobody there. The controller hears of the refusals that are its own.
func TestRefused(t *testing.T) {
	refused := make(chan string, 10)
	c := listen(t, Options{Encrypt: true, Refused: func(address, name, reason string) { refused <- address + " " + name + ": " + reason }})
	dial(t, c.Join(), "w1", nil)
	for _, o := range []DialOptions{
		{Join: c.Join(), Token: testToken + "0", Name: "w2"},
		{Join: c.Join(), Token: "", Name: "w2"},
		{Join: c.Join(), Token: testToken, Name: "w1"},
	} {
		if _, err := Dial(deadline(t), o); !errors.Is(err, ErrRefused) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if d := c.Drops(); d[DroppedToken] != 2 || d[DroppedName] != 1 {
		t.Errorf("%v", d)
	}
	for _, want := range []string{"127.0.0.1 w2: wrong token", "127.0.0.1 w2: wrong token", "127.0.0.1 w1: name not valid or taken"} {
		if got := <-refused; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, name := range []string{"", ">", "*", "w.1", "controller.", "-w", strings.Repeat("w", 64), "w 1"} {
		if _, err := Dial(deadline(t), DialOptions{Join: c.Join(), Token: testToken, Name: name}); err == nil || errors.Is(err, ErrRefused) {
			t.Errorf("name %q: %v", name, err)
		}
	}
	other := c.Join()
	other.Pin = strings.Repeat("ab", 32)
	if _, err := Dial(deadline(t), DialOptions{Join: other, Token: testToken, Name: "w3"}); err == nil || !strings.Contains(err.Error(), c.Join().Pin) {
		t.Errorf("wrong certificate: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := Dial(ctx, DialOptions{Join: Join{Host: "127.0.0.1", Port: 1}, Token: testToken, Name: "w4"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("nobody there: %v", err)
	}
}

// TestOtherVersion: a worker of a version with other messages is refused at once, whatever follows its greeting. A stranger gets no answer.
func TestOtherVersion(t *testing.T) {
	refused := make(chan string, 10)
	c := listen(t, Options{Refused: func(address, name, reason string) { refused <- address + " " + name + ": " + reason }})
	for other, want := range map[string]string{"aiperf bus 9": "127.0.0.1 : another version of aiperf", "aiperf": ""} {
		conn, err := net.Dial("tcp", c.Join().address())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(20 * time.Second))
		w := binenc.NewWriter(nil)
		w.String(&other)
		if _, err := conn.Write(binary.BigEndian.AppendUint32(nil, uint32(len(w.Bytes())+1))); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write(append([]byte{byte(frameHello)}, w.Bytes()...)); err != nil {
			t.Fatal(err)
		}
		kind, _, err := readFrame(conn, 0)
		if answered := err == nil && kind == frameRefused; answered != (want != "") {
			t.Errorf("%q: kind %d, %v", other, kind, err)
		}
		if want == "" {
			continue
		}
		if got := <-refused; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if len(refused) > 0 {
		t.Errorf("also refused: %s", <-refused)
	}
}

// TestLongToken: a token may be as long as a key.
func TestLongToken(t *testing.T) {
	token := strings.Repeat("x", longestToken)
	s, err := Listen(Options{Listen: "127.0.0.1:0", Token: token})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w, err := Dial(deadline(t), DialOptions{Join: s.Join(), Token: token, Name: "w1"})
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	if _, err := Dial(deadline(t), DialOptions{Join: s.Join(), Token: token + "x", Name: "w1"}); err == nil || !strings.Contains(err.Error(), "at most 8192") {
		t.Error(err)
	}
	if _, err := Listen(Options{Listen: "127.0.0.1:0", Token: token + "x"}); err == nil || !strings.Contains(err.Error(), "16 to 8192") {
		t.Error(err)
	}
}

// TestListenFails names the address at once.
func TestListenFails(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for address, want := range map[string]string{
		l.Addr().String(): "already in use", "here": "not HOST:PORT", "127.0.0.1:70000": "0 to 65535", "0.0.0.0:0": "not which one workers use",
	} {
		if s, err := Listen(Options{Listen: address, Token: testToken}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", address, err)
			if err == nil {
				s.Close()
			}
		}
	}
	if _, err := Listen(Options{Listen: "127.0.0.1:0", Token: "short"}); err == nil {
		t.Error("a short token")
	}
}

// TestStoreFails: a piece that the controller could not store is kept, the reason is known, and it is sent again.
func TestStoreFails(t *testing.T) {
	c := listen(t, Options{})
	c.full = errors.New("no space left on device")
	w := dial(t, c.Join(), "w1", nil)
	out := w.Outbox(0, 1<<20)
	for k := range 3 {
		if _, err := out.Put(deadline(t), []byte{byte(k)}, k == 2); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "trouble", func() bool { out.mu.Lock(); defer out.mu.Unlock(); return out.trouble != "" })
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := out.Flush(over, patience); err == nil || !strings.Contains(err.Error(), "has not stored 3 pieces of results: no space left on device") || len(out.Unacknowledged()) != 3 {
		t.Errorf("%v", err)
	}
	c.mu.Lock()
	c.full = nil
	c.mu.Unlock()
	if err := out.Flush(t.Context(), patience); err != nil {
		t.Fatal(err)
	}
	if p := c.stored("w1"); len(p) != 3 {
		t.Errorf("%+v", p)
	}
	c.BeginEpoch(1)
	next := w.Outbox(1, 1<<20)
	if next == out || w.Outbox(1, 1<<20) != next {
		t.Error("an epoch has one outbox")
	}
	c.BeginEpoch(2)
	_, _ = next.Put(deadline(t), nil, true)
	if err := next.Flush(t.Context(), patience); !errors.Is(err, ErrOldEpoch) {
		t.Errorf("%v", err)
	}
}

// TestCloseEndsAll: questions, outboxes and handlers end when either side closes.
func TestCloseEndsAll(t *testing.T) {
	c := listen(t, Options{})
	w := dial(t, c.Join(), "w1", nil)
	asked := make(chan error, 1)
	go func() {
		_, err := w.Ask(context.Background(), "wait", nil)
		asked <- err
	}()
	until(t, "the question", func() bool { c.mu.Lock(); defer c.mu.Unlock(); return len(c.asked) == 1 })
	c.Close()
	c.Close()
	out := w.Outbox(0, 10)
	_, _ = out.Put(t.Context(), []byte("x"), true)
	w.Close()
	w.Close()
	if err := <-asked; err == nil {
		t.Error("the question has an answer")
	}
	if err := out.Flush(t.Context(), patience); !errors.Is(err, errClosed) || !errors.Is(w.Err(), errClosed) {
		t.Errorf("%v, %v", err, w.Err())
	}
}
