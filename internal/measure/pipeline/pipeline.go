// Package pipeline converts finished requests to rows of metrics and lines of files, in parallel to the load and without delaying it. Workers decode
// and count, and one collector reduces and writes. If all are busy, finished records wait in a temporary file.
package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"aiperf/internal/base/processors"
	"aiperf/internal/base/redact"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
)

// Options configure a pipeline.
type Options struct {
	Metrics *metric.Selection
	// Decode reads the answer to a request. The error is why the request failed, nil = it is valid.
	Decode func(*record.Record) (*record.Reply, *record.Error)
	// Clean removes secrets from the error of a record before anything else uses it; nil = no cleaning.
	Clean func(*record.Record, *redact.Secrets)
	// Count returns the number of tokens of a text for a model, without special tokens. It is not called if counts come from the server. An error
	// means that counting would take too long; then the number is unknown.
	Count func(model, text string) (int, error)
	// OneTokenizer means that all models have the same tokenizer, so that a text need not be counted again that was counted when it was generated.
	OneTokenizer bool
	// Input counts the tokens of a request if the simple rule (texts joined by blanks, one call of the tokenizer) does not apply; -1 = use that rule.
	// nil = always use it.
	Input func(rec *record.Record, reply *record.Reply) int
	// RequestedTokens returns the output length that a payload requests, 0 = none. It is called for records with LengthInBody; nil = never.
	RequestedTokens func(payload []byte) int
	// Prompt receives every request and its result. Workers call it concurrently. It must not store parts of the record. nil = none.
	Prompt func(rec *record.Record, reply *record.Reply, counts record.Counts, row *metric.Row)
	// Sinks receive every request. The pipeline closes them.
	Sinks []Sink
	// Secrets, if set, returns the values to remove from all output about a request.
	Secrets func(*record.Record) *redact.Secrets
	// Observers receive every row.
	Observers []Observer
	// Forward, if set, receives every row and its entries instead of Sinks' Write: another process writes them (Accept). The entries are only valid
	// during the call. ends are the ends of the entries.
	Forward func(row *metric.Row, entries []byte, ends []int)

	// Split lists the phases (by index over all phases) with their own reducer, in addition to that of their kind.
	Split []int

	Workers  int    // 0 = one per core
	Queue    int    // maximum number of finished records waiting in memory; 0 = 1024
	Memory   int64  // maximum bytes of answers and media waiting in memory; 0 = 128 MiB
	SpillDir string // directory of temporary files, of records and of values; "" = the system's
}

// Sink is an output file with an entry for every request.
type Sink interface {
	// Encode appends the entry of a request to dst. Workers call it concurrently.
	Encode(dst []byte, rec *record.Record, reply *record.Reply, row *metric.Row) []byte
	// Write writes entries of Encode. Only one goroutine calls it.
	Write(p []byte) error
	// Close completes the file.
	Close() error
}

// Pipeline processes finished records. Any goroutine may call Put and Accept until Close.
type Pipeline struct {
	opts      Options
	queue     queue
	done      chan []result
	spill     spill
	sums      *aggregate
	observers []Observer
	feedCount int64
	broken    []error // by sink: the error that stopped it
	inputs    *inputCounts

	memory    recordMemory
	workers   sync.WaitGroup
	collector sync.WaitGroup
}

// item is a record in the pipeline. place is the number of a record passed to Feed, from 1; 0 for others.
type item struct {
	rec   *record.Record
	place int64
	size  int64 // size of its answer
}

// result is what a worker passes to the collector for one request.
type result struct {
	place int64
	size  int64
	row   *metric.Row
	lines *[]byte // entries of all sinks, concatenated
	ends  []int   // end of each sink's entry
}

// New starts a pipeline.
func New(opts Options) *Pipeline {
	if opts.Workers <= 0 {
		opts.Workers = processors.Cores()
	}
	if opts.Queue <= 0 {
		opts.Queue = 1024
	}
	p := &Pipeline{
		opts: opts, done: make(chan []result, 4*opts.Workers),
		spill:  spill{dir: opts.SpillDir},
		sums:   newAggregate(&opts),
		broken: make([]error, len(opts.Sinks)),
		inputs: newInputCounts(),
	}
	p.queue.init(opts.Queue)
	p.memory.init(opts.Memory)
	if opts.Forward == nil { // otherwise the requests are counted elsewhere
		p.observers = append(p.observers, p.sums)
	}
	p.observers = append(p.observers, opts.Observers...)
	for range opts.Workers {
		p.workers.Go(p.work)
	}
	p.collector.Go(p.collect)
	return p
}

