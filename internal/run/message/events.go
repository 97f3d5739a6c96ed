package message

import (
	"bytes"
	"io"
	"log/slog"
	"sync"
)

// LevelTrace is the level below DEBUG, at which the log also says how answers were read.
const LevelTrace = slog.LevelDebug - 4

// levels maps the names of --log-level.
var levels = map[string]slog.Level{
	"TRACE": LevelTrace, "DEBUG": slog.LevelDebug, "INFO": slog.LevelInfo, "NOTICE": slog.LevelInfo + 2,
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

// OpenFile sets the log file and writes the earlier lines to it.
func (e *logBuffer) openFile(file io.Writer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.file = file
	_, _ = file.Write(e.waiting.Bytes())
	e.waiting.Reset()
}
