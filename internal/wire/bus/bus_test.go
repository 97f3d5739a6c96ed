package bus

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

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

// TestRefused: wrong token, taken and impossible names, wrong certificate, nobody there.
func TestRefused(t *testing.T) {
	c := listen(t, Options{Encrypt: true})
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

// TestHostileWorker: a worker with the token can do nothing in the name of another, and what it sends out of order is dropped and counted.
func TestHostileWorker(t *testing.T) {
	c := listen(t, Options{})
	c.BeginEpoch(2)
	good := dial(t, c.Join(), "good", nil)
	bad := func(name string, bulk bool) *uplink {
		u := &uplink{client: &Client{opts: DialOptions{Join: c.Join(), Token: testToken, Name: name}}, session: strings.Repeat("b", sessionLength), bulk: bulk}
		if err := u.dial(deadline(t)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { u.finish(); u.client.done.Wait() })
		return u
	}
	raw := func(u *uplink, kind frameKind, body []byte) {
		t.Helper()
		frame := append(encodeFrame(kind, nil), body...)
		binary.BigEndian.PutUint32(frame, uint32(len(body)+1))
		if _, err := u.current.Write(frame); err != nil {
			t.Fatal(kind, err)
		}
	}
	piece := func(epoch, number int64, data string) []byte {
		return encode(&Piece{Epoch: epoch, Number: number, Data: []byte(data)})
	}
	notAllowed := 0
	for kind := range 2 * frameReceipt { // what a worker may not send ends its connection
		for _, bulk := range []bool{false, true} {
			if bulk && (kind == framePiece || kind == framePing) || !bulk && (kind == frameBeat || kind == frameNote || kind == frameQuestion) {
				continue
			}
			u := bad(fmt.Sprint("bad", notAllowed), bulk)
			raw(u, kind, nil)
			if _, err := io.Copy(io.Discard, u.current); err != nil {
				t.Log(err) // it was cut off
			}
			notAllowed++
		}
	}
	until(t, "messages that are not allowed", func() bool { return c.Drops()[DroppedKind] == notAllowed })

	bulk, control := bad("bad", true), bad("bad", false)
	raw(bulk, framePiece, piece(1, 0, "old"))
	raw(bulk, framePiece, piece(2, 0, "a"))
	raw(bulk, framePiece, piece(2, 0, "a"))
	raw(bulk, framePiece, piece(2, 0, "b"))
	raw(bulk, framePiece, piece(2, 5, "early"))
	raw(bulk, framePiece, []byte("garbage"))
	raw(control, frameBeat, encode(&beat{Number: 1, Orders: 5}))
	raw(control, frameBeat, nil)
	raw(control, frameQuestion, encode(&question{Number: 3, Open: []int64{4}, Kind: "hello"}))
	raw(control, frameQuestion, encode(&question{Number: 3, Open: []int64{3}, Kind: "HELLO"}))
	raw(control, frameNote, bytes.Repeat([]byte{0xff}, 1000))
	until(t, "drops", func() bool {
		d := c.Drops()
		return d[DroppedDamaged] == 6 && d[DroppedEpoch] == 1 && d[DroppedPiece] == 1
	})
	for range 3 * maxQuestions { // it waits for many answers at a time
		number := time.Now().UnixNano()
		raw(control, frameQuestion, encode(&question{Number: number, Open: []int64{number}, Kind: "wait"}))
	}
	if p := c.stored("bad"); len(p) != 1 || string(p[0].Data) != "a" {
		t.Errorf("%+v", p)
	}
	raw(control, frameNote, make([]byte, maxFrame)) // within the limit of a frame; the note is too long or damaged
	if _, err := control.current.Write([]byte{0xff, 0, 0, 0, byte(frameNote)}); err != nil {
		t.Fatal(err)
	}
	until(t, "the size", func() bool { return c.Drops()[DroppedSize] == 1 })

	got, err := good.Ask(deadline(t), "hello", []byte("still here"))
	if err != nil || string(got) != "re: still here" {
		t.Errorf("%q, %v", got, err)
	}
	out := good.Outbox(2, 1<<20)
	if _, err := out.Put(deadline(t), []byte("mine"), true); err != nil {
		t.Fatal(err)
	}
	if err := out.Flush(t.Context(), patience); err != nil {
		t.Fatal(err)
	}
	if p := c.stored("good"); len(p) != 1 || string(p[0].Data) != "mine" {
		t.Errorf("%+v", p)
	}
	c.mu.Lock()
	waits := 0
	for _, a := range c.asked {
		if strings.HasPrefix(a, "bad wait") {
			waits++
		}
	}
	c.mu.Unlock()
	if waits != maxQuestions {
		t.Errorf("%d questions of one worker in progress, at most %d", waits, maxQuestions)
	}
}

// TestStrangers: garbage on the ports harms nobody.
func TestStrangers(t *testing.T) {
	c := listen(t, Options{})
	u, err := net.Dial("udp", c.Join().address())
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	right := make([]byte, probeSize)
	wrong, key := newClockKey(testToken+"x"), newClockKey(testToken)
	wrong.seal('p', right)
	for _, b := range [][]byte{nil, []byte("x"), make([]byte, probeSize), make([]byte, 60000), right} {
		if _, err := u.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	key.seal('p', right)
	if _, err := u.Write(right); err != nil { // the only one that is answered
		t.Fatal(err)
	}
	b := make([]byte, 100)
	u.SetReadDeadline(time.Now().Add(10 * time.Second))
	n, err := u.Read(b)
	if err != nil || !key.valid('a', b[:n]) || key.valid('p', b[:n]) {
		t.Errorf("%d bytes, %v", n, err)
	}
	u.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := u.Read(b); err == nil {
		t.Errorf("another answer of %d bytes", n)
	}
	tcp, err := net.Dial("tcp", c.Join().address())
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	_, _ = tcp.Write(bytes.Repeat([]byte{0, 0xff, '\r', '\n'}, 10000))
	dial(t, c.Join(), "w1", nil)
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
