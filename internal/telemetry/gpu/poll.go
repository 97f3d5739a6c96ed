package gpu

import (
	"context"
	"time"

	"aiperf/internal/measure/record"
)

// poller reads a local source at every interval, and on request.
type poller struct {
	requests chan chan struct{} // requests for a reading; the channel that is sent is closed when it is done
	end      context.CancelFunc
	done     chan struct{}
}

// poll starts the readings. read takes one reading; its errors are counted as losses of the source.
func (c *Collector) poll(ctx context.Context, source string, read func(context.Context) error) *poller {
	running, end := context.WithCancel(context.WithoutCancel(ctx))
	p := &poller{requests: make(chan chan struct{}), end: end, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		tick := time.NewTicker(c.Cadence.Interval) // a source that is slower than the interval is read without a pause
		defer tick.Stop()
		for {
			var waits chan struct{}
			select {
			case <-tick.C:
			case waits = <-p.requests:
			case <-running.Done():
				return
			}
			one, cancel := context.WithTimeout(running, c.Cadence.Timeout)
			err := read(one)
			cancel()
			if running.Err() != nil {
				return
			}
			if err != nil {
				c.losses.Add(&record.Error{Type: "CollectorFailed", Message: source + ": " + err.Error(), Chain: []string{"CollectorFailed"}}, 1)
			}
			if waits != nil {
				close(waits)
			}
		}
	}()
	return p
}

// now implements local.
func (p *poller) now(ctx context.Context) {
	there := make(chan struct{})
	select {
	case p.requests <- there:
	case <-p.done:
		return
	case <-ctx.Done():
		return
	}
	select {
	case <-there:
	case <-p.done:
	case <-ctx.Done():
	}
}

// stop implements local.
func (p *poller) stop() {
	p.end()
	<-p.done
}
