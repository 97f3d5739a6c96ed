package bus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Outbox sends the pieces of one epoch. It keeps each until the controller has acknowledged it, and sends it again after a lost connection. A numbered
// piece never changes. It is safe for concurrent use.
type Outbox struct {
	epoch int64
	limit int // bytes that may wait for an acknowledgement
	send  func(*Piece) error
	wake  chan struct{}
	ended chan struct{} // closed with the final error

	mu      sync.Mutex
	changed chan struct{} // closed at each change
	pieces  []*Piece      // not acknowledged; their numbers are consecutive
	bytes   int           // of pieces
	next    int64         // number of the next piece
	base    int64         // number of the oldest piece that is not acknowledged
	sent    int64         // number of the first piece that is not on its way
	last    bool          // the last piece was put
	trouble string        // why the controller does not store pieces at present; "" = it does
	err     error         // final
}

func newOutbox(epoch int64, limit int, send func(*Piece) error) *Outbox {
	return &Outbox{epoch: epoch, limit: limit, send: send, wake: make(chan struct{}, 1), ended: make(chan struct{}), changed: make(chan struct{})}
}

// Put adds a piece of at most MaxPiece bytes and returns its number. It waits while too many bytes are not acknowledged. The outbox owns the data then.
func (o *Outbox) Put(ctx context.Context, data []byte, last bool) (int64, error) {
	if len(data) > MaxPiece {
		return 0, fmt.Errorf("a piece has %d bytes, at most %d are allowed", len(data), MaxPiece)
	}
	for {
		o.mu.Lock()
		switch {
		case o.err != nil:
			defer o.mu.Unlock()
			return 0, o.err
		case o.last:
			defer o.mu.Unlock()
			return 0, errors.New("a piece follows the last one")
		case o.bytes == 0 || o.bytes+len(data) <= o.limit:
			defer o.mu.Unlock()
			p := &Piece{Epoch: o.epoch, Number: o.next, Last: last, Data: data}
			o.pieces, o.bytes, o.last = append(o.pieces, p), o.bytes+len(data), last
			o.next++
			o.poke()
			return p.Number, nil
		}
		changed := o.changed
		o.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, o.late(ctx)
		}
	}
}

// Flush waits until the controller has acknowledged every piece.
func (o *Outbox) Flush(ctx context.Context) error {
	for {
		o.mu.Lock()
		left, err, changed := len(o.pieces), o.err, o.changed
		o.mu.Unlock()
		if err != nil || left == 0 {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return o.late(ctx)
		}
	}
}

// late returns the error of a wait that ended before its time.
func (o *Outbox) late(ctx context.Context) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.trouble != "" {
		return fmt.Errorf("the controller has not stored %d pieces of results: %s: %w", len(o.pieces), o.trouble, context.Cause(ctx))
	}
	return fmt.Errorf("the controller has not acknowledged %d pieces of results: %w", len(o.pieces), context.Cause(ctx))
}

// Unacknowledged returns the pieces that the controller may not have, oldest first.
func (o *Outbox) Unacknowledged() []Piece {
	o.mu.Lock()
	defer o.mu.Unlock()
	list := make([]Piece, len(o.pieces))
	for i, p := range o.pieces {
		list[i] = *p
	}
	return list
}

// receive handles a receipt.
func (o *Outbox) receive(r *receipt) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if r.Epoch != o.epoch || o.err != nil {
		return
	}
	if r.Next > o.next || r.Result == pieceTaken && r.Next < o.base {
		if r.Next > o.next {
			o.fail(fmt.Errorf("the controller acknowledged piece %d, which was never sent", r.Next-1))
		}
		return // a receipt that was overtaken by a newer one
	}
	switch r.Result {
	case pieceTaken:
		o.acknowledge(r.Next)
		o.trouble = ""
	case pieceEarly:
		o.acknowledge(r.Next)
	case pieceOld:
		o.fail(ErrOldEpoch)
	case pieceChanged:
		o.fail(&Refusal{Reason: r.Reason})
	case pieceFailed: // the next round sends it again
		o.acknowledge(r.Next)
		o.trouble = r.Reason
		o.change()
	}
}

// acknowledge forgets the pieces below a number.
func (o *Outbox) acknowledge(next int64) {
	if next <= o.base {
		return
	}
	for ; o.base < next; o.base++ {
		o.bytes -= len(o.pieces[0].Data)
		o.pieces[0] = nil
		o.pieces = o.pieces[1:]
	}
	o.sent = max(o.sent, o.base)
	o.change()
	o.poke()
}

func (o *Outbox) fail(err error) {
	if o.err == nil {
		o.err = err
		close(o.ended)
		o.change()
	}
}

// end ends the outbox with an error, unless it has ended already.
func (o *Outbox) end(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.fail(err)
}

// change wakes those who wait for a change.
func (o *Outbox) change() {
	close(o.changed)
	o.changed = make(chan struct{})
}

func (o *Outbox) poke() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// take returns the next piece to send, or nil if the window is full.
func (o *Outbox) take() *Piece {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil || o.sent >= o.base+window || o.sent == o.next {
		return nil
	}
	p := o.pieces[o.sent-o.base]
	o.sent++
	return p
}

// again makes everything that is not acknowledged due again.
func (o *Outbox) again() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sent = o.base
	o.poke()
}

// oldest returns the number of the oldest piece that is not acknowledged.
func (o *Outbox) oldest() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.base
}

// run sends until the context ends. If nothing was acknowledged for a period, it sends the window again.
func (o *Outbox) run(ctx context.Context, period time.Duration) {
	timer := time.NewTicker(period)
	defer timer.Stop()
	stuck := int64(-1)
	for {
		select {
		case <-ctx.Done():
			o.end(context.Cause(ctx))
			return
		case <-o.ended:
			return
		case <-o.wake:
		case <-timer.C:
			base := o.oldest()
			if base == stuck {
				o.again()
			}
			stuck = base
		}
		for p := o.take(); p != nil; p = o.take() {
			if o.send(p) != nil {
				break // the timer sends it again
			}
		}
	}
}
