package run

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"aiperf/internal/config"
	"aiperf/internal/hub"
	"aiperf/internal/redact"
	"aiperf/internal/telemetry/live"
	"aiperf/internal/terminal"
	"aiperf/internal/ui"
)

// reporter tells the user what a run has to say: in its log, and on the error stream what is worth a line there.
type reporter struct {
	log     *slog.Logger
	events  *events         // where the log goes
	level   slog.Level      // what is below it is not told
	err     io.Writer       // the error stream
	screen  *ui.Screen      // the error stream, where it shows the live line; nil = it shows none
	secrets *redact.Secrets // nothing that is told shows them
	view    *liveView       // what is shown of the run
	file    string          // the log's path; "" = it has none yet

	mu        sync.Mutex
	downloads map[string]time.Time // files on their way -> when they were told of last
}

// newReporter begins the log of a run at a level of --log-level with what the user was told before.
func newReporter(ctx context.Context, level string, o *Options, cfg *config.Benchmark) *reporter {
	say := &reporter{events: new(events), view: newView(cfg, o.Secrets, func() bool { return ctx.Err() != nil }), level: levels[level], err: o.Err, secrets: o.Secrets}
	if o.Progress > 0 {
		say.screen = ui.NewScreen(o.Err)
		say.err = say.screen
	}
	if say.verbose() {
		say.events.live = say.err
	}
	say.log = slog.New(tee{Handler: slog.NewTextHandler(o.Secrets.Writer(say.events), &slog.HandlerOptions{Level: say.level}), view: say.view})
	for _, text := range o.Notes {
		say.log.Info(text)
	}
	for _, text := range o.Warnings {
		say.log.Warn(text)
	}
	return say
}

// into gives the log its file.
func (say *reporter) into(file io.Writer, path string) {
	say.events.into(file)
	say.file = path
}

// verbose tells whether the error stream gets the lines of the log: -v and -vv, or a level like theirs.
func (say *reporter) verbose() bool { return say.level < slog.LevelInfo }

// levelEnabled tells whether lines of a level are wanted.
func (say *reporter) levelEnabled(level slog.Level) bool { return say.level <= level }

// tell writes a line on the error stream, without secrets and without what steers a terminal.
func (say *reporter) tell(text string) {
	fmt.Fprintln(say.err, terminal.Text(say.secrets.Text(text)))
}

// warn tells the user something that does not stop the run, unless the level lets only errors through.
func (say *reporter) warn(text string) {
	if say.levelEnabled(slog.LevelWarn) && !say.verbose() {
		say.tell("aiperf: warning: " + text)
	}
	say.log.Warn(text)
}

// note tells the user something that is no reason to worry.
func (say *reporter) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if say.levelEnabled(slog.LevelInfo) && !say.verbose() {
		say.tell("aiperf: " + text)
	}
	say.log.Info(text)
}

// entrance tells the user where a server is. The token, if nobody has chosen it, goes to the error stream alone.
func (say *reporter) entrance(what, address string, guard *live.Guard) {
	say.log.Info(what + ": " + address)
	switch {
	case !say.levelEnabled(slog.LevelInfo):
	case guard.Token == processToken():
		fmt.Fprintln(say.err, terminal.Text("aiperf: "+what+": "+guard.Address(address)))
	default:
		say.tell("aiperf: " + what + ": " + address + " (with the token that you gave)")
	}
}

// fail tells the user why a run gives no result.
func (say *reporter) fail(text string) {
	say.tell(fmt.Sprintf("error: %s; log: %s", text, say.file))
	say.log.Error(text)
}

// tellReading is the pause between two drawings of how far a file is.
const tellReading = 200 * time.Millisecond

// reading shows, at a terminal, how many rows of a file were read; done takes the line away.
func (say *reporter) reading(path string) (tell func(rows int), done func()) {
	if say.screen == nil {
		return nil, func() {}
	}
	last := time.Now()
	return func(rows int) {
		if now := time.Now(); now.Sub(last) >= tellReading {
			last = now
			say.screen.Draw(terminal.Line(say.secrets.Text(fmt.Sprintf("%d rows read of %s", rows, path))))
		}
	}, say.screen.Clear
}

// tellDownload is the pause between two words about a file that takes long to come.
const tellDownload = 5 * time.Second

// download tells when a file of a tokenizer or dataset begins to come, how far it is, and when it is there.
func (say *reporter) download(file string, done, total int64) {
	say.mu.Lock()
	last, known := say.downloads[file]
	whole := done == total
	told := !known || whole || time.Since(last) >= tellDownload
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
		say.note("downloaded %s (%s)", file, hub.Size(total))
	case !known && total > 0 && done > 0:
		say.note("downloading %s (%s), going on after %s", file, hub.Size(total), hub.Size(done))
	case !known && total > 0:
		say.note("downloading %s (%s)", file, hub.Size(total))
	case !known:
		say.note("downloading %s", file)
	case total > 0:
		say.note("downloading %s: %s of %s", file, hub.Size(done), hub.Size(total))
	default:
		say.note("downloading %s: %s", file, hub.Size(done))
	}
}
