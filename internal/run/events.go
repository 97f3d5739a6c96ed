package run

import (
	"bytes"
	"io"
	"log/slog"
	"sync"
	"time"

	"aiperf/internal/measure/metric"
	"aiperf/internal/workload/dataset"
)

// levels maps the names of --log-level.
var levels = map[string]slog.Level{
	"TRACE": slog.LevelDebug - 4, "DEBUG": slog.LevelDebug, "INFO": slog.LevelInfo, "NOTICE": slog.LevelInfo + 2,
	"WARNING": slog.LevelWarn, "SUCCESS": slog.LevelWarn + 1, "ERROR": slog.LevelError, "CRITICAL": slog.LevelError + 4,
}

// maxWaiting is the largest part of the log that waits in memory for its file, in bytes. Only a broken start logs more.
const maxWaiting = 1 << 20

// logBuffer receives the lines of the log. It writes them to the log file, which is opened late, and with -v to the error stream at once.
type logBuffer struct {
	mu      sync.Mutex
	waiting bytes.Buffer // lines logged before the file was open
	file    io.Writer    // nil = not open yet
	live    io.Writer    // nil = lines are not shown
}

// Write implements io.Writer for one line.
func (e *logBuffer) Write(line []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.live != nil {
		_, _ = e.live.Write(line) // an error of the error stream cannot be reported anywhere
	}
	if e.file != nil {
		return e.file.Write(line)
	}
	if e.waiting.Len() < maxWaiting {
		e.waiting.Write(line)
	}
	return len(line), nil
}

// openFile sets the log file and writes the earlier lines to it.
func (e *logBuffer) openFile(file io.Writer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.file = file
	_, _ = file.Write(e.waiting.Bytes())
	e.waiting.Reset()
}

// logDataset logs the size and origin of the dataset.
func logDataset(log *slog.Logger, path string, data dataset.Dataset) {
	f := data.Info()
	if _, grows := data.(dataset.OpenEnded); grows {
		log.Info("dataset", "type", f.Type, "path", path, "conversations", "read as they are needed")
		return
	}
	log.Info("dataset", "type", f.Type, "path", path, "conversations", dataset.All(data), "turns", f.Turns)
}

// logVerdict logs how the run ended.
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
