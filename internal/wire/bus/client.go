package bus

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/clocktie"
)

// DialOptions say how a worker joins.
type DialOptions struct {
	Join  Join
	Token string
	Name  string
	// Order handles an order. Orders come one after the other. nil = they are ignored.
	Order func(kind string, data []byte)
}

// Client is a worker's end of the bus. It connects again whenever a connection is lost, until it is closed.
type Client struct {
	opts    DialOptions
	control *nats.Conn // beats, orders, questions, notes
	bulk    *nats.Conn // pieces, so that beats do not wait behind them
	clocks  *clockClient
	tie     clocktie.Tie
	ctx     context.Context
	cancel  context.CancelCauseFunc
	done    sync.WaitGroup
	orders  chan *order
	soon    chan struct{} // a beat is due

	inSight atomic.Int64 // instant up to which the controller is known to have been there

	mu        sync.Mutex
	nextBeat  int64
	beats     map[int64]int64 // instants of beats without an answer, by number
	nextOrder int64           // number of the order that must come next
	nextAsk   int64
	asks      map[int64]chan *answer // questions without an answer, by number
	outbox    *Outbox                // of the newest epoch; nil = none yet
}

// Dial joins a controller and ties the clocks. While nobody listens at the address it tries again until the context ends.
func Dial(ctx context.Context, opts DialOptions) (*Client, error) {
	if err := CheckName(opts.Name); err != nil {
		return nil, err
	}
	c := &Client{opts: opts, beats: map[int64]int64{}, asks: map[int64]chan *answer{}, orders: make(chan *order, maxOrders), soon: make(chan struct{}, 1)}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	if err := c.start(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *Client) start(ctx context.Context) (err error) {
	key := NewToken()
	if c.control, err = c.dial(ctx, key, nats.ReconnectHandler(func(*nats.Conn) { c.beatSoon() })); err != nil {
		return err
	}
	if c.bulk, err = c.dial(ctx, key, nats.ReconnectHandler(func(*nats.Conn) { c.resend() })); err != nil {
		return err
	}
	for _, h := range []struct {
		conn   *nats.Conn
		what   string
		handle nats.MsgHandler
	}{{c.control, "beat", c.handleBeat}, {c.control, "order", c.handleOrder}, {c.control, "answer", c.handleAnswer}, {c.bulk, "receipt", c.handleReceipt}} {
		if _, err := h.conn.Subscribe(inboxSubject(c.opts.Name, h.what), h.handle); err != nil {
			return err
		}
	}
	flush, cancel := context.WithTimeout(ctx, startTimeout) // the controller has accepted the connections: it answers soon
	defer cancel()
	for _, conn := range []*nats.Conn{c.control, c.bulk} {
		if err := conn.FlushWithContext(flush); err != nil {
			return fmt.Errorf("the controller at %v does not answer: %w", c.opts.Join, err)
		}
	}
	c.done.Go(c.beatOften)
	c.done.Go(c.handleOrders)
	return c.tieClocks(ctx)
}

// dial makes one connection.
func (c *Client) dial(ctx context.Context, key string, handler nats.Option) (*nats.Conn, error) {
	options := []nats.Option{
		nats.UserInfo(c.opts.Name, c.opts.Token+":"+key), nats.MaxReconnects(-1), nats.ReconnectWait(100 * time.Millisecond),
		nats.ReconnectJitter(50*time.Millisecond, 50*time.Millisecond), nats.ReconnectBufSize(-1), nats.PingInterval(beatPeriod), nats.MaxPingsOutstanding(3),
		nats.Timeout(startTimeout), nats.NoEcho(), nats.IgnoreDiscoveredServers(), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), handler,
	}
	address := "nats://" + c.opts.Join.address()
	if c.opts.Join.Pin != "" {
		address = "tls://" + c.opts.Join.address()
		options = append(options, nats.Secure(pinned(c.opts.Join.Pin)), nats.TLSHandshakeFirst())
	}
	for {
		conn, err := nats.Connect(address, options...)
		if err == nil {
			return conn, nil
		}
		if errors.Is(err, nats.ErrAuthorization) || errors.Is(err, nats.ErrAuthExpired) {
			return nil, ErrRefused
		}
		if wrong := (*wrongCertificateError)(nil); errors.As(err, &wrong) {
			return nil, wrong
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("no controller answers at %v: %w", c.opts.Join, errors.Join(context.Cause(ctx), err))
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// tieClocks sends the first probes: by UDP, or by beats if nothing comes back that way.
func (c *Client) tieClocks(ctx context.Context) error {
	lost := 0
	if clocks, err := newClockClient(ctx, c.opts.Join, c.opts.Token); err == nil {
		c.clocks = clocks
		for range probesAtStart {
			if lost == 3 || ctx.Err() != nil {
				break
			}
			if !c.probe() {
				lost++
			}
		}
	}
	if c.clocks != nil {
		c.done.Go(c.probeOften)
	}
	if c.tie.Stats().Probes < 3 {
		for range probesAtStart {
			c.beat()
		}
	}
	for c.tie.Stats().Probes == 0 || c.inSight.Load() == 0 {
		c.beatSoon()
		select {
		case <-ctx.Done():
			return fmt.Errorf("the controller at %v does not answer: %w", c.opts.Join, context.Cause(ctx))
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// probe sends one probe by UDP and reports whether an answer came.
func (c *Client) probe() bool {
	p, err := c.clocks.probe()
	if err != nil {
		return false
	}
	return c.tie.Add(p) == nil
}

// probeOften sends probes by UDP until the client closes.
func (c *Client) probeOften() {
	tick := time.NewTicker(beatPeriod)
	defer tick.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-tick.C:
			c.probe()
		}
	}
}

// Tie returns the tie of this machine's clock to the controller's.
func (c *Client) Tie() *clocktie.Tie { return &c.tie }

// InSight returns an instant of this machine's clock: the controller is known to have received something that this worker sent then. It never blocks.
func (c *Client) InSight() int64 { return c.inSight.Load() }

// Err returns why the client has ended for good, or nil: it was closed, or the controller at the address refuses it.
func (c *Client) Err() error {
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	if c.control.IsClosed() || c.bulk.IsClosed() {
		return ErrRefused
	}
	return nil
}

// beatOften sends beats until the client closes.
func (c *Client) beatOften() {
	tick := time.NewTicker(beatPeriod)
	defer tick.Stop()
	for {
		c.beat()
		select {
		case <-c.ctx.Done():
			return
		case <-tick.C:
		case <-c.soon:
		}
	}
}

func (c *Client) beatSoon() {
	select {
	case c.soon <- struct{}{}:
	default:
	}
}

// beat sends one beat.
func (c *Client) beat() {
	c.mu.Lock()
	b := beat{Number: c.nextBeat, Orders: c.nextOrder}
	c.nextBeat++
	for number := range c.beats { // answers that came too late to matter
		if number < b.Number-4*probesAtStart {
			delete(c.beats, number)
		}
	}
	c.beats[b.Number] = clock.Now()
	c.mu.Unlock()
	_ = c.control.Publish(upSubject(c.opts.Name, "beat"), encode(&b)) // without a connection there is no answer, which is noticed
}

func (c *Client) handleBeat(m *nats.Msg) {
	arrived := clock.Now()
	var a beatAnswer
	if decode(m.Data, &a) != nil {
		return
	}
	c.mu.Lock()
	sent, known := c.beats[a.Number]
	delete(c.beats, a.Number)
	c.mu.Unlock()
	if !known {
		return
	}
	_ = c.tie.Add(clocktie.Probe{Sent: sent, Received: a.Received, Answered: a.Answered, Arrived: arrived}) // it counts what it rejects
	for {
		old := c.inSight.Load()
		if old >= sent || c.inSight.CompareAndSwap(old, sent) {
			return
		}
	}
}

func (c *Client) handleOrder(m *nats.Msg) {
	var o order
	if decode(m.Data, &o) != nil {
		return
	}
	c.mu.Lock()
	due := o.Number == c.nextOrder && len(c.orders) < cap(c.orders)
	if due {
		c.nextOrder++
		c.orders <- &o
	}
	c.mu.Unlock()
	if due {
		c.beatSoon() // the controller learns that it came
	}
}

// handleOrders gives orders to their handler.
func (c *Client) handleOrders() {
	for {
		select {
		case <-c.ctx.Done():
			return
		case o := <-c.orders:
			if c.opts.Order != nil {
				c.opts.Order(o.Kind, o.Data)
			}
		}
	}
}

// Note sends a note, which may be lost.
func (c *Client) Note(kind string, data []byte) error {
	if !kindPattern.MatchString(kind) || len(data) > MaxData {
		return fmt.Errorf("a note of kind %q with %d bytes is not possible", kind, len(data))
	}
	return c.control.Publish(upSubject(c.opts.Name, "note"), encode(&note{Kind: kind, Data: data}))
}

// Ask asks the controller and waits for its answer. The controller handles the question once, even if connections are lost meanwhile. The error is a
// *Refusal if the controller refuses. At most 16 questions can wait at a time.
func (c *Client) Ask(ctx context.Context, kind string, data []byte) ([]byte, error) {
	if !kindPattern.MatchString(kind) || len(data) > MaxData {
		return nil, fmt.Errorf("a question of kind %q with %d bytes is not possible", kind, len(data))
	}
	number, reply, err := c.newQuestion()
	if err != nil {
		return nil, err
	}
	defer c.endQuestion(number)
	again := time.NewTicker(resendPeriod)
	defer again.Stop()
	for {
		q := question{Number: number, Open: c.openQuestions(), Kind: kind, Data: data}
		_ = c.control.Publish(upSubject(c.opts.Name, "ask"), encode(&q)) // sent again below
		select {
		case a := <-reply:
			if a.Refused {
				return nil, &Refusal{Reason: a.Reason}
			}
			return a.Data, nil
		case <-again.C:
			if err := c.Err(); err != nil {
				return nil, err
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-c.ctx.Done():
			return nil, c.Err()
		}
	}
}

func (c *Client) newQuestion() (int64, chan *answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.asks) == maxQuestions {
		return 0, nil, fmt.Errorf("%d questions to the controller are open, more are not possible", maxQuestions)
	}
	number, reply := c.nextAsk, make(chan *answer, 1)
	c.nextAsk++
	c.asks[number] = reply
	return number, reply, nil
}

func (c *Client) endQuestion(number int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.asks, number)
}

// openQuestions lists the questions that wait for an answer, in order.
func (c *Client) openQuestions() []int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.asks))
}

