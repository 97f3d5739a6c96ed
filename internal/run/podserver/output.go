package podserver

import (
	"context"
	"io"
	"sync"
	"time"
)

// keptOutput is how much of the output of a run is kept for readers, bytes.
const keptOutput = 8 << 20

// output is what a run has written so far. Readers name the byte at which they continue.
type output struct {
	mu      sync.Mutex
	text    []byte
	start   int64         // number of the first byte of text
	more    chan struct{} // closed when there is more, or no more will come
	closed  bool
	forward io.Writer
}

func newOutput(forward io.Writer) *output {
	return &output{more: make(chan struct{}), forward: forward}
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, p...)
	if cut := len(o.text) - keptOutput; cut > keptOutput/8 {
		o.text = append([]byte(nil), o.text[cut:]...)
		o.start += int64(cut)
	}
	close(o.more)
	o.more = make(chan struct{})
	return o.forward.Write(p)
}

// close says that no more will come.
func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	close(o.more)
	o.more = make(chan struct{})
}

// read returns what follows byte from, and the number of its first byte, which is larger if the beginning is not kept any more. It waits for something
// to follow, at most for wait.
func (o *output) read(ctx context.Context, from int64, wait time.Duration) (text []byte, first int64) {
	late := time.NewTimer(wait)
	defer late.Stop()
	for {
		o.mu.Lock()
		end := o.start + int64(len(o.text))
		first = min(max(from, o.start), end)
		text = append([]byte(nil), o.text[first-o.start:]...)
		closed, more := o.closed, o.more
		o.mu.Unlock()
		if len(text) > 0 || closed {
			return text, first
		}
		select {
		case <-more:
		case <-late.C:
			return nil, first
		case <-ctx.Done():
			return nil, first
		}
	}
}

// size returns the number of bytes written so far.
func (o *output) size() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.start + int64(len(o.text))
}
