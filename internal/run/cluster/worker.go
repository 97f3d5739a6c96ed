package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/processors"
	"aiperf/internal/base/redact"
	"aiperf/internal/measure/pieces"
	"aiperf/internal/report/artifact"
	"aiperf/internal/run"
	"aiperf/internal/wire/bus"
	"aiperf/internal/workload/load"
)

// WorkerOptions configure a worker.
type WorkerOptions struct {
	Join    string // address of the controller
	Token   string
	Name    string // "" = host name and process id
	Version string // of this program
	Err     io.Writer
	Spare   bool // wait for the place of a lost machine if the run has all of its machines
	Secrets *redact.Secrets
	Joined  func() // called when the controller has accepted this machine; nil = nobody wants to know
}

// Limits of a worker.
const (
	joinLimit      = 2 * time.Minute        // longest wait for the controller
	hintAfter      = 3 * time.Second        // without an answer, the worker says that it waits
	aloneLimit     = 10 * time.Second       // from the timeout of the run until the worker gives up
	progressPeriod = 500 * time.Millisecond // between two notes about the state of the load
	unsentResults  = 64 << 20               // bytes of results that may wait for the controller
	keptPartSize   = 256 << 10
	idleTimeout    = 10 * time.Second // without a sign of the controller between runs
)

// EndError ends a worker with an exit status.
type EndError struct {
	Status int
	Reason string
}

func (e *EndError) Error() string { return e.Reason }

// worker is a machine that sends shares of runs.
type worker struct {
	o       WorkerOptions
	client  *bus.Client
	timeout atomic.Int64 // of the current run, ns

	mu      sync.Mutex
	epoch   int64 // of the current run; 0 = none
	gen     *load.Generator
	cancel  context.CancelCauseFunc
	runs    sync.WaitGroup
	leave   chan struct{}
	fetched string      // directory for files of the controller, which all runs of a series share
	kept    atomic.Bool // results were kept here, because the controller did not confirm them
	once    sync.Once
}

// Work joins a controller and sends its shares of runs until the controller lets it go.
func Work(ctx context.Context, o WorkerOptions) error {
	join, err := bus.ParseJoin(o.Join)
	if err != nil {
		return err
	}
	if o.Name == "" {
		host, _ := os.Hostname() // an empty name is completed below
		o.Name = nameOf(host)
	}
	w := &worker{o: o, leave: make(chan struct{})}
	if w.fetched, err = os.MkdirTemp("", "aiperf-worker-files-*"); err != nil {
		return err
	}
	defer os.RemoveAll(w.fetched)
	w.timeout.Store(int64(idleTimeout))
	dialing, stop := context.WithTimeout(ctx, joinLimit)
	defer stop()
	hint := time.AfterFunc(hintAfter, func() {
		fmt.Fprintf(o.Err, "aiperf: no controller answers at %v yet; trying for %g min. Does the controller run, and is this the address that it printed?\n", join, joinLimit.Minutes())
	})
	w.client, err = bus.Dial(dialing, bus.DialOptions{Join: join, Token: o.Token, Name: o.Name, Order: w.order})
	hint.Stop()
	if errors.Is(err, bus.ErrRefused) {
		return &EndError{StatusOther, err.Error()}
	}
	if err != nil {
		return err
	}
	defer w.client.Close()
	if err := w.hello(dialing); err != nil {
		return err
	}
	if o.Joined != nil {
		o.Joined()
	}
	err = w.wait(ctx)
	w.mu.Lock()
	if w.cancel != nil {
		w.cancel(nil)
	}
	w.mu.Unlock()
	if err != nil { // nobody answers any more
		w.client.Close()
	}
	w.runs.Wait()
	if err == nil && w.kept.Load() {
		err = &EndError{StatusAlone, "the controller did not confirm all results of this machine"}
	}
	return err
}

// nameOf returns a name for a machine from the name of its computer.
func nameOf(host string) string {
	name := []byte(host)
	for i, b := range name {
		if !(b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '-') {
			name[i] = '-'
		}
	}
	return fmt.Sprintf("m%s-%d", name[:min(len(name), 40)], os.Getpid())
}

// hello introduces this machine.
func (w *worker) hello(ctx context.Context) error {
	host, _ := os.Hostname() // "" = unknown
	var reply welcome
	err := w.ask(ctx, askHello, &hello{Version: w.o.Version, Build: build(), Host: host, Cores: processors.Cores(), Spare: w.o.Spare}, &reply)
	if err == nil && reply.Status != 0 {
		return &EndError{reply.Status, reply.Reason}
	}
	return err
}

