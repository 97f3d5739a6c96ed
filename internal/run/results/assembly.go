// Package results makes the results of a run from its finished requests: rows of metrics, distributions, files. A live run feeds it during the load, a
// report feeds it from a raw export. The processing of a request and the settings it depends on are the same.
package results

import (
	"errors"

	"aiperf/internal/base/processors"
	"aiperf/internal/base/redact"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/pipeline"
	"aiperf/internal/measure/record"
	"aiperf/internal/report/artifact"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/accuracy"
)

// Options holds the inputs of an assembly.
type Options struct {
	Config   *config.Benchmark // settings of the run that apply: token counting, templates, files, slices
	Endpoint *endpoint.Endpoint
	Codec    endpoint.Codec    // of the endpoint, for these settings
	Metrics  *metric.Selection // made from MetricOptions
	// Tokenizers opens the tokenizers of the run's models. It is called only if the client counts tokens.
	Tokenizers  func() (*Tokenizers, error)
	Layout      artifact.Layout
	BenchmarkID string
	Phases      []Phase // of the run, by their index

	// Decode reads the answer to a request; nil = use the codec.
	Decode    func(*record.Record, endpoint.DecodeOptions) (*record.Reply, *record.Error)
	Observers []pipeline.Observer // receive every row, in addition to the reducers
	// Clean and Secrets remove secrets from everything that is written, as in the pipeline; nil = nothing is removed.
	Clean   func(*record.Record, *redact.Secrets)
	Secrets func(*record.Record) *redact.Secrets
	Grades  *accuracy.Grades // grades the answers; nil = no benchmark
	Raw     bool             // write the raw export if the settings ask for it
	Hurry   func() bool      // returns true when the user waits for the end: large texts are not counted any more; nil = never
	// Forward receives every row and its entries of the files, which another process writes; nil = they are written here.
	Forward func(row *metric.Row, entries []byte, ends []int)
	// Prefixes receives the prompts of endpoint types that generate text; nil = not needed.
	Prefixes *metric.Prefixes
}

// Phase is one phase of the run.
type Phase struct {
	Name      string
	Index     int // among all phases
	Profiling int // among profiling phases; -1 in a warm-up
	Warmup    bool
	Window    metric.Window // zero until it is known
	Cancelled bool          // the user interrupted it
	Watched   []artifact.PhaseFile
}

// Assembly processes the finished requests of one run.
type Assembly struct {
	Options
	pipe         *pipeline.Pipeline
	paths        []string // of the files with an entry for every request
	slowest      slowestObserver
	oneTokenizer bool         // all models have the same tokenizer
	chat         *chatCounter // nil = inputs are counted without a chat template
	rawPath      string       // "" = no raw export
}

// New creates the files that grow during the run and starts the workers.
func New(o Options) (*Assembly, error) {
	a := &Assembly{Options: o}
	count, err := a.counter()
	if err != nil {
		return nil, err
	}
	sinks, err := a.sinks()
	if err != nil {
		return nil, err
	}
	input := endpoint.DecodeOptions{NoInput: !Counts(o.Config, o.Endpoint) && !o.Endpoint.Images} // the payload also tells how many images a request has
	if o.Decode == nil {
		o.Decode = func(rec *record.Record, how endpoint.DecodeOptions) (*record.Reply, *record.Error) {
			return endpoint.Decode(o.Codec, rec, how)
		}
	}
	p := pipeline.Options{
		Metrics: o.Metrics, Count: count, OneTokenizer: a.oneTokenizer, Sinks: sinks, Split: split(o.Phases), Observers: append([]pipeline.Observer{&a.slowest}, o.Observers...), SpillDir: o.Layout.Dir, Clean: o.Clean, Secrets: o.Secrets, Forward: o.Forward,
		Decode:          func(rec *record.Record) (*record.Reply, *record.Error) { return o.Decode(rec, input) },
		RequestedTokens: endpoint.RequestedTokens,
		Workers:         max(1, processors.Cores()-1), // one core stays free for the load: a late read merges messages
	}
	if a.chat != nil {
		p.Input = a.chat.input
	}
	if o.Prefixes != nil && Generates(o.Endpoint) {
		p.Prompt = a.prompt
	}
	a.pipe = pipeline.New(p)
	return a, nil
}

