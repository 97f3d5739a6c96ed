package telemetry

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/measure/record"
)

// maxParallel is the largest number of concurrent scrapes of one exporter: a slow exporter is still scraped at the interval, but one that never answers
// does not collect more and more scrapes.
const maxParallel = 4

// skipped is the error type of scrapes that were skipped because others were still running.
const skipped = "ScrapeSkipped"

// Exporter is one address that is scraped. Its answers are passed on one at a time, in the order of their arrival.
type Exporter struct {
	client *Client
	take   func(*Answer)

	delivering sync.Mutex    // for one page at a time
	arrived    int64         // when the latest processed page began to arrive, wall, ns
	reading    chan struct{} // of capacity 1, full while a page is being read: long pages are read one at a time

	mu      sync.Mutex
	address string
	retired bool
	pauses  pauses
	busy    atomic.Int32
	skipped atomic.Int64
}

// NewExporter returns an exporter; take receives every answer.
func NewExporter(c *Client, address string, take func(*Answer)) *Exporter {
	return &Exporter{client: c, address: address, take: take, reading: make(chan struct{}, 1)}
}

// Address returns the present address; "" = it was retired.
func (e *Exporter) Address() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.retired {
		return ""
	}
	return e.address
}

// Scrape reads the page once, for at most most, and passes the answer on.
func (e *Exporter) Scrape(ctx context.Context, most time.Duration) {
	address := e.Address()
	if address == "" || e.pauses.on(time.Now()) {
		return
	}
	if e.busy.Add(1) > maxParallel {
		e.busy.Add(-1)
		e.skipped.Add(1)
		return
	}
	defer e.busy.Add(-1)
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	e.ask(ctx, address)
}

// ask reads an address, and once more if take has moved the exporter to another one.
func (e *Exporter) ask(ctx context.Context, address string) {
	for range 2 {
		a := e.client.get(ctx, address, e.reading)
		if address = e.hand(a, address); address == "" {
			return
		}
	}
}

// Deliver passes on an answer that was read elsewhere. If take has moved the exporter, it reads the new address, for at most most.
func (e *Exporter) Deliver(ctx context.Context, a *Answer, most time.Duration) {
	if address := e.hand(a, e.Address()); address != "" {
		ctx, cancel := context.WithTimeout(ctx, most)
		defer cancel()
		e.ask(ctx, address)
	}
}

// hand passes an answer to take and returns the address to read next; "" = none.
func (e *Exporter) hand(a *Answer, address string) string {
	e.delivering.Lock()
	defer e.delivering.Unlock()
	if address != e.Address() || a.Err != nil && a.Err.Type == cancelled { // the watch has ended, so nobody waited for the answer
		return ""
	}
	if a.Err != nil && a.Err.Type == skipped {
		e.skipped.Add(1)
		return ""
	}
	if a.Err == nil && a.Sent < e.arrived { // if two scrapes ran concurrently, their order is unknown, and one page is enough
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

// Retire ends the scrapes of an exporter whose pages are unusable.
func (e *Exporter) Retire() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.retired = true
}

// MoveTo changes the address for later scrapes.
func (e *Exporter) MoveTo(address string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.address = address
}

// Skipped returns the error of the skipped scrapes, and their number.
func (e *Exporter) Skipped() (*record.Error, int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return Fault(skipped, e.address, "skipped while earlier readings were still running"), e.skipped.Load()
}

// Cadence is the interval of scrapes and their time limit.
type Cadence struct {
	Interval time.Duration
	Timeout  time.Duration
}

// Watch scrapes exporters at an interval, in its own goroutines. The methods may be called from any goroutine.
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

// NewWatch returns a watch that is not started.
func NewWatch(exporters []*Exporter, c Cadence) *Watch {
	w := &Watch{exporters: exporters, cadence: c}
	w.ctx, w.end = context.WithCancel(context.Background())
	return w
}

// Begin starts scraping, at once and then at the interval. Further calls do nothing.
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

// Kick scrapes every exporter once without waiting.
func (w *Watch) Kick() {
	for _, e := range w.exporters {
		w.spawn(func() { e.Scrape(w.ctx, w.cadence.Timeout) })
	}
}

// Once scrapes every exporter once and waits until all have answered, at most for most. A slower scrape continues.
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

// Stop ends all scrapes and waits for them.
func (w *Watch) Stop() {
	w.end()
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.wg.Wait()
}
