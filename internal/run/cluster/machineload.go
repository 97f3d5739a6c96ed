package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/config"
	"aiperf/internal/measure/pieces"
	"aiperf/internal/report/artifact"
	"aiperf/internal/run"
	"aiperf/internal/sim/mockserver"
	"aiperf/internal/wire/bus"
	"aiperf/internal/workload/load"
)

// Times of a run on several machines.
const (
	lookPause  = 50 * time.Millisecond
	longWait   = 5 * time.Second        // for results, after the end of the load, until a note says so
	stopAhead  = 200 * time.Millisecond // from an order until it takes effect, on all machines
	maxKept    = 64 << 20               // bytes of the files of a machine
	drainLimit = 40 * time.Second       // stopped machines may deliver nothing for so long before they are given up
)

// machineLoad is the load of one run on several machines. It implements run.MachineLoad.
type machineLoad struct {
	c     *Controller
	r     *run.MachineRun
	epoch int64
	hub   *Hub
	files []inputFile

	mu      sync.Mutex
	parts   []*part
	started map[int]int64 // by phase, instant on this machine's clock
	stopped bool          // the machines have the order to stop
	fails   bool          // the failed-request threshold ended the run
	err     error         // first failure of a machine
}

// part is the part of a run that one machine sends.
type part struct {
	name, host, title string
	index             int
	cores             int
	account           pieces.Account
	rest              []byte // begin of a sealed piece whose end has not come
	now               progress
	report            *run.WorkerReport // of its last piece; nil = it has not come
	finished          bool
	kept              int64 // bytes of its files
	problem           string
	lostAt            int64 // 0 = it is not lost
	unseen            time.Duration
}

func newMachineLoad(c *Controller, r *run.MachineRun, epoch int64) (*machineLoad, error) {
	if err := r.Scenario.CheckMachines(c.list.Count); err != nil {
		return nil, fmt.Errorf("%s: %w", c.opts.As("machines.on"), err)
	}
	if c.remote() && slices.ContainsFunc(r.Given, func(u string) bool { return strings.HasPrefix(u, mockserver.Scheme) }) {
		return nil, fmt.Errorf("%s %s is a server in this process, which other computers cannot reach; start aiperf mock-server on an address that they reach", c.opts.As("endpoint.urls"), mockserver.Scheme)
	}
	files, err := inputFiles(r.Config)
	if err != nil {
		return nil, err
	}
	return &machineLoad{c: c, r: r, epoch: epoch, files: files, started: map[int]int64{}}, nil
}

// Run implements load.Sender.
func (l *machineLoad) Run(ctx context.Context) (*load.Result, error) {
	if err := l.begin(context.WithoutCancel(ctx)); err != nil {
		return nil, err
	}
	l.follow(ctx)
	l.c.end()
	l.hub.Close()
	if text := l.c.describe(); text != "" {
		l.r.Log("messages that the bus refused", "count", text)
	}
	return l.result(ctx)
}

// begin gives every machine its share.
func (l *machineLoad) begin(ctx context.Context) error {
	l.c.mu.Lock()
	names := append([]string(nil), l.c.order...)
	for k, name := range names {
		m := l.c.members[name]
		p := &part{name: name, title: l.c.title(m), index: k}
		if m.hello != nil {
			p.host, p.cores = m.hello.Host, m.hello.Cores
		}
		l.parts = append(l.parts, p)
	}
	l.c.mu.Unlock()
	hooks := l.r.Hooks
	hooks.Started = func(p *load.PhaseInfo, at int64) { l.begun(p, at) }
	l.hub = NewHub(ctx, l.r.Scenario, names, l.c.wait, hooks)
	l.c.begin(l)
	together := 0
	if l.c.list.Local {
		together = len(names)
	}
	for k, name := range names {
		err := l.c.tell(name, orderRun, &plan{
			Epoch: l.epoch, Index: k, Of: len(names), Config: *l.r.Config, Seed: *l.r.Seed, BenchmarkID: l.r.BenchmarkID, WallBase: clock.Wall(0), Timeout: int64(l.c.timeout), Files: l.files, Together: together,
			CacheCounters: l.r.CacheCounters(),
		})
		if err != nil {
			l.c.end()
			return fmt.Errorf("machine %s: %w", name, err)
		}
	}
	return nil
}

// begun notes that a phase has started.
func (l *machineLoad) begun(p *load.PhaseInfo, at int64) {
	l.mu.Lock()
	_, known := l.started[p.Index]
	l.started[p.Index] = at
	l.mu.Unlock()
	if !known && l.r.Hooks.Started != nil {
		l.r.Hooks.Started(p, at)
	}
}

