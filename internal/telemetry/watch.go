package telemetry

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/record"
)

// mostAtOnce is how many scrapes of one exporter may be under way: one that answers slowly is asked on the cadence all the same, one that
// does not answer at all is not asked without end.
const mostAtOnce = 4

// skipped is the error of scrapes that were left out for others.
const skipped = "ScrapeSkipped"

// Exporter is one address that is asked. What it answers is handed over one page at a time, in the order in which the pages came in.
type Exporter struct {
	client *Client
	take   func(*Answer)

	taking  sync.Mutex    // one page at a time
	arrived int64         // when the page that was taken last began to come, wall, ns
	reading chan struct{} // of capacity 1, full while a page comes in: a long one comes alone

	mu      sync.Mutex
	address string
	over    bool
	pauses  pauses
	busy    atomic.Int32
	skipped atomic.Int64
}

// NewExporter makes one; take gets every answer.
func NewExporter(c *Client, address string, take func(*Answer)) *Exporter {
	return &Exporter{client: c, address: address, take: take, reading: make(chan struct{}, 1)}
}

// Address is where it is asked; "" = nowhere any more.
func (e *Exporter) Address() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over {
		return ""
	}
	return e.address
}

// Scrape asks once, for at most so long, and hands the answer over.
func (e *Exporter) Scrape(ctx context.Context, most time.Duration) {
	address := e.Address()
	if address == "" || e.pauses.on(time.Now()) {
		return
	}
	if e.busy.Add(1) > mostAtOnce {
		e.busy.Add(-1)
		e.skipped.Add(1)
		return
	}
	defer e.busy.Add(-1)
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	e.ask(ctx, address)
}

// ask asks at an address, and once more where take has moved the exporter to.
func (e *Exporter) ask(ctx context.Context, address string) {
	for range 2 {
		a := e.client.get(ctx, address, e.reading)
		if address = e.hand(a, address); address == "" {
			return
		}
	}
}

// Deliver hands an answer over that somebody else has asked for, and asks where take has moved the exporter to, for at most so long.
func (e *Exporter) Deliver(ctx context.Context, a *Answer, most time.Duration) {
	if address := e.hand(a, e.Address()); address != "" {
		ctx, cancel := context.WithTimeout(ctx, most)
		defer cancel()
		e.ask(ctx, address)
	}
}

// hand gives an answer to take and returns where to ask next for it; "" = nowhere.
func (e *Exporter) hand(a *Answer, address string) string {
	e.taking.Lock()
	defer e.taking.Unlock()
	if address != e.Address() || a.Err != nil && a.Err.Type == cancelled { // the watch has ended: nobody waited for the answer
		return ""
	}
	if a.Err != nil && a.Err.Type == skipped {
		e.skipped.Add(1)
		return ""
	}
	if a.Err == nil && a.Sent < e.arrived { // of two that were under way at once nobody knows which is the older: one is enough
		return ""
	}
	if a.Err == nil {
		e.arrived = a.FirstByte
	}
	if pause := e.pauses.answered(a, time.Now()); pause > 0 {
		a.Pause = pause
	}
	e.take(a)
	if now := e.Address(); now != address {
		return now
	}
	return ""
}

// Retire ends the scrapes of an exporter whose pages cannot be used.
func (e *Exporter) Retire() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.over = true
}

// MoveTo asks elsewhere from now on.
func (e *Exporter) MoveTo(address string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.address = address
}

// Skipped is the error of the scrapes that were left out, and their number.
func (e *Exporter) Skipped() (*record.Error, int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return Fault(skipped, e.address, "not asked while others were under way"), e.skipped.Load()
}

// Cadence says how often exporters are asked and how long one may take to answer.
type Cadence struct {
	Interval time.Duration
	Timeout  time.Duration
}

// Watch asks exporters on a cadence, on goroutines of its own. The methods may be called from any goroutine.
type Watch struct {
	exporters []*Exporter
	cadence   Cadence
	ctx       context.Context
	end       context.CancelFunc
	begin     sync.Once

	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

// NewWatch makes a watch that asks nobody yet.
func NewWatch(exporters []*Exporter, c Cadence) *Watch {
	w := &Watch{exporters: exporters, cadence: c}
	w.ctx, w.end = context.WithCancel(context.Background())
	return w
}

// Begin asks from now on, at once and then on the cadence. Called again it does nothing.
func (w *Watch) Begin() {
	w.begin.Do(func() {
		w.spawn(func() {
			tick := time.NewTicker(w.cadence.Interval)
			defer tick.Stop()
			for {
				w.Kick()
				select {
				case <-tick.C:
				case <-w.ctx.Done():
					return
				}
			}
		})
	})
}

// spawn starts a goroutine that Stop waits for; false after Stop.
func (w *Watch) spawn(f func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.wg.Go(f)
	}
	return !w.closed
}

// Kick asks every exporter once and does not wait.
func (w *Watch) Kick() {
	for _, e := range w.exporters {
		w.spawn(func() { e.Scrape(w.ctx, w.cadence.Timeout) })
	}
}

// Once asks every exporter once and waits until all have answered, but no longer than most. A scrape that takes longer goes on.
func (w *Watch) Once(ctx context.Context, most time.Duration) {
	var all sync.WaitGroup
	for _, e := range w.exporters {
		all.Add(1)
		if !w.spawn(func() {
			defer all.Done()
			e.Scrape(w.ctx, w.cadence.Timeout)
		}) {
			all.Done()
		}
	}
	done := make(chan struct{})
	go func() {
		all.Wait()
		close(done)
	}()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Stop ends everything that is under way and waits for it.
func (w *Watch) Stop() {
	w.end()
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.wg.Wait()
}