// ask asks the controller. reply may be nil.
func (w *worker) ask(ctx context.Context, kind string, m, reply any) error {
	data, err := encode(m)
	if err == nil {
		data, err = w.client.Ask(ctx, kind, data)
	}
	if err != nil || reply == nil {
		return err
	}
	return decode(data, reply)
}

// wait waits until the controller lets this machine go, or is gone itself.
func (w *worker) wait(ctx context.Context) error {
	tick := time.NewTicker(progressPeriod)
	defer tick.Stop()
	for {
		select {
		case <-w.leave:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
			if err := w.client.Err(); err != nil {
				return &EndError{StatusOther, err.Error()}
			}
			if away := time.Duration(clock.Now() - w.client.InSight()); away > time.Duration(w.timeout.Load())+aloneLimit {
				return &EndError{StatusAlone, fmt.Sprintf("no sign of the controller for %.0f s: it has ended, the network between broke down, or this machine was stopped", away.Seconds())}
			}
		}
	}
}

// order obeys an order of the controller.
func (w *worker) order(kind string, data []byte) {
	if kind == orderLeave {
		w.once.Do(func() { close(w.leave) })
		return
	}
	if kind == orderRun {
		p := new(plan)
		if err := decode(data, p); err != nil {
			fmt.Fprintf(w.o.Err, "aiperf: %v\n", err)
			return
		}
		w.begin(p)
		return
	}
	w.mu.Lock()
	gen, cancel, epoch := w.gen, w.cancel, w.epoch
	w.mu.Unlock()
	if kind == orderCancel {
		if cancel != nil {
			cancel(errGivenUp)
		}
		return
	}
	var c loadOrder
	if decode(data, &c) != nil || c.Epoch != epoch {
		return
	}
	if gen == nil { // the load has not begun
		if cancel != nil && kind == orderStop {
			cancel(errGivenUp)
		}
		return
	}
	at, _, ok := w.client.Tie().Local(c.At)
	if !ok {
		at = clock.Now()
	}
	switch kind {
	case orderStop:
		gen.StopAt(at)
	case orderMove:
		gen.MoveAt(c.Phase, c.To, at)
	case orderEnd:
		gen.EndAt(c.Phase, at)
	case orderDone:
		gen.Finish()
	}
}

// begin sends a share of a run on a separate goroutine.
func (w *worker) begin(p *plan) {
	ctx, cancel := context.WithCancelCause(context.Background())
	w.mu.Lock()
	if w.cancel != nil { // a run that the controller has given up
		w.cancel(errGivenUp)
	}
	w.epoch, w.gen, w.cancel = p.Epoch, nil, cancel
	w.mu.Unlock()
	w.timeout.Store(p.Timeout)
	w.runs.Go(func() {
		defer cancel(nil)
		s := &share{worker: w, plan: p}
		s.coordinator = &Coordinator{Controller: w.client, Clock: w.client.Tie()}
		err := s.send(ctx)
		s.keepUndelivered(ctx)
		s.finish(ctx, err)
	})
}

// share is this machine's part of one run.
type share struct {
	*worker
	plan        *plan
	coordinator *Coordinator
	outbox      *bus.Outbox
	dir         string // of its files, removed at the end
	results     pieces.Expected
	files       []string // with an entry for each result; nil = the run has not begun
	bound       atomic.Int64
}

