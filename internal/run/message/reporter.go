// Package message reports the events of a run to the user: on the error stream and in the log.
package message

import (
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"aiperf/internal/base/redact"
	"aiperf/internal/base/terminal"
	"aiperf/internal/report/ui"
	"aiperf/internal/text/hfhub"
)

// Reporter reports the events of a run to the user: all of them in the log, the important ones also on the error stream.
type Reporter struct {
	Log     *slog.Logger    // receives everything
	events  *logBuffer      // receives the log
	level   slog.Level      // messages below this level are not reported
	err     io.Writer       // the error stream
	Screen  *ui.Screen      // the live line on the error stream; nil = none
	secrets *redact.Secrets // removed from every message
	File    string          // path of the log; "" = the file is not open yet

	mu        sync.Mutex
	downloads map[string]time.Time // files being downloaded -> time of the last message about them
}

// Options says what a Reporter reports, and where.
type Options struct {
	Level    string    // lowest level that is reported, as --log-level spells it
	Err      io.Writer // the error stream
	LiveLine bool      // the error stream is a terminal with a live line
	Notes    []string  // messages from before the run, which only the log repeats
	Warnings []string
	Secrets  *redact.Secrets                 // removed from every message
	Wrap     func(slog.Handler) slog.Handler // wraps the handler of the log; nil = not needed
}

// New starts the log of a run.
func New(o Options) *Reporter {
	say := &Reporter{events: new(logBuffer), level: levels[o.Level], err: o.Err, secrets: o.Secrets}
	if o.LiveLine {
		say.Screen = ui.NewScreen(o.Err)
		say.err = say.Screen
	}
	if say.verbose() {
		say.events.live = say.err
	}
	var handler slog.Handler = slog.NewTextHandler(o.Secrets.Writer(say.events), &slog.HandlerOptions{Level: say.level})
	if o.Wrap != nil {
		handler = o.Wrap(handler)
	}
	say.Log = slog.New(handler)
	for _, text := range o.Notes {
		say.Log.Info(text)
	}
	for _, text := range o.Warnings {
		say.Log.Warn(text)
	}
	return say
}

// OpenFile opens the log into its file.
func (say *Reporter) OpenFile(file io.Writer, path string) {
	say.events.openFile(file)
	say.File = path
}

// verbose reports whether log lines also go to the error stream: with -v and -vv, or a level as low.
func (say *Reporter) verbose() bool { return say.level < slog.LevelInfo }

// levelEnabled reports whether lines of a level are wanted.
func (say *Reporter) levelEnabled(level slog.Level) bool { return say.level <= level }

// Print writes a line to the error stream, without secrets and terminal control characters.
func (say *Reporter) Print(text string) {
	fmt.Fprintln(say.err, terminal.Text(say.secrets.Text(text)))
}

// Warn reports a problem that does not stop the run, unless the level allows only errors.
func (say *Reporter) Warn(text string) {
	if say.levelEnabled(slog.LevelWarn) && !say.verbose() {
		say.Print("aiperf: warning: " + text)
	}
	say.Log.Warn(text)
}

// Note reports something that is not a problem.
func (say *Reporter) Note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if say.levelEnabled(slog.LevelInfo) && !say.verbose() {
		say.Print("aiperf: " + text)
	}
	say.Log.Info(text)
}

// PrintAddress reports the address of a server of this process. withToken is the address with a token that this process has drawn; it is printed on
// the error stream only, not in the log. "" = the user gave the token.
func (say *Reporter) PrintAddress(what, address, withToken string) {
	say.Log.Info(what + ": " + address)
	switch {
	case !say.levelEnabled(slog.LevelInfo):
	case withToken != "":
		fmt.Fprintln(say.err, terminal.Text("aiperf: "+what+": "+withToken))
	default:
		say.Print("aiperf: " + what + ": " + address + " (with the token that you gave)")
	}
}

// Fail reports why a run has no result.
func (say *Reporter) Fail(text string) {
	say.Print(fmt.Sprintf("error: %s; log: %s", text, say.File))
	say.Log.Error(text)
}

// readingPause is the pause between two updates of the progress of reading a file.
const readingPause = 200 * time.Millisecond

// Reading shows on a terminal how many rows of a file have been read; done removes the line.
func (say *Reporter) Reading(path string) (tell func(rows int), done func()) {
	if say.Screen == nil {
		return nil, func() {}
	}
	last := time.Now()
	return func(rows int) {
		if now := time.Now(); now.Sub(last) >= readingPause {
			last = now
			say.Screen.Draw(terminal.Line(say.secrets.Text(fmt.Sprintf("%d rows read of %s", rows, path))))
		}
	}, say.Screen.Clear
}

// downloadPause is the pause between two messages about a slow download.
const downloadPause = 5 * time.Second

// Download reports when the download of a tokenizer or dataset file begins, its progress, and its end.
func (say *Reporter) Download(file string, done, total int64) {
	say.mu.Lock()
	last, known := say.downloads[file]
	whole := done == total
	due := !known || whole || time.Since(last) >= downloadPause
	if due {
		if say.downloads == nil {
			say.downloads = map[string]time.Time{}
		}
		say.downloads[file] = time.Now()
	}
	if whole {
		delete(say.downloads, file)
	}
	say.mu.Unlock()
	switch {
	case !due:
	case whole && known:
		say.Note("downloaded %s", file)
	case whole:
		say.Note("downloaded %s (%s)", file, hfhub.Size(total))
	case !known && total > 0 && done > 0:
		say.Note("downloading %s (%s), continuing after %s", file, hfhub.Size(total), hfhub.Size(done))
	case !known && total > 0:
		say.Note("downloading %s (%s)", file, hfhub.Size(total))
	case !known:
		say.Note("downloading %s", file)
	case total > 0:
		say.Note("downloading %s: %s of %s", file, hfhub.Size(done), hfhub.Size(total))
	default:
		say.Note("downloading %s: %s", file, hfhub.Size(done))
	}
}
