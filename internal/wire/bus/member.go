package bus

import (
	"fmt"
	"slices"
	"sync"
)

// member is the controller's account of one worker.
type member struct {
	name string

	mu         sync.Mutex
	control    *connection // nil = it is not connected
	bulk       *connection // for pieces; nil likewise
	lastSeen   int64       // instant of the last sign of life
	beats      int64
	orders     []*order // not received yet
	nextOrder  int64
	asked      map[int64]*answer // questions in progress (nil) and answers that may be asked for again
	inProgress int
	oldest     int64 // questions below it are forgotten
	inbox      inbox // changed by piece only
	stored     int64 // pieces in inbox

	joined     bool  // presence has seen it
	absentFrom int64 // last sign of life before it was lost; 0 = it is present
	connected  bool
	silent     bool
}

func newMember(name string) *member {
	return &member{name: name, asked: map[int64]*answer{}, inbox: inbox{epoch: -1}}
}

// enter notes a connection of the worker. It takes the place of an earlier one.
func (w *member) enter(c *connection, bulk bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	lane := &w.control
	if bulk {
		lane = &w.bulk
	}
	if *lane != nil {
		(*lane).end(errLost)
	}
	*lane = c
}

// depart notes that a connection has ended. Without the one for beats nobody would notice that the other one is dead.
func (w *member) depart(c *connection) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch c {
	case w.control:
		w.control = nil
		if w.bulk != nil {
			w.bulk.end(errLost)
		}
	case w.bulk:
		w.bulk = nil
	}
}

// reply sends a message to the worker: receipts on the connection that pieces come on. What is lost is asked for again.
func (w *member) reply(kind frameKind, m message) {
	w.mu.Lock()
	c := w.control
	if kind == frameReceipt {
		c = w.bulk
	}
	w.mu.Unlock()
	if c != nil {
		_ = c.send(kind, m)
	}
}

// attached reports whether the worker is connected.
func (w *member) attached() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.control != nil
}

// seen notes a sign of life.
func (w *member) seen(at int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lastSeen = max(w.lastSeen, at)
}

// beat notes a beat of a worker that has received a number of orders. It returns the orders that are due again. ok is false if that number is wrong.
func (w *member) beat(at, received int64) (due []*order, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if received > w.nextOrder {
		return nil, false
	}
	w.lastSeen = max(w.lastSeen, at)
	w.beats++
	for len(w.orders) > 0 && w.orders[0].Number < received {
		w.orders = w.orders[1:]
	}
	return append(due, w.orders[:min(len(w.orders), window)]...), true
}

// order adds an order.
func (w *member) order(kind string, data []byte) (*order, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.orders) == maxOrders {
		return nil, fmt.Errorf("machine %q has not received the last %d orders", w.name, maxOrders)
	}
	o := &order{Number: w.nextOrder, Kind: kind, Data: data}
	w.nextOrder++
	w.orders = append(w.orders, o)
	return o, nil
}

// forgotten stands for an answer that its worker has received, or does not wait for any more.
var forgotten = &answer{}

// ask notes a question. known is its answer, if there is one already. begin is true if the question is new and must be handled. A question that came
// late, after the worker received its answer, gets none.
func (w *member) ask(q *question) (known *answer, begin bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forget(q)
	a, there := w.asked[q.Number]
	switch {
	case q.Number < w.oldest || a == forgotten:
		return nil, false
	case there:
		return a, false
	case w.inProgress == maxQuestions || len(w.asked) == maxAsked:
		return &answer{Number: q.Number, Refused: true, Reason: fmt.Sprintf("a machine can ask at most %d questions at a time", maxQuestions)}, false
	}
	w.asked[q.Number] = nil
	w.inProgress++
	return nil, true
}

// forget drops the answers that nobody waits for. Numbers above the question's may have been given out since its list was written.
func (w *member) forget(q *question) {
	w.oldest = max(w.oldest, q.Open[0])
	for number, a := range w.asked {
		switch {
		case a == nil: // in progress
		case number < w.oldest:
			delete(w.asked, number)
		case number < q.Number && !slices.Contains(q.Open, number):
			w.asked[number] = forgotten
		}
	}
}

// answered keeps the answer to a question.
func (w *member) answered(a *answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.inProgress--
	w.asked[a.Number] = a
}

// piece handles a piece while an epoch is current.
func (w *member) piece(p *Piece, epoch int64, store func(*Piece) error) receipt {
	w.mu.Lock()
	if w.inbox.epoch != epoch {
		w.inbox, w.stored = inbox{epoch: epoch}, 0
	}
	w.mu.Unlock()
	r := w.inbox.take(p, store) // only one piece at a time is handled
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stored = int64(len(w.inbox.digests))
	return r
}
