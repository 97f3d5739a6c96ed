package cli

import (
	"io"
	"sync/atomic"
)

// signalTexts replaces the messages about the first and the second signal where they do not describe a run of this process.
type signalTexts struct {
	out           io.Writer
	first, second string
	count         atomic.Int32
}

// Write implements io.Writer. It replaces what it is given.
func (s *signalTexts) Write(b []byte) (int, error) {
	text := s.first
	if s.count.Add(1) > 1 {
		text = s.second
	}
	_, err := io.WriteString(s.out, "\naiperf: "+text+"\n")
	return len(b), err
}
