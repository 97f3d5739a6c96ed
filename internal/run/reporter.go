package run

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"aiperf/internal/base/redact"
	"aiperf/internal/base/terminal"
	"aiperf/internal/config"
	"aiperf/internal/report/ui"
	"aiperf/internal/telemetry/promserver"
	"aiperf/internal/text/hfhub"
)

// reporter reports events of a run to the user: all of them in the log, the important ones also on the error stream.
type reporter struct {
	log     *slog.Logger
	events  *logBuffer      // receives the log
	level   slog.Level      // messages below this level are not reported
	err     io.Writer       // the error stream
	screen  *ui.Screen      // the live line on the error stream; nil = none
	secrets *redact.Secrets // removed from every message
	view    *liveView       // live view of the run
	file    string          // path of the log; "" = the file is not open yet

	mu        sync.Mutex
	downloads map[string]time.Time // files being downloaded -> time of the last message about them
}

// newReporter starts the log of a run at a level of --log-level. Messages from before the run come first.
func newReporter(ctx context.Context, level string, o *Options, cfg *config.Benchmark) *reporter {
	say := &reporter{events: new(logBuffer), view: newLiveView(cfg, o.Secrets, func() bool { return ctx.Err() != nil }), level: levels[level], err: o.Err, secrets: o.Secrets}
	if o.Progress > 0 {
		say.screen = ui.NewScreen(o.Err)
		say.err = say.screen
	}
	if say.verbose() {
		say.events.live = say.err
	}
	say.log = slog.New(teeHandler{Handler: slog.NewTextHandler(o.Secrets.Writer(say.events), &slog.HandlerOptions{Level: say.level}), view: say.view})
	for _, text := range o.Notes {
		say.log.Info(text)
	}
	for _, text := range o.Warnings {
		say.log.Warn(text)
	}
	return say
}

// openFile opens the log into its file.
func (say *reporter) openFile(file io.Writer, path string) {
	say.events.openFile(file)
	say.file = path
}

// verbose reports whether log lines also go to the error stream: with -v and -vv, or a level as low.
func (say *reporter) verbose() bool { return say.level < slog.LevelInfo }

// levelEnabled reports whether lines of a level are wanted.
func (say *reporter) levelEnabled(level slog.Level) bool { return say.level <= level }

// print writes a line to the error stream, without secrets and terminal control characters.
func (say *reporter) print(text string) {
	fmt.Fprintln(say.err, terminal.Text(say.secrets.Text(text)))
}

// warn reports a problem that does not stop the run, unless the level allows only errors.
func (say *reporter) warn(text string) {
	if say.levelEnabled(slog.LevelWarn) && !say.verbose() {
		say.print("aiperf: warning: " + text)
	}
	say.log.Warn(text)
}

// note reports something that is not a problem.
func (say *reporter) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if say.levelEnabled(slog.LevelInfo) && !say.verbose() {
		say.print("aiperf: " + text)
	}
	say.log.Info(text)
}

// printAddress reports the address of a server of this process. A token that was drawn is printed on the error stream only, not in the log.
func (say *reporter) printAddress(what, address string, guard *promserver.AccessGuard) {
	say.log.Info(what + ": " + address)
	switch {
	case !say.levelEnabled(slog.LevelInfo):
	case guard.Token == processToken():
		fmt.Fprintln(say.err, terminal.Text("aiperf: "+what+": "+guard.Address(address)))
	default:
		say.print("aiperf: " + what + ": " + address + " (with the token that you gave)")
	}
}

// fail reports why a run has no result.
func (say *reporter) fail(text string) {
	say.print(fmt.Sprintf("error: %s; log: %s", text, say.file))
	say.log.Error(text)
}

// readingPause is the pause between two updates of the progress of reading a file.
const readingPause = 200 * time.Millisecond

// reading shows on a terminal how many rows of a file have been read; done removes the line.
func (say *reporter) reading(path string) (tell func(rows int), done func()) {
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
func (say *reporter) download(file string, done, total int64) {
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
