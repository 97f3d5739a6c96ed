package bus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"aiperf/internal/base/terminal"
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
	begun   []*Piece      // acknowledged, but useless without the first of pieces
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

// Put adds data, as one piece or as several that belong together, and returns the number of the first. It waits while too many bytes are not
// acknowledged. The outbox owns the data then. Once the client is closed nothing is sent any more, but Unacknowledged returns what is put.
func (o *Outbox) Put(ctx context.Context, data []byte, last bool) (int64, error) {
	for {
		o.mu.Lock()
		switch {
		case errors.Is(o.err, errClosed) && !o.last:
			defer o.mu.Unlock()
			return o.add(data, last), nil
		case o.err != nil:
			defer o.mu.Unlock()
			return 0, o.err
		case o.last:
			defer o.mu.Unlock()
			return 0, errors.New("a piece follows the last one")
		case o.bytes == 0 || o.bytes+len(data) <= o.limit:
			defer o.mu.Unlock()
			return o.add(data, last), nil
		}
		changed := o.changed
		o.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, o.late(context.Cause(ctx))
		}
	}
}

// add adds data and returns the number of its first piece. o.mu is held.
func (o *Outbox) add(data []byte, last bool) (first int64) {
	first = o.next
	for more := true; more; o.next++ {
		part := data[:min(len(data), MaxPiece)]
		data = data[len(part):]
		more = len(data) > 0
		o.pieces = append(o.pieces, &Piece{Epoch: o.epoch, Number: o.next, More: more, Last: last && !more, Data: part})
		o.bytes += len(part)
	}
	o.last = last
	o.poke()
	return first
}

// Flush waits until the controller has acknowledged every piece. It gives up when nothing was acknowledged for as long as patience: over a slow network
// many pieces take their time.
func (o *Outbox) Flush(ctx context.Context, patience time.Duration) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for base := int64(-1); ; {
		o.mu.Lock()
		left, now, err, changed := len(o.pieces), o.base, o.err, o.changed
		o.mu.Unlock()
		if err != nil || left == 0 {
			return err
		}
		if now != base {
			base = now
			timer.Reset(patience)
		}
		select {
		case <-changed:
		case <-timer.C:
			return o.late(fmt.Errorf("none for %v", patience))
		case <-ctx.Done():
			return o.late(context.Cause(ctx))
		}
	}
}

// late returns the error of a wait that ended for a reason before its time.
func (o *Outbox) late(why error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	list := terminal.Plural(int64(len(o.pieces)), "piece")
	if o.trouble != "" {
		return fmt.Errorf("the controller has not stored %s of results: %s: %w", list, o.trouble, why)
	}
	return fmt.Errorf("the controller has not acknowledged %s of results: %w", list, why)
}

// Unacknowledged returns the pieces that the controller may not have, oldest first, and before them those that are useless without them.
func (o *Outbox) Unacknowledged() (list []Piece) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, some := range [][]*Piece{o.begun, o.pieces} {
		for _, p := range some {
			list = append(list, *p)
		}
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
		p := o.pieces[0]
		if o.begun = append(o.begun, p); !p.More {
			o.begun = nil
		}
		o.bytes -= len(p.Data)
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

// troubled reports whether the controller could not store a piece.
func (o *Outbox) troubled() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.trouble != ""
}

// run sends until the context ends. After a period it sends again what the controller could not store. Pieces of a lost connection are sent again
// when the next one is made.
func (o *Outbox) run(ctx context.Context, period time.Duration) {
	timer := time.NewTicker(period)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			o.end(context.Cause(ctx))
			return
		case <-o.ended:
			return
		case <-o.wake:
		case <-timer.C:
			if o.troubled() {
				o.again()
			}
		}
		for p := o.take(); p != nil; p = o.take() {
			if o.send(p) != nil {
				break // there is no connection
			}
		}
	}
}
