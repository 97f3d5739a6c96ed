package run

import (
	"bytes"
	"io"
	"log/slog"
	"sync"
	"time"

	"aiperf/internal/dataset"
	"aiperf/internal/metric"
)

// levels maps the names of --log-level.
var levels = map[string]slog.Level{
	"TRACE": slog.LevelDebug - 4, "DEBUG": slog.LevelDebug, "INFO": slog.LevelInfo, "NOTICE": slog.LevelInfo + 2,
	"WARNING": slog.LevelWarn, "SUCCESS": slog.LevelWarn + 1, "ERROR": slog.LevelError, "CRITICAL": slog.LevelError + 4,
}

// heldEvents is how much of the log waits in memory for its file, in bytes. A start that says more has lost its way.
const heldEvents = 1 << 20

// events is where the lines of the log go: into its file, which is opened late, and with -v to the error stream at once.
type events struct {
	mu   sync.Mutex
	held bytes.Buffer // what came before there was a file
	file io.Writer    // nil = not yet
	live io.Writer    // nil = nobody asked
}

// Write takes one line.
func (e *events) Write(line []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.live != nil {
		_, _ = e.live.Write(line) // there is nobody to tell that the error stream is gone
	}
	if e.file != nil {
		return e.file.Write(line)
	}
	if e.held.Len() < heldEvents {
		e.held.Write(line)
	}
	return len(line), nil
}

// into gives the log its file, and the file what came before.
func (e *events) into(file io.Writer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.file = file
	_, _ = file.Write(e.held.Bytes())
	e.held.Reset()
}

// logDataset notes in the log what will be sent.
func logDataset(log *slog.Logger, path string, data dataset.Dataset) {
	f := data.Info()
	if _, grows := data.(dataset.Growing); grows {
		log.Info("dataset", "type", f.Type, "path", path, "conversations", "read as they are needed")
		return
	}
	log.Info("dataset", "type", f.Type, "path", path, "conversations", dataset.All(data), "turns", f.Turns)
}

// logVerdict notes in the log how the run ended.
func logVerdict(log *slog.Logger, run *metric.Run) {
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
