// Package ui shows a run while it goes on. It reads snapshots and knows nothing of how load is made.
package ui

import "time"

// Progress shows the state of a run until it is stopped.
type Progress struct {
	w    *Screen
	snap func() (Snapshot, bool) // false: nothing to show yet
	stop chan struct{}
	done chan struct{}
}

// interval is the time between two redraws.
const interval = 200 * time.Millisecond

// Start begins to redraw on a terminal of so many columns what snap reports.
func Start(w *Screen, width int, snap func() (Snapshot, bool)) *Progress {
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
				say(s.Line(rate.add(s), 0))
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
			p.w.Clear()
			return
		case <-tick.C:
			s, ok := p.snap()
			if !ok {
				continue
			}
			p.w.Draw(s.Line(rate.add(s), width))
		}
	}
}

// meter averages the rates over the last few lines.
type meter struct {
	keep    int // lines that count, this one included
	phase   string
	samples []Snapshot
}

// window is how many redraws the rate is taken over: 3 s.
const window = 15

func (m *meter) add(s Snapshot) Rates {
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
		return Rates{}
	}
	return Rates{Requests: float64(s.Finished-first.Finished) / dt, Tokens: float64(s.Tokens-first.Tokens) / dt}
}
