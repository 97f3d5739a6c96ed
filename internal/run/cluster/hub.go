// Package cluster ties the load of several machines together: the controller's hub and each worker's coordinator. Machines agree on the starts of
// phases and share counts by leases; no message is sent for a request.
package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/binenc"
	"aiperf/internal/base/clock"
	"aiperf/internal/workload/load"
)

// Kinds of questions.
const (
	askOpen     = "open"     // may the phase be prepared?
	askBegin    = "begin"    // everything is prepared: when does the phase start?
	askLease    = "lease"    // how much more may be sent?
	askComplete = "complete" // the machine has completed the phase
)

// clockSlack is how much an instant of a machine may lie outside of the run because clocks are not tied exactly.
const clockSlack = time.Second

// leadTime is the time from the agreement on a start until the start.
const leadTime = time.Second

// question is what a worker asks.
type question struct {
	Phase int        // index
	Used  load.Usage // open
	Ask   load.Ask   // lease
	Stats []byte     // complete: statistics of the phase on this machine, on the controller's clock
}

// start is the answer to begin: an instant on the controller's clock.
type start struct{ At int64 }

// errUnknown is the answer to a machine that has no share.
var errUnknown = errors.New("the run is under way: its shares are given out")

// Hub is the controller's side of one run. It is safe for concurrent use.
type Hub struct {
	scenario load.Scenario               // of the whole run, with the number of machines
	names    []string                    // of the machines, by index
	wait     time.Duration               // longest wait for other machines
	before   func(*load.PhaseInfo) error // what must be done before a phase; it ends with Close
	cancel   context.CancelFunc
	opened   int64      // instant
	hooks    load.Hooks // Before and Started of the phases that machines start together

	mu       sync.Mutex
	barriers map[barrierKey]*barrier
	leases   map[int]*phaseLeases // by phase
	gone     []bool               // has ended its part, or is lost

	completed map[int][]*load.PhaseStats // by phase and machine
	phases    []*load.PhaseStats         // that all machines have completed
	concluded int                        // number of them
	calls     chan func()                // of hooks, one after the other
	called    chan struct{}              // closed after the last call
	closed    bool
}

type barrierKey struct {
	kind  string
	phase int
}

// barrier opens when every machine that is not gone has arrived.
type barrier struct {
	arrived  []bool
	used     load.Usage
	complete bool // nobody is waited for any more
	at       int64
	err      error // why the phase does not start
	open     chan struct{}
}

// phaseLeases are the leases of a phase and what each machine has of them.
type phaseLeases struct {
	*load.Leases
	given []int64
}

// NewHub returns the hub of a run on the named machines. wait limits how long a machine waits for others. Of the hooks, Before and Started are called, for
// the phases that machines start together. The context of Before ends with ctx and with Close.
func NewHub(ctx context.Context, scenario load.Scenario, names []string, wait time.Duration, hooks load.Hooks) *Hub {
	scenario.Share = load.Share{Of: len(names)}
	h := &Hub{
		scenario: scenario, names: names, wait: wait, opened: clock.Now(), hooks: hooks, barriers: map[barrierKey]*barrier{}, leases: map[int]*phaseLeases{}, gone: make([]bool, len(names)),
		completed: map[int][]*load.PhaseStats{}, calls: make(chan func(), 2*len(scenario.Phases)), called: make(chan struct{}),
	}
	ctx, cancel := context.WithCancel(ctx)
	h.cancel = cancel
	h.before = func(p *load.PhaseInfo) error {
		if hooks.Before == nil {
			return nil
		}
		limited, stop := context.WithTimeout(ctx, wait)
		defer stop()
		return hooks.Before(limited, p)
	}
	go func() {
		defer close(h.called)
		for call := range h.calls {
			call()
		}
	}()
	return h
}

// Answer answers a question of a machine. It implements the function of bus.Options.
func (h *Hub) Answer(ctx context.Context, name, kind string, data []byte) ([]byte, error) {
	k := slices.Index(h.names, name)
	if k < 0 {
		return nil, errUnknown
	}
	var q question
	if err := json.Unmarshal(data, &q); err != nil || q.Phase < 0 || q.Phase >= len(h.scenario.Phases) {
		return nil, fmt.Errorf("the question %q of machine %q is damaged", kind, name)
	}
	var reply any
	var err error
	switch kind {
	case askOpen:
		var b *barrier
		if b, err = h.gather(ctx, barrierKey{kind, q.Phase}, k, q.Used); err == nil {
			reply = b.used
		}
	case askBegin:
		var b *barrier
		if b, err = h.gather(ctx, barrierKey{kind, q.Phase}, k, load.Usage{}); err == nil {
			reply = start{b.at}
		}
	case askLease:
		reply, err = h.lease(ctx, q.Phase, k, q.Ask)
	case askComplete:
		err = h.complete(q.Phase, k, q.Stats)
	default:
		err = fmt.Errorf("the controller does not know the question %q", kind)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(reply)
}

// gather waits until every machine has arrived at a barrier.
func (h *Hub) gather(ctx context.Context, key barrierKey, k int, used load.Usage) (*barrier, error) {
	ctx, cancel := context.WithTimeout(ctx, h.wait)
	defer cancel()
	h.mu.Lock()
	b := h.barriers[key]
	if b == nil {
		b = &barrier{arrived: make([]bool, len(h.names)), open: make(chan struct{})}
		h.barriers[key] = b
	}
	lost := h.gone[k]
	if !lost {
		b.arrived[k] = true
		if !b.complete {
			b.used = b.used.Max(used)
		}
		h.release()
	}
	h.mu.Unlock()
	if lost {
		return nil, errors.New("the controller has given this machine up")
	}
	select {
	case <-b.open:
		return b, b.err
	case <-ctx.Done():
		return nil, fmt.Errorf("phase %q did not start within %v: no word from %s", h.scenario.Phases[key.phase].Name, h.wait, h.missing(b))
	}
}

// missing names the machines that have not arrived.
func (h *Hub) missing(b *barrier) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []string
	for k, name := range h.names {
		if !b.arrived[k] && !h.gone[k] {
			list = append(list, name)
		}
	}
	return strings.Join(list, ", ")
}

