package rereport

import (
	"errors"
	"fmt"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
	"aiperf/internal/report/artifact"
	"aiperf/internal/run/results"
	"aiperf/internal/telemetry/gpu"
)

// source is a finished run: its requests and the contents of its other files.
type source struct {
	RunFiles
	prior    priorSummary
	phases   []results.Phase          // as the run lists them; nil = it had one phase, or no list
	traces   map[string]*record.Trace // socket instants that only the records contain, by request id
	first    *record.Record
	streamed bool // some answer was a stream
	python   bool // the export was written by the Python tool
	gpu      *metric.GPUTelemetry
}

// errEnough stops reading after the first records.
var errEnough = errors.New("seen enough")

// openSource reads the beginning of an export and the files next to it.
func openSource(of RunFiles) (*source, error) {
	s := &source{RunFiles: of}
	for _, f := range s.Raw {
		err := artifact.ReadRaw(f, func(rec *record.Record) error {
			if s.first == nil {
				s.first = rec
			}
			for i := range rec.Messages {
				s.streamed = s.streamed || !rec.Messages[i].Body
			}
			if s.streamed || len(rec.Messages) > 0 {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			return nil, err
		}
	}
	if s.first == nil {
		return nil, fmt.Errorf("report: %s has no request", s.Raw[0])
	}
	s.python = s.first.Trace == nil && s.first.BenchmarkID == ""
	layout := artifact.NewLayout(s.Dir, s.Prefix)
	s.prior = readPrior(layout)
	if id := s.first.BenchmarkID; id != "" {
		if s.prior.BenchmarkID != "" && s.prior.BenchmarkID != id {
			return nil, fmt.Errorf("report: %s is of run %s, but %s next to it is of run %s: move one of them away", s.Raw[0], id, layout.SummaryJSON(), s.prior.BenchmarkID)
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
	if s.gpu != nil {
		s.gpu.Energy = s.prior.energy()
	}
	if s.python {
		s.traces, err = artifact.ReadTraces(layout.Records())
	}
	return s, err
}

// each calls visit for every request.
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

// outcome returns the facts about the run, from its summary and its requests.
func (s *source) outcome(finished *results.Assembly) results.Outcome {
	p := &s.prior
	o := results.Outcome{
		Info: p.Info, InputConfig: p.InputConfig, GPU: s.gpu, NetworkRTT: p.NetworkRTT.Avg * 1e6, Cancelled: p.Cancelled, IncompleteReason: p.IncompleteReason,
		Window: p.window(finished.Profiling().Span(), s.python), Phases: s.phases, LogFile: p.log,
	}
	if p.Complete != nil && !*p.Complete && o.IncompleteReason == "" {
		o.IncompleteReason = "The run was not complete."
	}
	if o.Phases == nil && finished.WarmedUp() {
		o.Phases = []results.Phase{{Name: "warmup", Warmup: true, Window: metric.Window{}}}
	}
	return o
}
