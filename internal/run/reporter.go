package run

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

// messageReporter reports the events of a run to the user: all of them in the log, the important ones also on the error stream.
type messageReporter struct {
	log     *slog.Logger
	events  *logBuffer      // receives the log
	level   slog.Level      // messages below this level are not reported
	err     io.Writer       // the error stream
	screen  *ui.Screen      // the live line on the error stream; nil = none
	secrets *redact.Secrets // removed from every message
	file    string          // path of the log; "" = the file is not open yet

	mu        sync.Mutex
	downloads map[string]time.Time // files being downloaded -> time of the last message about them
}

// reporterOptions says what a messageReporter reports, and where.
type reporterOptions struct {
	level    string    // lowest level that is reported, as --log-level spells it
	err      io.Writer // the error stream
	liveLine bool      // the error stream is a terminal with a live line
	notes    []string  // messages from before the run, which only the log repeats
	warnings []string
	secrets  *redact.Secrets                 // removed from every message
	wrap     func(slog.Handler) slog.Handler // wraps the handler of the log; nil = not needed
}

// newMessageReporter starts the log of a run.
func newMessageReporter(o reporterOptions) *messageReporter {
	say := &messageReporter{events: new(logBuffer), level: levels[o.level], err: o.err, secrets: o.secrets}
	if o.liveLine {
		say.screen = ui.NewScreen(o.err)
		say.err = say.screen
	}
	if say.verbose() {
		say.events.live = say.err
	}
	var handler slog.Handler = slog.NewTextHandler(o.secrets.Writer(say.events), &slog.HandlerOptions{Level: say.level})
	if o.wrap != nil {
		handler = o.wrap(handler)
	}
	say.log = slog.New(handler)
	for _, text := range o.notes {
		say.log.Info(text)
	}
	for _, text := range o.warnings {
		say.log.Warn(text)
	}
	return say
}

// openFile opens the log into its file.
func (say *messageReporter) openFile(file io.Writer, path string) {
	say.events.openFile(file)
	say.file = path
}

// verbose reports whether log lines also go to the error stream: with -v and -vv, or a level as low.
func (say *messageReporter) verbose() bool { return say.level < slog.LevelInfo }

// levelEnabled reports whether lines of a level are wanted.
func (say *messageReporter) levelEnabled(level slog.Level) bool { return say.level <= level }

// print writes a line to the error stream, without secrets and terminal control characters.
func (say *messageReporter) print(text string) {
	fmt.Fprintln(say.err, terminal.Text(say.secrets.Text(text)))
}

// warn reports a problem that does not stop the run, unless the level allows only errors.
func (say *messageReporter) warn(text string) {
	if say.levelEnabled(slog.LevelWarn) && !say.verbose() {
		say.print("aiperf: warning: " + text)
	}
	say.log.Warn(text)
}

// note reports something that is not a problem.
func (say *messageReporter) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if say.levelEnabled(slog.LevelInfo) && !say.verbose() {
		say.print("aiperf: " + text)
	}
	say.log.Info(text)
}

// printAddress reports the address of a server of this process. withToken is the address with a token that this process has drawn; it is printed on
// the error stream only, not in the log. "" = the user gave the token.
func (say *messageReporter) printAddress(what, address, withToken string) {
	say.log.Info(what + ": " + address)
	switch {
	case !say.levelEnabled(slog.LevelInfo):
	case withToken != "":
		fmt.Fprintln(say.err, terminal.Text("aiperf: "+what+": "+withToken))
	default:
		say.print("aiperf: " + what + ": " + address + " (with the token that you gave)")
	}
}

// fail reports why a run has no result.
func (say *messageReporter) fail(text string) {
	say.print(fmt.Sprintf("error: %s; log: %s", text, say.file))
	say.log.Error(text)
}

// readingPause is the pause between two updates of the progress of reading a file.
const readingPause = 200 * time.Millisecond

// reading shows on a terminal how many rows of a file have been read; done removes the line.
func (say *messageReporter) reading(path string) (tell func(rows int), done func()) {
	if say.screen == nil {
		return nil, func() {}
	}
	last := time.Now()
	return func(rows int) {
		if now := time.Now(); now.Sub(last) >= readingPause {
			last = now
			say.screen.Draw(terminal.Line(say.secrets.Text(fmt.Sprintf("%d rows read of %s", rows, path))))
		}
	}, say.screen.Clear
}

// downloadPause is the pause between two messages about a slow download.
const downloadPause = 5 * time.Second

// download reports when the download of a tokenizer or dataset file begins, its progress, and its end.
func (say *messageReporter) download(file string, done, total int64) {
	say.mu.Lock()
	last, known := say.downloads[file]
	whole := done == total
	told := !known || whole || time.Since(last) >= downloadPause
	if told {
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
	case !told:
	case whole && known:
		say.note("downloaded %s", file)
	case whole:
		say.note("downloaded %s (%s)", file, hfhub.Size(total))
	case !known && total > 0 && done > 0:
		say.note("downloading %s (%s), continuing after %s", file, hfhub.Size(total), hfhub.Size(done))
	case !known && total > 0:
		say.note("downloading %s (%s)", file, hfhub.Size(total))
	case !known:
		say.note("downloading %s", file)
	case total > 0:
		say.note("downloading %s: %s of %s", file, hfhub.Size(done), hfhub.Size(total))
	default:
		say.note("downloading %s: %s", file, hfhub.Size(done))
	}
}
