package run

import (
	"log/slog"

	"aiperf/internal/workload/load"
)

// phaseLog is the component that logs when the clock of a phase starts, and the statistics of a finished phase.
type phaseLog struct {
	passiveComponent
	log *slog.Logger
}

// PhaseStart implements component.
func (l phaseLog) PhaseStart(p *load.PhaseInfo) {
	l.log.Info("phase begins", "phase", p.Name, "mode", string(p.Mode))
}

// PhaseEnd implements component.
func (l phaseLog) PhaseEnd(f *load.PhaseStats) {
	l.log.Info("phase complete", "phase", f.Info.Name, "sent", f.Sent, "completed", f.Completed, "errors", f.Errors, "cancelled", f.Cancelled,
		"seconds", float64(f.Ended-f.Started)/1e9, "stopped_by", string(f.StoppedBy))
}
