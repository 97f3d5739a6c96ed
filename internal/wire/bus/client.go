package bus

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

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
	control *uplink // beats, orders, questions, notes
	bulk    *uplink // pieces, so that beats do not wait behind them
	clocks  *clockClient
	tie     clocktie.Tie
	ctx     context.Context
	cancel  context.CancelCauseFunc
	done    sync.WaitGroup
	orders  chan *order
	soon    chan struct{} // a beat is due

	refused atomic.Bool  // the controller did not accept a later connection
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
	if n := len(opts.Token); n > longestToken {
		return nil, fmt.Errorf("a token of %d characters is not possible: use at most %d", n, longestToken)
	}
	c := &Client{opts: opts, beats: map[int64]int64{}, asks: map[int64]chan *answer{}, orders: make(chan *order, maxOrders), soon: make(chan struct{}, 1)}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	if err := c.start(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *Client) start(ctx context.Context) error {
	session := NewToken()
	c.control = &uplink{client: c, session: session, silence: lostAfter, handle: c.handleControl, again: c.controlAgain}
	c.bulk = &uplink{client: c, session: session, silence: bulkLostAfter, handle: c.handleBulk, again: c.resend, bulk: true}
	for _, u := range []*uplink{c.control, c.bulk} {
		if err := u.connect(ctx); err != nil {
			return err
		}
		c.done.Go(u.run)
	}
	c.done.Go(c.beatOften)
	c.done.Go(c.handleOrders)
	return c.tieClocks(ctx)
}

// handleControl handles a message of the connection for all but pieces.
func (c *Client) handleControl(kind frameKind, body []byte) {
	switch kind {
	case frameBeatAnswer:
		c.handleBeat(body)
	case frameOrder:
		c.handleOrder(body)
	case frameAnswer:
		c.handleAnswer(body)
	}
}

// handleBulk handles a message of the connection for pieces.
func (c *Client) handleBulk(kind frameKind, body []byte) {
	if kind == frameReceipt {
		c.handleReceipt(body)
	}
}

// controlAgain is called when the connection for beats was lost and made again. The other one has probably been lost too.
func (c *Client) controlAgain() {
	c.beatSoon()
	c.bulk.lose()
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
	if c.refused.Load() {
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
		_ = c.bulk.send(framePing, nil) // without a connection there is nothing to keep alive
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
	_ = c.control.send(frameBeat, &b) // a missing answer tells both sides that there is no connection
}

func (c *Client) handleBeat(body []byte) {
	arrived := clock.Now()
	var a beatAnswer
	if decode(body, &a) != nil {
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

func (c *Client) handleOrder(body []byte) {
	var o order
	if decode(body, &o) != nil {
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
	return c.control.send(frameNote, &note{Kind: kind, Data: data})
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
		_ = c.control.send(frameQuestion, &q) // sent again below
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

func (c *Client) handleAnswer(body []byte) {
	var a answer
	if decode(body, &a) != nil {
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
	o := newOutbox(epoch, limit, func(p *Piece) error { return c.bulk.send(framePiece, p) })
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

func (c *Client) handleReceipt(body []byte) {
	var r receipt
	if decode(body, &r) != nil {
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
	for _, u := range []*uplink{c.control, c.bulk} {
		if u != nil {
			u.finish()
		}
	}
	if c.clocks != nil {
		c.clocks.close()
	}
	c.done.Wait()
}