// Put passes a finished record to the pipeline, which releases it. Put does not block. If the queue or the memory is full, the record goes to the
// temporary file. Put waits for room only if that file cannot be written.
func (p *Pipeline) Put(rec *record.Record) {
	it := item{rec: rec, size: record.Size(rec.Messages)}
	if p.memory.try(rec, it.size) {
		if p.queue.put(it) {
			return
		}
		p.memory.sent(rec)
		p.memory.answered(it.size)
	} else {
		p.queue.flush()
	}
	if p.spill.put(rec) == nil {
		rec.Release()
		return
	}
	p.wait(it)
}

// wait passes a record on once there is room for it.
func (p *Pipeline) wait(it item) {
	if !p.memory.try(it.rec, it.size) {
		p.queue.flush()
		p.memory.take(it.rec, it.size)
	}
	p.queue.wait(it)
}

// Feed passes a record to the pipeline and waits for room. Records fed by one goroutine are reduced and written in that order.
func (p *Pipeline) Feed(rec *record.Record) {
	p.feedCount++
	p.wait(item{rec, p.feedCount, record.Size(rec.Messages)})
}

// Accept passes on a request that another process has finished (Options.Forward). It waits for room. The pipeline owns the entries from then on.
func (p *Pipeline) Accept(row *metric.Row, entries []byte, ends []int) {
	p.done <- []result{{row: row, lines: &entries, ends: ends}}
}

// Backlog returns the largest number of records that waited in memory at once, and the number of records that went through the temporary file.
func (p *Pipeline) Backlog() (largest, spilled int64) { return p.queue.largest(), p.spill.count() }

// Close waits until every record is reduced, completes the files and returns their errors. The reducers may be read afterwards.
func (p *Pipeline) Close() error {
	err := p.spill.drain(func(rec *record.Record) { p.wait(item{rec: rec, size: record.Size(rec.Messages)}) })
	p.queue.close()
	p.workers.Wait()
	close(p.done)
	p.collector.Wait()
	errs := append(slices.Clone(p.broken), err)
	for i, s := range p.opts.Sinks {
		if err := s.Close(); err != nil && p.broken[i] == nil {
			errs = append(errs, incomplete(err))
		}
	}
	return errors.Join(errs...)
}

// incomplete says what a failed write means for a file of records.
func incomplete(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w; this file has only a part of the records", err)
}

// Profiling returns the reducer of profiling requests; valid after Close.
func (p *Pipeline) Profiling() *metric.Reducer { return p.sums.profiling }

// Warmup returns the reducer of warm-up requests; valid after Close.
func (p *Pipeline) Warmup() *metric.Reducer { return p.sums.warmup }

// Phase returns the reducer of a phase of Split; valid after Close.
func (p *Pipeline) Phase(index int) *metric.Reducer { return p.sums.phases[index] }

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// work is the loop of a worker: it decodes, counts and encodes.
func (p *Pipeline) work() {
	var batch []item
	for {
		if batch = p.queue.take(batch); len(batch) == 0 {
			return
		}
		results := make([]result, len(batch))
		for i, it := range batch {
			results[i] = p.reduce(it.rec)
			p.memory.sent(it.rec)
			it.rec.Release()
			results[i].place, results[i].size = it.place, it.size
		}
		p.done <- results
	}
}

func (p *Pipeline) reduce(rec *record.Record) result {
	record.Unpack(rec.Messages)
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

// secrets returns the values to remove from all output about a request; nil = none.
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

// collect receives results in the order in which workers finish. Fed records are processed in the order of feeding.
func (p *Pipeline) collect() {
	early := map[int64]result{}
	next := int64(1)
	for results := range p.done {
		for _, res := range results {
			if res.place == 0 {
				p.writeResult(res)
			} else {
				early[res.place] = res
			}
		}
		for {
			res, ok := early[next]
			if !ok {
				break
			}
			delete(early, next)
			next++
			p.writeResult(res)
		}
	}
}

// writeResult reduces a row and writes its lines.
func (p *Pipeline) writeResult(res result) {
	for _, o := range p.observers {
		o.Observe(res.row)
	}
	if p.opts.Forward != nil {
		p.forward(res)
		return
	}
	from := 0
	for i, end := range res.ends {
		if part := (*res.lines)[from:end]; len(part) > 0 && p.broken[i] == nil {
			p.broken[i] = incomplete(p.opts.Sinks[i].Write(part)) // a full disk stops this file, not the run
		}
		from = end
	}
	p.finish(res)
}

// forward passes a row and its entries to another process.
func (p *Pipeline) forward(res result) {
	var entries []byte
	if res.lines != nil {
		entries = *res.lines
	}
	p.opts.Forward(res.row, entries, res.ends)
	p.finish(res)
}

// finish gives the memory of a result back.
func (p *Pipeline) finish(res result) {
	if res.lines != nil {
		buffers.Put(res.lines)
	}
	p.memory.answered(res.size)
}
