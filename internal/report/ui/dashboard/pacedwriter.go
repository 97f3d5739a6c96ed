package dashboard

import (
	"os"
	"sync"
	"time"
)

// slowWrite is the longest time of a frame on a line that is fast enough.
const slowWrite = 50 * time.Millisecond

// writePatience is how long a write waits for the terminal. Keys are handled between frames, so a terminal that does not read may not block a frame.
const writePatience = 250 * time.Millisecond

// pacedWriter writes to the terminal and measures the time of the last frame. The first write waits for ready.
type pacedWriter struct {
	*os.File
	ready func()

	mu     sync.Mutex
	unread []byte        // accepted, not written yet
	idle   chan struct{} // closed when all is written
	took   time.Duration // of the last Write, at most writePatience
	late   bool          // the last Write returned before all was written
	err    error         // of the terminal
}

func newPacedWriter(out *os.File) *pacedWriter {
	idle := make(chan struct{})
	close(idle)
	return &pacedWriter{File: out, idle: idle}
}

// Write implements io.Writer. It returns when the bytes are written, or after writePatience; then they follow in their order.
func (p *pacedWriter) Write(b []byte) (int, error) {
	from := time.Now()
	written := waitFor(p.add(b), writePatience)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.took, p.late = time.Since(from), !written
	if p.err != nil {
		return 0, p.err
	}
	return len(b), nil
}

// add appends bytes to those that wait. It returns what is closed when all are written.
func (p *pacedWriter) add(b []byte) (idle <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unread = append(p.unread, b...)
	select {
	case <-p.idle:
		p.idle = make(chan struct{})
		go p.pass(p.idle)
	default:
	}
	return p.idle
}

// pass writes what waits, and closes idle.
func (p *pacedWriter) pass(idle chan struct{}) {
	p.ready()
	for {
		p.mu.Lock()
		list := p.unread
		p.unread = nil
		if len(list) == 0 || p.err != nil {
			close(idle)
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
		if _, err := p.File.Write(list); err != nil {
			p.mu.Lock()
			p.err = err
			p.mu.Unlock()
		}
	}
}

// drained waits until all is written, at most some time, and reports whether it is.
func (p *pacedWriter) drained(most time.Duration) bool {
	p.mu.Lock()
	idle := p.idle
	p.mu.Unlock()
	return waitFor(idle, most)
}

// waitFor waits until a channel is closed, at most some time, and reports whether it is.
func waitFor(closed <-chan struct{}, most time.Duration) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-closed:
	case <-timer.C:
	}
	select {
	case <-closed: // perhaps at the same time
		return true
	default:
		return false
	}
}

// behind reports whether the terminal has not read what was written before. Further frames would only wait, and it would have to read them all.
func (p *pacedWriter) behind() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.idle:
		return false
	default:
		return p.late
	}
}

// slow reports whether the line is slow.
func (p *pacedWriter) slow() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.took > slowWrite
}
