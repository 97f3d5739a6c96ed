package ui

import (
	"io"
	"sync"

	"aiperf/internal/terminal"
)

// Screen is a terminal with a live line at its end: other text clears the line first, and the next redraw puts it below. Its methods may be
// called by several goroutines.
type Screen struct {
	mu    sync.Mutex
	w     io.Writer
	drawn bool
}

// NewScreen returns a screen on a terminal.
func NewScreen(w io.Writer) *Screen { return &Screen{w: w} }

// Write writes text that stays.
func (s *Screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	return s.w.Write(text)
}

// Draw writes the live line over the last one. A terminal that is gone is no reason to stop.
func (s *Screen) Draw(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = terminal.Redraw(s.w, line)
	s.drawn = true
}

// Clear takes the live line away.
func (s *Screen) Clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
}

func (s *Screen) erase() {
	if s.drawn {
		_ = terminal.Redraw(s.w, "")
		s.drawn = false
	}
}