// counter returns how tokens are counted; the function is never called if the server counts.
func (a *Assembly) counter() (func(model, text string) (int, error), error) {
	if !Counts(a.Config, a.Endpoint) {
		return func(string, string) (int, error) { return -1, nil }, nil
	}
	all, err := a.Tokenizers()
	if err != nil {
		return nil, err
	}
	hurried := *all
	hurried.interrupted = a.Hurry
	all = &hurried
	if Templated(a.Config, a.Endpoint) {
		a.chat = &chatCounter{tokenizers: all}
	}
	a.oneTokenizer = len(all.All()) == 1
	return all.Count, nil
}

// sinks returns the files with one line per request.
func (a *Assembly) sinks() (list []pipeline.Sink, err error) {
	defer func() {
		if err != nil {
			for _, s := range list {
				err = errors.Join(err, s.Close())
			}
		}
	}()
	files := &a.Config.Artifacts
	if len(files.Records) > 0 {
		w, err := artifact.CreateRecords(a.Layout.Records(), artifact.RecordOptions{Trace: files.Trace, Models: len(a.Config.Models.Items) > 1})
		if err != nil {
			return list, err
		}
		list, a.paths = append(list, w), append(a.paths, a.Layout.Records())
	}
	if a.Raw && files.Raw {
		w, err := artifact.CreateRaw(a.Layout.Raw(), artifact.RawOptions{BenchmarkID: a.BenchmarkID, Trace: files.Trace, Framing: a.Endpoint.Framing})
		if err != nil {
			return list, err
		}
		a.rawPath = a.Layout.Raw()
		list, a.paths = append(list, w), append(a.paths, a.rawPath)
	}
	if files.OutputsJSON {
		w, err := artifact.CreateOutputs(a.Layout.Outputs())
		if err != nil {
			return list, err
		}
		list, a.paths = append(list, w), append(a.paths, a.Layout.Outputs())
	}
	if a.Grades != nil {
		w, err := artifact.CreateGraded(a.Layout.Graded(), a.Grades.Encode)
		if err != nil {
			return list, err
		}
		list, a.paths = append(list, w), append(a.paths, a.Layout.Graded())
	}
	return list, nil
}

// split lists the phases that need their own reducer: those that are not the only one of their kind. The figures of a single phase are those of its
// kind.
func split(phases []Phase) (list []int) {
	kinds := map[bool]int{}
	for _, p := range phases {
		kinds[p.Warmup]++
	}
	for _, p := range phases {
		if kinds[p.Warmup] > 1 {
			list = append(list, p.Index)
		}
	}
	return list
}

// Put passes a finished request to the pipeline without waiting (pipeline.Pipeline.Put).
func (a *Assembly) Put(rec *record.Record) { a.pipe.Put(rec) }

// Feed passes a request to the pipeline and waits for room. Requests fed by one goroutine keep their order.
func (a *Assembly) Feed(rec *record.Record) { a.pipe.Feed(rec) }

// Accept passes on a request that another process has finished (Options.Forward), with its entries of the files.
func (a *Assembly) Accept(row *metric.Row, entries []byte, ends []int) {
	a.pipe.Accept(row, entries, ends)
}

// Files returns the paths of the files with an entry for every request, in the order of the entries.
func (a *Assembly) Files() []string { return a.paths }

// Close waits until every request is processed and completes the files that grew.
func (a *Assembly) Close() error { return a.pipe.Close() }

// Backlog returns the largest number of requests that waited in memory at once, and how many went through the temporary file.
func (a *Assembly) Backlog() (largest, spilled int64) { return a.pipe.Backlog() }

// Profiling returns the sums over the measured requests; valid after Close.
func (a *Assembly) Profiling() *metric.Reducer { return a.pipe.Profiling() }

// TemplateFailures returns the number of requests whose messages the chat template refused.
func (a *Assembly) TemplateFailures() int64 {
	if a.chat == nil {
		return 0
	}
	return a.chat.failed.Load()
}

// WarmedUp reports whether a warm-up request was processed; valid after Close.
func (a *Assembly) WarmedUp() bool {
	valid, failed, cut := a.pipe.Warmup().Counts()
	return valid+failed+cut > 0
}

// slowestObserver is the observer that keeps the slowest measured requests.
type slowestObserver struct{ metric.Slowest }

// Observe implements pipeline.Observer.
func (s *slowestObserver) Observe(row *metric.Row) {
	if !row.Meta.Warmup {
		s.Add(row)
	}
}
