package watch

import (
	"fmt"
	"log/slog"
	"time"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
	"aiperf/internal/run/component"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/load"
)

// PhaseLog is the component that logs when the clock of a phase starts, and the statistics of a finished phase. It warns of a warm-up with failures.
type PhaseLog struct {
	component.Passive
	Log  *slog.Logger
	Warn func(text string)
}

// PhaseStart implements component.
func (l PhaseLog) PhaseStart(p *load.PhaseInfo) {
	l.Log.Info("phase begins", "phase", p.Name, "mode", string(p.Mode))
}

// PhaseEnd implements component.
func (l PhaseLog) PhaseEnd(f *load.PhaseStats) {
	l.Log.Info("phase complete", "phase", f.Info.Name, "sent", f.Sent, "completed", f.Completed, "errors", f.Errors, "cancelled", f.Cancelled,
		"seconds", float64(f.Ended-f.Started)/1e9, "stopped_by", string(f.StoppedBy))
	if f.Info.Warmup && f.Errors > 0 {
		l.Warn(fmt.Sprintf("warm-up: %s of %s failed, so the measured requests may meet a cold server", terminal.Count(f.Errors), terminal.Plural(f.Completed, "request")))
	}
}

// LogDataset logs the size and origin of the dataset.
func LogDataset(log *slog.Logger, path string, data dataset.Dataset) {
	f := data.Info()
	if _, grows := data.(dataset.OpenEnded); grows {
		log.Info("dataset", "type", f.Type, "path", path, "conversations", "read as they are needed")
		return
	}
	log.Info("dataset", "type", f.Type, "path", path, "conversations", dataset.All(data), "turns", f.Turns)
}

// LogVerdict logs how the run ended.
func LogVerdict(log *slog.Logger, run *metric.Run) {
	s := run.Profiling
	about := []any{"valid", s.Valid, "failed", s.Failed, "cut", s.Cut, "seconds", run.End.Sub(run.Start).Round(time.Millisecond).Seconds()}
	if run.IncompleteReason != "" {
		about = append(about, "incomplete", run.IncompleteReason)
	}
	log.Info("run complete", about...)
	if v := run.Validity; v != nil {
		log.Info("verdict", "verdict", string(v.Verdict), "reason", v.Reason)
	}
	for _, f := range run.Files {
		log.Info("file", "kind", f.Kind, "path", f.Path)
	}
}
