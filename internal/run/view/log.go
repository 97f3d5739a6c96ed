package view

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"aiperf/internal/base/terminal"
	"aiperf/internal/measure/metric"
	"aiperf/internal/report/ui/liveview"
)

// Limits of the log that is shown.
const (
	maxLogLines   = 2000
	maxLineLength = 500
)

// line adds one line to the log.
func (v *View) line(at time.Time, level liveview.Level, text string) {
	text = terminal.Line(v.secrets.Text(text))
	if r := []rune(text); len(r) > maxLineLength {
		text = string(r[:maxLineLength]) + "…"
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.log) >= 2*maxLogLines { // the views share the array, so it is never written to again
		v.log = append([]liveview.Line(nil), v.log[len(v.log)-maxLogLines:]...)
	}
	v.logged++
	v.log = append(v.log, liveview.Line{At: at, Level: level, Text: text})
}

// whole returns the log as text.
func (v *View) whole() string {
	v.mu.Lock()
	lines := v.log
	v.mu.Unlock()
	return liveview.LogText(lines[max(0, len(lines)-maxLogLines):])
}

// errorLines limits the lines about failed requests in the log that is shown. The first failure of each kind is shown at once, later ones are counted.
type errorLines struct {
	kinds map[string]*errorLine
}

// errorLine is the state of one kind of error.
type errorLine struct {
	shown int64 // instant of the last line, wall ns
	more  int64 // failures since then
}

// Limits of these lines: the pause between two lines of one kind, and the number of kinds. It is limited because servers put ids and times into their
// messages.
const (
	errorPause = 5 * time.Second
	errorKinds = 50
)

// count counts a failure. tell is true if it is time for a line; more is the number of failures since the last line.
func (e *errorLines) count(kind string, at int64) (more int64, tell bool) {
	if e.kinds == nil {
		e.kinds = map[string]*errorLine{}
	}
	one := e.kinds[kind]
	if one == nil && len(e.kinds) >= errorKinds {
		kind = ""
		one = e.kinds[kind]
	}
	switch {
	case one == nil:
		e.kinds[kind] = &errorLine{shown: at}
		return 0, true
	case at-one.shown < int64(errorPause):
		one.more++
		return 0, false
	}
	more = one.more
	one.shown, one.more = at, 0
	return more, true
}

// failed adds a line about a failed request, if it is time for one.
func (v *View) failed(row *metric.Row) {
	e := row.Err
	kind := e.Type + ": " + e.Reason()
	if e.Code != 0 {
		kind = fmt.Sprintf("%d %s", e.Code, kind)
	}
	v.mu.Lock()
	more, tell := v.errors.count(kind, row.End)
	v.mu.Unlock()
	if !tell {
		return
	}
	about := row.Meta.ConversationID
	if more > 0 {
		about += fmt.Sprintf("; %d more since the last line", more)
	}
	v.line(time.Unix(0, row.End), liveview.Warning, fmt.Sprintf("%s (%s)", kind, about))
}

// teeHandler is the handler of the log that also passes the lines to the view.
type teeHandler struct {
	slog.Handler
	view *View
	with string
}

// Handle implements slog.Handler.
func (t teeHandler) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelInfo {
		level := liveview.Info
		switch {
		case r.Level >= slog.LevelError:
			level = liveview.Error
		case r.Level >= slog.LevelWarn:
			level = liveview.Warning
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
func (t teeHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		t.with += " " + a.Key + "=" + a.Value.String()
	}
	t.Handler = t.Handler.WithAttrs(attrs)
	return t
}

// WithGroup implements slog.Handler.
func (t teeHandler) WithGroup(name string) slog.Handler {
	t.Handler = t.Handler.WithGroup(name)
	return t
}

// LogHandler returns a handler of the log that also passes its lines to the view.
func (v *View) LogHandler(h slog.Handler) slog.Handler { return teeHandler{Handler: h, view: v} }
