// Package ui shows a run while it goes on. It reads snapshots and knows nothing of how load is made.
package ui

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// Snapshot is the state of a running phase at one instant.
type Snapshot struct {
	Phase    string
	Sent     int64
	Finished int64 // errors included
	Errors   int64
	InFlight int64
	Requests int64         // requests to send, 0 = not limited by count
	Elapsed  time.Duration // since the phase began
	Duration time.Duration // sending time of the phase, 0 = not limited by time
	Sending  bool          // false once nothing more will be sent (draining)
}

// Share returns how much of the phase is done, 0 to 1; false when nothing limits it.
func (s Snapshot) Share() (float64, bool) {
	share, known := 0.0, false
	if s.Requests > 0 {
		share, known = float64(s.Finished)/float64(s.Requests), true
	}
	if s.Duration > 0 {
		share, known = max(share, s.Elapsed.Seconds()/s.Duration.Seconds()), true
	}
	return min(share, 1), known
}

// Line is the snapshot in one line: phase, share, counts, rate, and what is left. rate is requests finished per second.
func (s Snapshot) Line(rate float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", s.Phase)
	share, known := s.Share()
	if known {
		fmt.Fprintf(&b, " %s %3.0f%%", bar(share, 20), 100*share)
	}
	fmt.Fprintf(&b, "  %d", s.Finished)
	if s.Requests > 0 {
		fmt.Fprintf(&b, "/%d", s.Requests)
	}
	fmt.Fprintf(&b, " done  %.1f/s  %d in flight  %d errors  %s", rate, s.InFlight, s.Errors, s.Elapsed.Round(time.Second))
	switch {
	case !s.Sending:
		b.WriteString("  draining")
	case known && share > 0 && share < 1:
		left := time.Duration(float64(s.Elapsed) * (1 - share) / share)
		fmt.Fprintf(&b, "  ETA %s", left.Round(time.Second))
	}
	return b.String()
}

func bar(share float64, width int) string {
	full := int(share * float64(width))
	return "[" + strings.Repeat("=", full) + strings.Repeat(" ", width-full) + "]"
}

// Progress shows the state of a run until it is stopped.
type Progress struct {
	w    io.Writer
	snap func() (Snapshot, bool) // false: nothing to show yet
	stop chan struct{}
	done chan struct{}
}

// interval is the time between two redraws.
const interval = 200 * time.Millisecond

// Start begins to redraw on w, which should be a terminal, what snap reports.
func Start(w io.Writer, width int, snap func() (Snapshot, bool)) *Progress {
	p := &Progress{w: w, snap: snap, stop: make(chan struct{}), done: make(chan struct{})}
	go p.run(max(width, 20))
	return p
}

// Lines hands say a line now and then, until it is stopped.
func Lines(pause time.Duration, snap func() (Snapshot, bool), say func(line string)) *Progress {
	p := &Progress{snap: snap, stop: make(chan struct{}), done: make(chan struct{})}
	go p.speak(pause, say)
	return p
}

func (p *Progress) speak(pause time.Duration, say func(string)) {
	defer close(p.done)
	tick := time.NewTicker(pause)
	defer tick.Stop()
	rate := meter{keep: 2}
	for {
		select {
		case <-p.stop:
			return
		case <-tick.C:
			if s, ok := p.snap(); ok {
				say(s.Line(rate.add(s)))
			}
		}
	}
}

// Stop ends it; a line that is redrawn is cleared.
func (p *Progress) Stop() {
	close(p.stop)
	<-p.done
}

func (p *Progress) run(width int) {
	defer close(p.done)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	rate := meter{keep: window}
	for {
		select {
		case <-p.stop:
			fmt.Fprint(p.w, "\r\x1b[K")
			return
		case <-tick.C:
			s, ok := p.snap()
			if !ok {
				continue
			}
			line := s.Line(rate.add(s))
			if len(line) >= width {
				line = line[:width-1]
			}
			fmt.Fprintf(p.w, "\r\x1b[K%s", line)
		}
	}
}

// meter averages the rate of finished requests over the last few lines.
type meter struct {
	keep    int // lines that count, this one included
	phase   string
	samples []Snapshot
}

// window is how many redraws the rate is taken over: 3 s.
const window = 15

func (m *meter) add(s Snapshot) float64 {
	if s.Phase != m.phase {
		m.phase, m.samples = s.Phase, m.samples[:0]
	}
	m.samples = append(m.samples, s)
	if len(m.samples) > m.keep {
		m.samples = append(m.samples[:0], m.samples[1:]...)
	}
	first := m.samples[0]
	if len(m.samples) == 1 {
		first = Snapshot{}
	}
	dt := (s.Elapsed - first.Elapsed).Seconds()
	if dt <= 0 {
		return 0
	}
	return float64(s.Finished-first.Finished) / dt
}
