package reanalyze

import (
	"errors"
	"fmt"

	"aiperf/internal/artifact"
	"aiperf/internal/assembly"
	"aiperf/internal/metric"
	"aiperf/internal/record"
	"aiperf/internal/telemetry/gpu"
)

// source is a run that is over: its requests, and what its other files tell.
type source struct {
	Found
	prior  priorSummary
	phases []assembly.Phase         // that the run lists; nil = it had one, or does not say
	traces map[string]*record.Trace // socket instants that stand in the records alone, by request id
	first  *record.Record
	came   bool // some answer came as a stream
	python bool // the export is the Python tool's
	gpu    *metric.GPUTelemetry
}

// errEnough ends the look at the first records.
var errEnough = errors.New("seen enough")

// openSource looks at the beginning of an export and reads what stands beside it.
func openSource(of Found) (*source, error) {
	s := &source{Found: of}
	for _, f := range s.Raw {
		err := artifact.ReadRaw(f, func(rec *record.Record) error {
			if s.first == nil {
				s.first = rec
			}
			for i := range rec.Messages {
				s.came = s.came || !rec.Messages[i].Body
			}
			if s.came || len(rec.Messages) > 0 {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return nil, err
		}
	}
	if s.first == nil {
		return nil, fmt.Errorf("report: %s holds no request", s.Raw[0])
	}
	s.python = s.first.Trace == nil && s.first.BenchmarkID == ""
	layout := artifact.NewLayout(s.Dir, s.Prefix)
	s.prior = readPrior(layout)
	if id := s.first.BenchmarkID; id != "" {
		if s.prior.BenchmarkID != "" && s.prior.BenchmarkID != id {
			return nil, fmt.Errorf("report: %s is of run %s, but %s beside it is of run %s: move one of them away", s.Raw[0], id, layout.SummaryJSON(), s.prior.BenchmarkID)
		}
		s.prior.BenchmarkID = id
	}
	s.prior.complete()
	var err error
	if s.phases, err = readPhases(layout); err != nil {
		return nil, err
	}
	if s.gpu, err = artifact.ReadGPU(s.prior.Telemetry, gpu.NameOf); err != nil {
		return nil, fmt.Errorf("report: %s: %w", layout.SummaryJSON(), err)
	}
	if s.python {
		s.traces, err = artifact.ReadTraces(layout.Records())
	}
	return s, err
}

// each visits every request.
func (s *source) each(visit func(*record.Record) error) error {
	for _, f := range s.Raw {
		err := artifact.ReadRaw(f, func(rec *record.Record) error {
			if id := rec.BenchmarkID; id != s.first.BenchmarkID {
				return fmt.Errorf("%s: request %s is of run %q, the first one of run %q", f, rec.RequestID, id, s.first.BenchmarkID)
			}
			if t := s.traces[rec.RequestID]; t != nil && rec.Trace == nil {
				rec.Trace = t
				t.Shift(-rec.WallOffset)
			}
			return visit(rec)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// outcome is how the run went, as its summary and its requests tell.
func (s *source) outcome(results *assembly.Assembly) assembly.Outcome {
	p := &s.prior
	o := assembly.Outcome{
		Info: p.Info, InputConfig: p.InputConfig, GPU: s.gpu, NetworkRTT: p.NetworkRTT.Avg * 1e6, Cancelled: p.Cancelled, IncompleteReason: p.IncompleteReason,
		Window: p.window(results.Profiling().Span(), s.python), Phases: s.phases, LogFile: p.log,
	}
	if p.Complete != nil && !*p.Complete && o.IncompleteReason == "" {
		o.IncompleteReason = "The run was not complete."
	}
	if o.Phases == nil && results.WarmedUp() {
		o.Phases = []assembly.Phase{{Name: "warmup", Warmup: true, Window: metric.Window{}}}
	}
	return o
}
