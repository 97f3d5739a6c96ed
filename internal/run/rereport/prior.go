package rereport

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/artifact"
	"aiperf/internal/run/results"
)

// priorSummary holds what a report takes from the run's own summary, if it is next to the raw export.
type priorSummary struct {
	BenchmarkID      string              `json:"benchmark_id"`
	InputConfig      json.RawMessage     `json:"input_config"`
	OwnConfig        json.RawMessage     `json:"own_config"`
	Info             metric.RunInfo      `json:"run_info"`
	Cancelled        bool                `json:"was_cancelled"`
	Complete         *bool               `json:"is_complete"`
	IncompleteReason string              `json:"incomplete_reason"`
	Telemetry        json.RawMessage     `json:"telemetry_data"`
	StartTime        string              `json:"start_time"`
	EndTime          string              `json:"end_time"`
	Validity         json.RawMessage     `json:"validity"`
	Branches         *metric.BranchStats `json:"branch_stats"`
	Probe            *metric.Probe       `json:"probe"`
	Metadata         *metric.Submission  `json:"metadata"`
	NetworkRTT       struct {
		Avg float64 `json:"avg"` // ms
	} `json:"network_rtt"`
	NvidiaEnergy struct {
		Avg float64 `json:"avg"` // J
	} `json:"nvidia_total_gpu_energy"`
	AMDEnergy struct {
		Avg float64 `json:"avg"` // J
	} `json:"amd_total_gpu_energy"`
	Window struct {
		Start int64 `json:"start_ns"`
		End   int64 `json:"end_ns"`
	} `json:"window"`

	log     string // the run's log file; "" = none
	problem string // why the summary is missing; "" = it was read
}

// maxSummary is the largest size of a summary that is read, in bytes.
const maxSummary = boundedfile.MaxStream

// readPrior reads the summary; without one it returns a zero priorSummary, except for the log.
func readPrior(l artifact.Layout) (p priorSummary) {
	switch data, err := boundedfile.ReadAll(l.SummaryJSON(), maxSummary); {
	case errors.Is(err, fs.ErrNotExist):
		p.problem = fmt.Sprintf("there is no %s next to the raw export: the run may have been killed before its end, and its settings and its verdict are not known", filepath.Base(l.SummaryJSON()))
	case err != nil:
		p.problem = err.Error()
	default:
		if err := json.Unmarshal(data, &p); err != nil {
			p = priorSummary{problem: fmt.Sprintf("%s cannot be read, so the settings and the verdict of the run are not known: %v", l.SummaryJSON(), err)}
		}
		if whole, err := config.MergeInputConfig(p.InputConfig, p.OwnConfig); err == nil {
			p.InputConfig = whole
		}
	}
	if _, err := os.Stat(l.Log()); err == nil {
		p.log = l.Log()
	}
	return p
}

// energy returns the energy of the GPUs by platform, in J, as the run computed it.
func (p *priorSummary) energy() map[string]float64 {
	all := map[string]float64{}
	for platform, joules := range map[string]float64{"nvidia": p.NvidiaEnergy.Avg, "amd": p.AMDEnergy.Avg} {
		if joules > 0 {
			all[platform] = joules
		}
	}
	return all
}

// complete gives a run without an id a new one.
func (p *priorSummary) complete() {
	if p.BenchmarkID == "" {
		var b [6]byte
		rand.Read(b[:])
		p.BenchmarkID = hex.EncodeToString(b[:])
	}
}

// window returns the profiling phase as the run recorded it. If that is missing or does not fit these requests, it returns their span. It may not fit
// because the Python tool ran in another time zone, or because the summary belongs to another run.
func (p *priorSummary) window(span metric.Window, python bool) metric.Window {
	w := metric.Window{From: p.Window.Start, To: p.Window.End}
	if w.To != 0 && !python {
		return w
	}
	if w.To == 0 {
		from, err1 := time.ParseInLocation("2006-01-02T15:04:05.999999", p.StartTime, time.Local)
		to, err2 := time.ParseInLocation("2006-01-02T15:04:05.999999", p.EndTime, time.Local)
		if err1 != nil || err2 != nil {
			return span
		}
		w = metric.Window{From: from.UnixNano(), To: to.UnixNano()}
	}
	const slack = int64(time.Second)
	if w.From > span.From+slack || w.To < span.To-slack || w.From < span.From-int64(time.Hour) {
		return span
	}
	return w
}

// validity assesses the run again from the facts that its verdict was based on; nil if the run has no verdict.
func (p *priorSummary) validity(run *metric.Summary) (*metric.Validity, error) {
	if p.Validity == nil {
		return nil, nil
	}
	stats, err := artifact.ReadValidity(p.Validity)
	if err != nil {
		return nil, err
	}
	if run != nil { // the tokens may be counted in another way than before
		stats.AnswerUse, stats.CancelUse = run.AnswerUse, run.CancelUse
		if p.lacks(run) != "" {
			stats.Valid, stats.Failed = run.Valid, run.Failed
		}
	}
	return metric.Assess(stats, run, config.FlagOf), nil
}

// lacks says how many requests of the run the raw export has, if it has not all of them; "" = it has all, or their number is not known.
func (p *priorSummary) lacks(run *metric.Summary) string {
	if p.Validity == nil {
		return ""
	}
	stats, err := artifact.ReadValidity(p.Validity)
	if n := run.Valid + run.Failed; err == nil && n > 0 && n < stats.Valid+stats.Failed {
		return fmt.Sprintf("the raw export has %d of the %d requests of the run: it may have been cut off. The report describes these requests", n, stats.Valid+stats.Failed)
	}
	return ""
}

// readPhases reads the list of phases of a run; nil if the run had only one.
func readPhases(l artifact.Layout) ([]results.Phase, error) {
	list, err := artifact.ReadPhases(l)
	var phases []results.Phase
	for _, p := range list {
		phases = append(phases, results.Phase{
			Name: p.Name, Index: p.Index, Profiling: p.ProfilingIndex, Warmup: p.Warmup, Cancelled: p.Cancelled,
			Window: metric.Window{From: p.Start.UnixNano(), To: p.End.UnixNano()}, Watched: p.Watched,
		})
	}
	return phases, err
}
