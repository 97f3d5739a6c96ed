package run

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"aiperf/internal/metric"
	"aiperf/internal/terminal"
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

// startLog begins the log with what the user was told before the run.
func (r *runner) startLog() {
	if r.verbose() {
		r.events.live = r.opts.Err
	}
	r.log = slog.New(slog.NewTextHandler(r.opts.Secrets.Writer(&r.events), &slog.HandlerOptions{Level: levels[r.cfg.Logging.Level]}))
	for _, text := range r.opts.Notes {
		r.log.Info(text)
	}
	for _, text := range r.opts.Warnings {
		r.log.Warn(text)
	}
}

// verbose tells whether the error stream gets the lines of the log: -v and -vv, or a level like theirs.
func (r *runner) verbose() bool { return levels[r.cfg.Logging.Level] < slog.LevelInfo }

// tell writes a line on the error stream, without secrets and without what steers a terminal.
func (r *runner) tell(text string) {
	fmt.Fprintln(r.opts.Err, terminal.Text(r.opts.Secrets.Text(text)))
}

// warn tells the user something that does not stop the run, unless --log-level lets only errors through.
func (r *runner) warn(text string) {
	if r.levelEnabled(slog.LevelWarn) && !r.verbose() {
		r.tell("aiperf: warning: " + text)
	}
	r.log.Warn(text)
}

// note tells the user something that is no reason to worry.
func (r *runner) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if r.levelEnabled(slog.LevelInfo) && !r.verbose() {
		r.tell("aiperf: " + text)
	}
	r.log.Info(text)
}

// fail tells the user why a run gives no result.
func (r *runner) fail(text string) {
	r.tell(fmt.Sprintf("error: %s; log: %s", text, r.layout.Log()))
	r.log.Error(text)
}

// levelEnabled tells whether lines of a level are wanted.
func (r *runner) levelEnabled(level slog.Level) bool { return levels[r.cfg.Logging.Level] <= level }

// download tells when a file of a tokenizer begins to come, and when it is there.
func (r *runner) download(file string, done, total int64) {
	switch {
	case done == 0 && total > 0:
		r.note("downloading %s (%.1f MB)", file, float64(total)/1e6)
	case done == 0:
		r.note("downloading %s", file)
	case done == total:
		r.note("downloaded %s", file)
	}
}

// logDataset notes in the log what will be sent.
func (r *runner) logDataset() {
	f := r.data.Facts()
	r.log.Info("dataset", "type", f.Type, "path", r.cfg.Dataset().Path, "conversations", r.data.Len(), "turns", f.Turns)
}

// logVerdict notes in the log how the run ended.
func (r *runner) logVerdict(run *metric.Run) {
	s := run.Profiling
	about := []any{"valid", s.Valid, "failed", s.Failed, "cut", s.Cut, "seconds", run.End.Sub(run.Start).Round(time.Millisecond).Seconds()}
	if run.IncompleteReason != "" {
		about = append(about, "incomplete", run.IncompleteReason)
	}
	r.log.Info("run complete", about...)
	if v := run.Validity; v != nil {
		r.log.Info("verdict", "verdict", string(v.Verdict), "reason", v.Reason)
	}
	for _, f := range run.Files {
		r.log.Info("file", "kind", f.Kind, "path", f.Path)
	}
}