func (c *Client) handleAnswer(m *nats.Msg) {
	var a answer
	if decode(m.Data, &a) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if reply := c.asks[a.Number]; reply != nil {
		select {
		case reply <- &a:
		default: // it came twice
		}
	}
}

// Outbox returns the outbox for the pieces of an epoch, which ends earlier ones. It holds up to limit bytes that are not acknowledged.
func (c *Client) Outbox(epoch int64, limit int) *Outbox {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.outbox != nil && c.outbox.epoch == epoch {
		return c.outbox
	}
	if c.outbox != nil {
		c.outbox.end(ErrOldEpoch)
	}
	o := newOutbox(epoch, limit, func(p *Piece) error { return c.bulk.Publish(upSubject(c.opts.Name, "piece"), encode(p)) })
	c.outbox = o
	if c.ctx.Err() != nil {
		o.end(context.Cause(c.ctx))
		return o
	}
	c.done.Go(func() { o.run(c.ctx, resendPeriod) })
	return o
}

// currentOutbox returns the outbox of the newest epoch, or nil.
func (c *Client) currentOutbox() *Outbox {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.outbox
}

// resend makes the outbox send again what is not acknowledged.
func (c *Client) resend() {
	if o := c.currentOutbox(); o != nil {
		o.again()
	}
}

func (c *Client) handleReceipt(m *nats.Msg) {
	var r receipt
	if decode(m.Data, &r) != nil {
		return
	}
	if o := c.currentOutbox(); o != nil {
		o.receive(&r)
	}
}

// Close leaves the controller. Questions, the outbox and clock probes end. The handler of orders must not call it.
func (c *Client) Close() {
	c.mu.Lock()
	c.cancel(errClosed)
	c.mu.Unlock()
	for _, conn := range []*nats.Conn{c.control, c.bulk} {
		if conn != nil {
			conn.Close()
		}
	}
	if c.clocks != nil {
		c.clocks.close()
	}
	c.done.Wait()
}
