// Package pipeline turns finished requests into rows of metrics and lines of files, beside the load and without ever holding it up:
// workers decode and count, one collector reduces and writes, and when all are busy finished records wait in a temporary file.
package pipeline

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"aiperf/internal/metric"
	"aiperf/internal/record"
	"aiperf/internal/redact"
)

// Options wire a pipeline.
type Options struct {
	Metrics *metric.Selection
	// Decode reads the answer to a request; the error says why the request failed, nil = it is valid.
	Decode func(*record.Record) (*record.Reply, *record.Error)
	// Clean takes secrets out of the error of a record, before anything else sees it; nil = it stays as it is.
	Clean func(*record.Record, *redact.Secrets)
	// Count is the number of tokens of a text for a model, without special tokens. It is not called when counts come from the server. An error
	// says that counting takes too much; then the number is unknown.
	Count func(model, text string) (int, error)
	// Input counts the tokens of a request where the bare rule (texts joined by blanks, one encode) is not wanted; -1 = use that rule.
	// nil = always use it.
	Input func(rec *record.Record, reply *record.Reply) int
	// RequestedTokens reads the output length that a payload asks for, 0 = none. It is called for records with LengthInBody; nil = never.
	RequestedTokens func(payload []byte) int
	// Prompt sees what every request sent and what came of it. Workers call it side by side; it must keep nothing of the record. nil = nobody does.
	Prompt func(rec *record.Record, reply *record.Reply, counts record.Counts, row *metric.Row)
	// Sinks get every request. They are closed by the pipeline.
	Sinks []Sink
	// Secrets, if set, are the values that nothing written of a request may show.
	Secrets func(*record.Record) *redact.Secrets
	// Observers see every row.
	Observers []Observer

	// Split lists the phases (by index over all phases) that get a reducer of their own beside the one of their kind.
	Split []int

	Workers  int    // 0 = one per core
	Queue    int    // finished records that may wait in memory; 0 = 1024
	Memory   int64  // bytes of answers and media that may wait in memory; 0 = 128 MiB
	SpillDir string // directory of the temporary file; "" = the system's
}

// Sink is a file that gets something of every request.
type Sink interface {
	// Encode appends what the file gets of a request to dst; workers call it side by side.
	Encode(dst []byte, rec *record.Record, reply *record.Reply, row *metric.Row) []byte
	// Write writes what Encode made; one goroutine calls it.
	Write(p []byte) error
	// Close completes the file.
	Close() error
}

// Pipeline takes finished records in. Put may be called by any goroutine until Close.
type Pipeline struct {
	opts      Options
	queue     chan item
	done      chan result
	spill     spill
	sums      *aggregate
	observers []Observer
	fed       int64
	broken    []error // by sink: the error that ended it

	held      held
	workers   sync.WaitGroup
	collector sync.WaitGroup
	backlog   atomic.Int64
}

// item is a record on its way; place counts those that Feed took in, from 1, and is 0 for others.
type item struct {
	rec   *record.Record
	place int64
	size  int64 // of its answer
}

// result is what the collector gets of one request.
type result struct {
	place int64
	size  int64
	row   *metric.Row
	lines *[]byte // of all sinks, one after the other
	ends  []int   // where each sink's part ends
}

// New starts a pipeline.
func New(opts Options) *Pipeline {
	if opts.Workers <= 0 {
		opts.Workers = runtime.GOMAXPROCS(0)
	}
	if opts.Queue <= 0 {
		opts.Queue = 1024
	}
	p := &Pipeline{
		opts: opts, queue: make(chan item, opts.Queue), done: make(chan result, 256),
		spill:  spill{dir: opts.SpillDir},
		sums:   newAggregate(opts.Metrics, opts.Split),
		broken: make([]error, len(opts.Sinks)),
	}
	p.held.init(opts.Memory)
	p.observers = append([]Observer{p.sums}, opts.Observers...)
	for range opts.Workers {
		p.workers.Go(p.work)
	}
	p.collector.Go(p.collect)
	return p
}

// Put hands a finished record over; the pipeline releases it. It does not wait: when the queue or the memory is full the record goes to the
// temporary file, and only if that cannot be written does Put wait for room.
func (p *Pipeline) Put(rec *record.Record) {
	it := item{rec: rec, size: size(rec)}
	if p.held.try(rec, it.size) {
		select {
		case p.queue <- it:
			p.raise()
			return
		default:
			p.held.sent(rec)
			p.held.answered(it.size)
		}
	}
	if p.spill.put(rec) == nil {
		rec.Release()
		return
	}
	p.wait(it)
	p.raise()
}