// release opens the barriers at which every machine has arrived that is not gone.
func (h *Hub) release() {
	for key, b := range h.barriers {
		ready := !b.complete
		for k := range h.names {
			ready = ready && (b.arrived[k] || h.gone[k])
		}
		if ready {
			b.complete = true
			go h.open(key, b)
		}
	}
}

// open lets the machines pass a barrier. At the start of a phase it calls the hooks and agrees on the instant.
func (h *Hub) open(key barrierKey, b *barrier) {
	info := h.scenario.Info(key.phase)
	if key.kind == askBegin {
		b.err = h.before(&info)
	}
	b.at = clock.Now() + int64(leadTime)
	if key.kind == askBegin && b.err == nil && h.hooks.Started != nil {
		h.mu.Lock()
		if !h.closed {
			h.calls <- func() {
				time.Sleep(time.Duration(b.at - clock.Now()))
				h.hooks.Started(&info, b.at)
			}
		}
		h.mu.Unlock()
	}
	close(b.open)
}

// leasesOf returns the leases of a phase, or nil if it has none.
func (h *Hub) leasesOf(phase int) *phaseLeases {
	count, leased := h.scenario.Leased(phase)
	if !leased {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	l := h.leases[phase]
	if l == nil {
		l = &phaseLeases{load.NewLeases(count, len(h.names)), make([]int64, len(h.names))}
		h.leases[phase] = l
		for k, gone := range h.gone {
			if gone {
				l.Leave(k)
			}
		}
	}
	return l
}

// lease gives a machine a lease. A machine cannot give back more than it was given, so that the count stays exact.
func (h *Hub) lease(ctx context.Context, phase, k int, ask load.Ask) (load.Lease, error) {
	l := h.leasesOf(phase)
	if l == nil {
		return load.Lease{}, fmt.Errorf("phase %q has no leases", h.scenario.Phases[phase].Name)
	}
	h.mu.Lock()
	given := l.given[k]
	h.mu.Unlock()
	if ask.Unused < 0 || ask.Return < 0 || ask.Unused > given || ask.Return > given {
		return load.Lease{}, fmt.Errorf("machine %q gives back more of phase %q than the %d that it was given", h.names[k], h.scenario.Phases[phase].Name, given)
	}
	got, err := l.Take(ctx, k, ask)
	h.mu.Lock()
	defer h.mu.Unlock()
	l.given[k] += got.Count
	return got, err
}

// complete notes that a machine has completed a phase. When all have, the statistics of the phase are known.
func (h *Hub) complete(phase, k int, stats []byte) error {
	f, c := new(load.PhaseStats), binenc.NewReader(stats)
	if f.Visit(c); c.Err() != nil || f.Info.Index != phase {
		return fmt.Errorf("the statistics of machine %q are damaged", h.names[k])
	}
	if err := f.Check(h.opened-int64(clockSlack), clock.Now()+int64(clockSlack)); err != nil {
		return fmt.Errorf("the statistics of machine %q cannot be true: %w", h.names[k], err)
	}
	f.Info = h.scenario.Info(phase)
	if l := h.leasesOf(phase); l != nil {
		l.Leave(k)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.completed[phase] == nil {
		h.completed[phase] = make([]*load.PhaseStats, len(h.names))
	}
	if h.completed[phase][k] == nil {
		h.completed[phase][k] = f
	}
	h.conclude()
	return nil
}

// conclude calls the hook After of the phases that every machine has completed that is not gone, in their order.
func (h *Hub) conclude() {
	for ; h.concluded < len(h.scenario.Phases); h.concluded++ {
		parts, ready := h.completed[h.concluded], false
		for k := range h.names {
			done := parts != nil && parts[k] != nil
			if ready = ready || done; !done && !h.gone[k] {
				return
			}
		}
		if !ready {
			return
		}
		f := load.MergeShares(parts)
		h.phases = append(h.phases, f)
		if h.hooks.After != nil && !h.closed {
			h.calls <- func() { h.hooks.After(f) }
		}
	}
}

// Phases returns the statistics of the phases that the machines have completed.
func (h *Hub) Phases() []*load.PhaseStats {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.phases)
}

// Close waits for the calls of hooks that are due. Nothing may be asked afterwards.
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	h.cancel()
	close(h.calls)
	h.mu.Unlock()
	<-h.called
}

// Lost notes that a machine sends nothing any more: nobody waits for it, and its part is not given to others.
func (h *Hub) Lost(name string) {
	k := slices.Index(h.names, name)
	if k < 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gone[k] = true
	for _, l := range h.leases {
		l.Leave(k)
	}
	h.release()
	h.conclude()
}
