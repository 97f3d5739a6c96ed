package ui

import (
	"io"
	"sync"

	"aiperf/internal/base/terminal"
)

// Screen is a terminal with a live line at its end. Other text clears the line first, and the next redraw puts it below. Several goroutines may call
// its methods.
type Screen struct {
	mu    sync.Mutex
	w     io.Writer
	drawn bool
}

// NewScreen returns a screen on a terminal.
func NewScreen(w io.Writer) *Screen { return &Screen{w: w} }

// Write writes permanent text.
func (s *Screen) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	return s.w.Write(text)
}

// Draw replaces the live line. Errors of the terminal are ignored.
func (s *Screen) Draw(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = terminal.Redraw(s.w, line)
	s.drawn = true
}

// Clear removes the live line.
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