// wait hands a record over once there is room for it.
func (p *Pipeline) wait(it item) {
	p.held.take(it.rec, it.size)
	p.queue <- it
}

// Feed hands a record over and waits for room. What one goroutine feeds is reduced and written in its order.
func (p *Pipeline) Feed(rec *record.Record) {
	p.fed++
	p.wait(item{rec, p.fed, size(rec)})
}

// raise keeps the largest backlog.
func (p *Pipeline) raise() {
	n := int64(len(p.queue))
	for {
		top := p.backlog.Load()
		if n <= top || p.backlog.CompareAndSwap(top, n) {
			return
		}
	}
}

// Backlog is the largest number of records that waited in memory at once, and how many went through the temporary file.
func (p *Pipeline) Backlog() (largest, spilled int64) { return p.backlog.Load(), p.spill.count() }

// Close waits until every record is reduced, completes the files and returns what went wrong with them. The reducers may be read afterwards.
func (p *Pipeline) Close() error {
	err := p.spill.drain(func(rec *record.Record) { p.wait(item{rec: rec, size: size(rec)}) })
	close(p.queue)
	p.workers.Wait()
	close(p.done)
	p.collector.Wait()
	errs := append(slices.Clone(p.broken), err)
	for i, s := range p.opts.Sinks {
		if err := s.Close(); err != nil && p.broken[i] == nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Profiling and Warmup give the reduced requests of either kind; valid after Close.
func (p *Pipeline) Profiling() *metric.Reducer { return p.sums.profiling }

// Warmup is the reducer of warm-up requests; valid after Close.
func (p *Pipeline) Warmup() *metric.Reducer { return p.sums.warmup }

// Phase is the reducer of a phase of Split; valid after Close.
func (p *Pipeline) Phase(index int) *metric.Reducer { return p.sums.phases[index] }

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// work decodes, counts and encodes.
func (p *Pipeline) work() {
	for it := range p.queue {
		res := p.reduce(it.rec)
		p.held.sent(it.rec)
		it.rec.Release()
		res.place, res.size = it.place, it.size
		p.done <- res
	}
}

func (p *Pipeline) reduce(rec *record.Record) result {
	reply, failure := p.opts.Decode(rec)
	if rec.Error == nil {
		rec.Error = failure
	}
	hide := p.secrets(rec)
	p.clean(rec, hide)
	if rec.LengthInBody && p.opts.RequestedTokens != nil {
		if n := p.opts.RequestedTokens(rec.Payload.Bytes()); n > 0 {
			rec.MaxTokens = n
		}
	}
	counts := p.counts(rec, reply)
	row := p.opts.Metrics.Row(rec, reply, counts)
	if p.opts.Prompt != nil {
		p.opts.Prompt(rec, reply, counts, row)
	}
	if rec.Error == nil {
		rec.Error = row.Err
		p.clean(rec, hide)
	}
	res := result{row: row}
	if len(p.opts.Sinks) > 0 {
		res.lines = buffers.Get().(*[]byte)
		b := (*res.lines)[:0]
		for _, s := range p.opts.Sinks {
			from := len(b)
			b = s.Encode(b, rec, reply, row)
			b = append(b[:from], hide.JSON(b[from:])...)
			res.ends = append(res.ends, len(b))
		}
		*res.lines = b
	}
	return res
}

// secrets are the values that nothing written of a request may show; nil = none are known.
func (p *Pipeline) secrets(rec *record.Record) *redact.Secrets {
	if p.opts.Secrets == nil {
		return nil
	}
	return p.opts.Secrets(rec)
}

func (p *Pipeline) clean(rec *record.Record, hide *redact.Secrets) {
	if rec.Error != nil && p.opts.Clean != nil {
		p.opts.Clean(rec, hide)
	}
}

// collect takes results in the order in which workers finish, but those that were fed in the order of feeding.
func (p *Pipeline) collect() {
	early := map[int64]result{}
	next := int64(1)
	for res := range p.done {
		if res.place == 0 {
			p.take(res)
			continue
		}
		early[res.place] = res
		for {
			res, ok := early[next]
			if !ok {
				break
			}
			delete(early, next)
			next++
			p.take(res)
		}
	}
}

// take reduces a row and writes its lines.
func (p *Pipeline) take(res result) {
	for _, o := range p.observers {
		o.Observe(res.row)
	}
	from := 0
	for i, end := range res.ends {
		if part := (*res.lines)[from:end]; len(part) > 0 && p.broken[i] == nil {
			p.broken[i] = p.opts.Sinks[i].Write(part) // a full disk ends this file, not the run
		}
		from = end
	}
	if res.lines != nil {
		buffers.Put(res.lines)
	}
	p.held.answered(res.size)
}
