package cli

import (
	"fmt"
	"time"

	"aiperf/internal/base/terminal"
	"aiperf/internal/report/ui"
)

// meterPause is the pause between two updates of a live line.
const meterPause = 200 * time.Millisecond

// meter shows the progress of long work in a live line. It shows nothing if the error stream is not a terminal.
type meter struct {
	screen *ui.Screen // nil = no terminal
	width  int
	what   string // "analyze-trace"
	unit   string // "rows read"
	n      int
	last   time.Time
}

func (p *Program) newMeter(what, unit string) *meter {
	m := &meter{what: what, unit: unit, width: p.Progress, last: time.Now()}
	if p.Progress > 0 {
		m.screen = ui.NewScreen(p.Err)
	}
	return m
}

// tick counts one more item.
func (m *meter) tick() { m.reach(m.n + 1) }

// reach sets the number of finished items.
func (m *meter) reach(n int) {
	m.n = n
	if m.screen == nil {
		return
	}
	if now := time.Now(); now.Sub(m.last) >= meterPause {
		m.last = now
		m.screen.Draw(terminal.Shorten(fmt.Sprintf("%s: %s %s", m.what, thousands(float64(n), 0), m.unit), m.width-1))
	}
}

// done removes the line.
func (m *meter) done() {
	if m.screen != nil {
		m.screen.Clear()
	}
}
