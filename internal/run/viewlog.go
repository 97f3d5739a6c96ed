package run

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"aiperf/internal/metric"
	"aiperf/internal/terminal"
	"aiperf/internal/ui/board"
)

// Bounds of the log that is shown.
const (
	keptLines  = 2000
	keptLetter = 500
)

// line takes one line of the log.
func (v *liveView) line(at time.Time, level board.Level, text string) {
	text = terminal.Line(v.secrets.Text(text))
	if r := []rune(text); len(r) > keptLetter {
		text = string(r[:keptLetter]) + "…"
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.log) >= 2*keptLines { // what is shown shares the array: it is never written to again
		v.log = append([]board.Line(nil), v.log[len(v.log)-keptLines:]...)
	}
	v.told++
	v.log = append(v.log, board.Line{At: at, Level: level, Text: text})
}

// whole is the log as text.
func (v *liveView) whole() string {
	v.mu.Lock()
	lines := v.log
	v.mu.Unlock()
	return board.LogText(lines[max(0, len(lines)-keptLines):])
}

// errorLines bounds the lines that failed requests get in the log that is shown.
type errorLines struct {
	second int64
	n      int
}

// mostErrorLines is how many failed requests of one second are told of, one by one.
const mostErrorLines = 4

// failed tells of a failed request.
func (v *liveView) failed(row *metric.Row) {
	e := row.Err
	v.mu.Lock()
	if second := row.End / 1e9; second != v.errors.second {
		v.errors = errorLines{second: second}
	}
	v.errors.n++
	tell := v.errors.n <= mostErrorLines
	v.mu.Unlock()
	if !tell {
		return
	}
	code := ""
	if e.Code != 0 {
		code = fmt.Sprintf("%d ", e.Code)
	}
	v.line(time.Unix(0, row.End), board.Warning, fmt.Sprintf("%s%s: %s (%s)", code, e.Type, e.Said(), row.Meta.ConversationID))
}

// tee is the handler of the log that also tells the view.
type tee struct {
	slog.Handler
	view *liveView
	with string
}

// Handle implements slog.Handler.
func (t tee) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelInfo {
		level := board.Info
		switch {
		case r.Level >= slog.LevelError:
			level = board.Error
		case r.Level >= slog.LevelWarn:
			level = board.Warning
		}
		text := r.Message + t.with
		r.Attrs(func(a slog.Attr) bool {
			text += " " + a.Key + "=" + a.Value.String()
			return true
		})
		t.view.line(r.Time, level, text)
	}
	return t.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (t tee) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		t.with += " " + a.Key + "=" + a.Value.String()
	}
	t.Handler = t.Handler.WithAttrs(attrs)
	return t
}

// WithGroup implements slog.Handler.
func (t tee) WithGroup(name string) slog.Handler {
	t.Handler = t.Handler.WithGroup(name)
	return t
}
