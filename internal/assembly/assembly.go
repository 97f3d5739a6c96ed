// Package assembly makes the results of a run of its finished requests: rows of metrics, distributions, files. A live run feeds it while it
// goes on, a report feeds it from a raw export; what is done with a request, and which settings it obeys, is the same.
package assembly

import (
	"errors"
	"runtime"

	"aiperf/internal/accuracy"
	"aiperf/internal/artifact"
	"aiperf/internal/config"
	"aiperf/internal/endpoint"
	"aiperf/internal/metric"
	"aiperf/internal/pipeline"
	"aiperf/internal/record"
	"aiperf/internal/redact"
)

// Options say what an assembly works by.
type Options struct {
	Config   *config.Benchmark // settings of the run: whose tokens count, the templates, the files, the slices
	Endpoint *endpoint.Endpoint
	Codec    endpoint.Codec    // of the endpoint, for these settings
	Metrics  *metric.Selection // made from MetricOptions
	// Tokenizers opens those of the run's models. It is called only if the client counts.
	Tokenizers  func() (*Tokenizers, error)
	Layout      artifact.Layout
	BenchmarkID string
	Phases      []Phase // of the run, by their index

	// Decode reads the answer to a request; nil = as the codec does.
	Decode    func(*record.Record, endpoint.DecodeOptions) (*record.Reply, *record.Error)
	Observers []pipeline.Observer // see every row, beside the sums that are made of them
	// Clean and Secrets hide what no file may show, as the pipeline does; nil = nothing is hidden.
	Clean   func(*record.Record, *redact.Secrets)
	Secrets func(*record.Record) *redact.Secrets
	Grades  *accuracy.Grades // judges the answers; nil = no benchmark is asked
	Raw     bool             // the raw export is written, if the settings ask for it
	Hurry   func() bool      // the user waits for the end: large texts are not counted any more; nil = never
	// Prefixes gets the prompts of endpoint types that answer prompts with text; nil = nobody does.
	Prefixes *metric.Prefixes
}

// Phase is one phase of the run.
type Phase struct {
	Name      string
	Index     int // over all phases
	Profiling int // over profiling phases; -1 in a warm-up
	Warmup    bool
	Window    metric.Window // zero until it is known
	Cancelled bool          // it was cut by the user
	Watched   []artifact.PhaseFile
}

// Assembly takes the finished requests of one run in.
type Assembly struct {
	Options
	pipe    *pipeline.Pipeline
	slowest slowest
	chat    *chatCounter // nil = inputs are counted without a chat template
	rawPath string       // "" = there is no raw export
}

// New creates the files that grow with the run and starts the workers.
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
	input := endpoint.DecodeOptions{NoInput: !Counts(o.Config, o.Endpoint) && !o.Endpoint.Images} // the payload also tells the images of a request
	if o.Decode == nil {
		o.Decode = func(rec *record.Record, how endpoint.DecodeOptions) (*record.Reply, *record.Error) {
			return endpoint.Decode(o.Codec, rec, how)
		}
	}
	p := pipeline.Options{
		Metrics: o.Metrics, Count: count, Sinks: sinks, Split: split(o.Phases), Observers: append([]pipeline.Observer{&a.slowest}, o.Observers...), SpillDir: o.Layout.Dir, Clean: o.Clean, Secrets: o.Secrets,
		Decode:          func(rec *record.Record) (*record.Reply, *record.Error) { return o.Decode(rec, input) },
		RequestedTokens: endpoint.RequestedTokens,
		Workers:         max(1, runtime.GOMAXPROCS(0)-1), // one core stays free for the load: a read that comes late joins messages
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

// counter is how tokens are counted; the function is never called when the server counts.
func (a *Assembly) counter() (func(model, text string) (int, error), error) {
	if !Counts(a.Config, a.Endpoint) {
		return func(string, string) (int, error) { return -1, nil }, nil
	}
	all, err := a.Tokenizers()
	if err != nil {
		return nil, err
	}
	hurried := *all
	hurried.hurry = a.Hurry
	all = &hurried
	if Templated(a.Config, a.Endpoint) {
		a.chat = &chatCounter{tokenizers: all}
	}
	return all.Count, nil
}

// sinks are the files of one line a request.
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
		w, err := artifact.CreateRecords(a.Layout.Records(), files.Trace)
		if err != nil {
			return list, err
		}
		list = append(list, w)
	}
	if a.Raw && files.Raw {
		w, err := artifact.CreateRaw(a.Layout.Raw(), artifact.RawOptions{BenchmarkID: a.BenchmarkID, Trace: files.Trace})
		if err != nil {
			return list, err
		}
		list = append(list, w)
		a.rawPath = a.Layout.Raw()
	}
	if files.OutputsJSON {
		w, err := artifact.CreateOutputs(a.Layout.Outputs())
		if err != nil {
			return list, err
		}
		list = append(list, w)
	}
	if a.Grades != nil {
		w, err := artifact.CreateGraded(a.Layout.Graded(), a.Grades.Encode)
		if err != nil {
			return list, err
		}
		list = append(list, w)
	}
	return list, nil
}

// split lists the phases that need a reducer of their own: those that share their kind with others. Where a kind has one phase, its own
// figures are those of the kind.
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

// Put hands a finished request over; it does not wait (pipeline.Pipeline.Put).
func (a *Assembly) Put(rec *record.Record) { a.pipe.Put(rec) }

// Feed hands a request over and waits for room; what one goroutine feeds keeps its order.
func (a *Assembly) Feed(rec *record.Record) { a.pipe.Feed(rec) }

// Close waits until every request is worked up and completes the files that grew.
func (a *Assembly) Close() error { return a.pipe.Close() }

// Backlog is the largest number of requests that waited in memory at once, and how many went through the temporary file.
func (a *Assembly) Backlog() (largest, spilled int64) { return a.pipe.Backlog() }

// Profiling is what the requests that count add up to; valid after Close.
func (a *Assembly) Profiling() *metric.Reducer { return a.pipe.Profiling() }

// TemplateFailures is the number of requests whose messages the chat template refused.
func (a *Assembly) TemplateFailures() int64 {
	if a.chat == nil {
		return 0
	}
	return a.chat.failed.Load()
}

// WarmedUp tells whether some request was one of a warm-up; valid after Close.
func (a *Assembly) WarmedUp() bool {
	valid, failed, cut := a.pipe.Warmup().Counts()
	return valid+failed+cut > 0
}

// slowest is the observer that remembers the slowest requests that count.
type slowest struct{ metric.Slowest }

// Observe implements pipeline.Observer.
func (s *slowest) Observe(row *metric.Row) {
	if !row.Meta.Warmup {
		s.Add(row)
	}
}