// send sends the share and delivers its results.
func (s *share) send(ctx context.Context) (err error) {
	if s.dir, err = os.MkdirTemp("", "aiperf-worker-*"); err != nil {
		return err
	}
	if err := fetchFiles(s.plan, s.fetched, func(q filePart) ([]byte, error) {
		data, err := encode(&q)
		if err != nil {
			return nil, err
		}
		return s.client.Ask(ctx, askFile, data)
	}); err != nil {
		return err
	}
	cfg := s.plan.Config
	cfg.Artifacts.Dir = filepath.Join(s.dir, "run")
	s.outbox = s.client.Outbox(s.plan.Epoch, unsentResults)
	ending, end := context.WithCancel(ctx)
	var helpers sync.WaitGroup
	defer helpers.Wait()
	defer end()
	_, err = run.Run(ctx, &cfg, &s.plan.Seed, run.Options{
		Version: s.o.Version, BenchmarkID: s.plan.BenchmarkID, Err: io.Discard, Secrets: s.o.Secrets,
		Worker: &run.Worker{
			Name: s.o.Name, Share: load.Share{Index: s.plan.Index, Of: s.plan.Of}, Together: s.plan.Together, CacheCounters: s.plan.CacheCounters, Coordinator: s.coordinator, WallOffset: s.wallOffset, Sink: s.sink, Phase: s.phase,
			Opened: func(x pieces.Expected, files []string) { s.results, s.files = x, files },
			Control: func(g *load.Generator) {
				s.mu.Lock()
				if s.epoch == s.plan.Epoch {
					s.gen = g
				}
				s.mu.Unlock()
				helpers.Go(func() { s.coordinator.KeepFence(ending, time.Duration(s.plan.Timeout), g.Fence) })
				helpers.Go(func() { s.report(ending, g) })
			},
		},
	})
	if err != nil {
		return err
	}
	return s.outbox.Flush(context.WithoutCancel(ctx), time.Duration(s.plan.Timeout)+aloneLimit) // results count, also of a part that ended early
}

// wallOffset implements run.Worker.
func (s *share) wallOffset(at int64) int64 {
	reference, _, ok := s.client.Tie().Reference(at)
	if !ok { // the client has tied the clocks before it joined
		reference = at
	}
	return s.plan.WallBase + reference - at
}

// sink puts a sealed piece into the outbox.
func (s *share) sink(_ int64, sealed []byte, last bool) error {
	_, err := s.outbox.Put(context.Background(), sealed, last)
	return err
}

// phase tells the controller that this machine has completed a phase.
func (s *share) phase(f *load.PhaseStats) {
	own := *f
	if i, ok := s.client.Tie().At(clock.Now()); ok {
		own.Shift(i.Offset())
	}
	limited, stop := context.WithTimeout(context.Background(), time.Duration(s.plan.Timeout)+aloneLimit)
	defer stop()
	_ = s.coordinator.Complete(limited, &own) // without the controller the run ends by its fence
}

// report tells the controller about the state of the load until the context ends.
func (s *share) report(ctx context.Context, g *load.Generator) {
	tick := time.NewTicker(progressPeriod)
	defer tick.Stop()
	for {
		now := s.progress(g)
		if data, err := encode(&now); err == nil {
			_ = s.client.Note(noteProgress, data) // the next one has the same news
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// progress returns the state of the load.
func (s *share) progress(g *load.Generator) progress {
	now := progress{Epoch: s.plan.Epoch}
	at := clock.Now()
	if i, ok := s.client.Tie().At(at); ok {
		now.Offset = clock.Wall(at) - (s.plan.WallBase + at + i.Offset())
		s.bound.Store(max(s.bound.Load(), i.Bound()))
		now.Bound = s.bound.Load()
		if g != nil {
			for _, one := range g.Snapshots() {
				for _, v := range []*int64{&one.Started, &one.SentAll, &one.Ended} {
					if *v != 0 {
						*v += i.Offset()
					}
				}
				now.Snapshots = append(now.Snapshots, one)
			}
		}
	}
	return now
}

// finish sends the files of this machine, and tells the controller that this machine has ended its part.
func (s *share) finish(ctx context.Context, failed error) {
	s.mu.Lock()
	g := s.gen
	if s.epoch == s.plan.Epoch {
		s.gen = nil
	}
	s.mu.Unlock()
	limited, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Duration(s.plan.Timeout)+aloneLimit)
	defer stop()
	s.sendFiles(limited)
	if s.dir != "" {
		_ = os.RemoveAll(s.dir) // a temporary directory that stays does no harm
	}
	end := finish{progress: s.progress(g)}
	if failed != nil {
		end.Error = s.o.Secrets.With(s.plan.Config.Secrets()...).Text(failed.Error())
	}
	_ = s.ask(limited, askFinish, &end, nil) // a controller that is gone is noticed by wait
}

// sendFiles sends the files of this machine.
func (s *share) sendFiles(ctx context.Context) {
	l := artifact.NewLayout(filepath.Join(s.dir, "run"), "")
	for k, path := range []string{l.Log(), l.ClientMachine()} {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // the run did not begin
		}
		for part := range slices.Chunk(text, keptPartSize) {
			if s.ask(ctx, askKeep, &keptPart{Epoch: s.plan.Epoch, File: k, Text: part}, nil) != nil {
				return
			}
		}
	}
}