// follow waits until every machine has delivered its results, or is lost.
func (l *machineLoad) follow(ctx context.Context) {
	tick := time.NewTicker(lookPause)
	defer tick.Stop()
	interrupted := ctx.Done()
	var late <-chan time.Time // after it nobody is waited for
	var taken int64           // pieces of results when it was set
	say := l.waiting()
	var quiet time.Time // since when only lost machines are waited for
	for {
		switch left, present := l.left(); {
		case left == 0:
			return
		case present > 0:
			quiet = time.Time{}
		case quiet.IsZero():
			quiet = time.Now()
		case time.Since(quiet) > l.c.timeout: // a machine that comes back in time delivers what it has
			return
		}
		select {
		case <-tick.C:
			l.look()
			say()
		case <-interrupted:
			interrupted = nil
			l.stop()
		case <-late:
			for _, p := range l.parts {
				l.c.lose(p.name, fmt.Sprintf("it delivered no results for %v", drainLimit))
			}
			return
		}
		if l.isStopped() {
			if n := l.taken(); late == nil || n != taken {
				taken, late = n, time.After(drainLimit)
			}
		}
	}
}

// waiting returns a function that tells the user once that results are still on their way a while after the end of the load.
func (l *machineLoad) waiting() (say func()) {
	var since time.Time
	once := sync.OnceFunc(func() { l.r.Note("the load has ended; results of machines are still on their way") })
	return func() {
		switch {
		case l.Snapshot().Ended == 0:
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		case time.Since(since) > longWait:
			once()
		}
	}
}

// taken returns how many pieces of results the controller has.
func (l *machineLoad) taken() (pieces int64) {
	for _, m := range l.c.server.Members() {
		pieces += m.Pieces
	}
	return pieces
}

// left returns how many machines have not delivered their results, and how many of these are not lost. Machines whose process has ended deliver
// nothing any more.
func (l *machineLoad) left() (left, present int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.parts {
		switch {
		case p.finished:
		case p.lostAt == 0:
			left, present = left+1, present+1
		case !l.c.isDead(p.name):
			left++
		}
	}
	return left, present
}

// look gives up machines that show no sign of life, and ends the run if too many requests fail.
func (l *machineLoad) look() {
	now := clock.Now()
	for _, m := range l.c.server.Members() {
		if away := time.Duration(now - m.LastSeen); m.LastSeen != 0 && away > l.c.timeout && l.isActive(m.Name) {
			l.c.giveUp(m.Name, fmt.Sprintf("no sign of life for %.1f s", away.Seconds()), true)
		}
	}
	s := l.Snapshot()
	if s.Info != nil && s.Phase.TooManyFail(s.Completed, s.Errors) && !l.isStopped() {
		l.mu.Lock()
		l.fails = true
		l.mu.Unlock()
		l.stop()
	}
}

// isActive reports whether results of a machine are waited for.
func (l *machineLoad) isActive(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.part(name)
	return p != nil && !p.finished && p.lostAt == 0
}

func (l *machineLoad) isStopped() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stopped
}

// part returns a machine's part; nil = it has none. The caller holds the mutex, or has the part to itself.
func (l *machineLoad) part(name string) *part {
	for _, p := range l.parts {
		if p.name == name {
			return p
		}
	}
	return nil
}

// stop ends the load on all machines at one instant.
func (l *machineLoad) stop() {
	l.mu.Lock()
	again := l.stopped
	l.stopped = true
	l.mu.Unlock()
	if !again {
		l.tellAll(orderStop, &loadOrder{Epoch: l.epoch, At: clock.Now() + int64(stopAhead)})
	}
}

// tellAll sends an order to every machine that is not lost.
func (l *machineLoad) tellAll(kind string, m any) {
	for _, name := range l.c.alive() {
		if err := l.c.tell(name, kind, m); err != nil {
			l.r.Warn(fmt.Sprintf("machine %s: %v", name, err))
		}
	}
}

// Move implements load.Sender.
func (l *machineLoad) Move(index int, to float64) {
	l.tellAll(orderMove, &loadOrder{Epoch: l.epoch, Phase: index, To: to, At: clock.Now() + int64(stopAhead)})
}

// End implements load.Sender.
func (l *machineLoad) End(index int) {
	l.tellAll(orderEnd, &loadOrder{Epoch: l.epoch, Phase: index, At: clock.Now() + int64(stopAhead)})
}

// Finish implements load.Sender.
func (l *machineLoad) Finish() { l.tellAll(orderDone, &loadOrder{Epoch: l.epoch}) }

// Snapshots implements load.Sender.
func (l *machineLoad) Snapshots() (all []load.Snapshot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.r.Scenario.Phases {
		info := l.r.Scenario.Info(i)
		at, begun := l.started[i]
		if !begun {
			break
		}
		s := load.Snapshot{Info: &info, Phase: &l.r.Scenario.Phases[i], Started: at, SentAll: at, Ended: at}
		for _, p := range l.parts {
			var one load.Snapshot
			if i < len(p.now.Snapshots) {
				one = p.now.Snapshots[i]
			}
			s.Add(&one)
			if p.lostAt == 0 && one.SentAll == 0 { // a machine still sends
				s.SentAll = 0
			}
			if p.lostAt == 0 && one.Ended == 0 {
				s.Ended = 0
			}
			s.SentAll, s.Ended = later(s.SentAll, one.SentAll), later(s.Ended, one.Ended)
		}
		all = append(all, s)
	}
	return all
}

