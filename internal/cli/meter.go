package cli

import (
	"fmt"
	"time"

	"aiperf/internal/terminal"
	"aiperf/internal/ui"
)

// meterPause is the pause between two drawings of a live line.
const meterPause = 200 * time.Millisecond

// meter is a live line that tells how far long work is. Where the error stream is no terminal it says nothing.
type meter struct {
	screen *ui.Screen // nil = there is no terminal
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

// tick counts one more.
func (m *meter) tick() { m.reach(m.n + 1) }

// reach says that n are done.
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

// done takes the line away.
func (m *meter) done() {
	if m.screen != nil {
		m.screen.Clear()
	}
}