// later returns the later of two instants, or 0 if the first one is not known.
func later(a, b int64) int64 {
	if a == 0 {
		return 0
	}
	return max(a, b)
}

// Snapshot implements load.Sender.
func (l *machineLoad) Snapshot() load.Snapshot {
	all := l.Snapshots()
	if len(all) == 0 {
		return load.Snapshot{}
	}
	return all[len(all)-1]
}

// answer answers a question of a machine about this run.
func (l *machineLoad) answer(ctx context.Context, name, kind string, data []byte) ([]byte, error) {
	switch kind {
	case askFile:
		var q filePart
		if err := decode(data, &q); err != nil {
			return nil, err
		}
		if q.Epoch != l.epoch || q.Number < 0 || q.Number >= len(l.files) {
			return nil, fmt.Errorf("file %d is not part of the run", q.Number)
		}
		return readPart(l.files[q.Number].Path, q.Offset)
	case askKeep:
		var q keptPart
		if err := decode(data, &q); err != nil || q.Epoch != l.epoch || q.File < 0 || q.File >= len(artifact.MachineFiles) {
			return nil, errors.Join(err, errors.New("the file is not one of this run"))
		}
		if !l.mayKeep(name, len(q.Text)) {
			return nil, fmt.Errorf("the files of a machine may have %d bytes", maxKept)
		}
		return nil, l.keep(l.r.Layout.Machine(name, artifact.MachineFiles[q.File]), q.Text)
	case askFinish:
		var q finish
		if err := decode(data, &q); err != nil || q.Epoch != l.epoch {
			return nil, errors.Join(err, errors.New("the end of another run"))
		}
		l.finish(name, &q)
		return nil, nil
	}
	return l.hub.Answer(ctx, name, kind, data)
}

// mayKeep counts bytes of the files of a machine, and reports whether they are within the limit.
func (l *machineLoad) mayKeep(name string, n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.part(name)
	p.kept += int64(n)
	return p.kept <= maxKept
}

// keep appends to a file of a machine.
func (l *machineLoad) keep(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// finish notes that a machine has ended its part.
func (l *machineLoad) finish(name string, q *finish) {
	l.mu.Lock()
	p := l.part(name)
	p.finished = true
	p.take(&q.progress)
	failed := q.Error != "" && p.problem == ""
	if failed {
		p.problem = q.Error
		if l.err == nil {
			l.err = fmt.Errorf("machine %s: %s", p.title, q.Error)
		}
	}
	l.mu.Unlock()
	l.hub.Lost(name) // nobody waits for it any more
	if failed {
		l.stop()
	}
}

// take replaces the state of the load by a newer one.
func (p *part) take(now *progress) {
	if len(now.Snapshots) < len(p.now.Snapshots) {
		return
	}
	p.now = *now
}

// progressed notes the state of a machine's load.
func (l *machineLoad) progressed(name string, data []byte) {
	var now progress
	if decode(data, &now) != nil || now.Epoch != l.epoch || len(now.Snapshots) > len(l.r.Scenario.Phases) {
		return
	}
	l.mu.Lock()
	p := l.part(name)
	if !p.finished {
		p.take(&now)
	}
	l.mu.Unlock()
	for i := range now.Snapshots { // a phase that follows seamlessly starts by itself
		if info := l.r.Scenario.Info(i); info.Seamless && now.Snapshots[i].Started != 0 {
			l.mu.Lock()
			_, known := l.started[i]
			l.mu.Unlock()
			if !known {
				l.begun(&info, clock.Now())
			}
		}
	}
}

// seen notes that a machine is out of sight, or back.
func (l *machineLoad) seen(e bus.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.part(e.Member)
	switch {
	case p == nil || p.finished:
	case e.Kind == bus.Back:
		p.unseen += e.Unseen
		l.r.Log("machine is back", "machine", p.name, "absent", e.Unseen)
	case e.Kind == bus.Silent || e.Kind == bus.Disconnected:
		l.r.Log("machine is out of sight", "machine", p.name, "since", e.Unseen)
	}
}

// lost notes that a machine was given up.
func (l *machineLoad) lost(name, why string) {
	l.mu.Lock()
	p := l.part(name)
	if p == nil || p.finished {
		l.mu.Unlock()
		return
	}
	p.lostAt, p.problem = clock.Now(), why
	ends := l.c.opts.Machines.Loss == config.LossStop && l.err == nil
	if ends {
		l.err = &run.MachineLostError{Machine: p.title, Why: why}
	}
	l.mu.Unlock()
	l.r.Warn(fmt.Sprintf("machine %s was lost: %s", p.title, why))
	l.hub.Lost(name)
	if ends {
		l.stop()
	}
}
