package transport

import (
	"encoding/binary"
	"errors"
	"os"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// h2Backlog is how many bytes may wait for the socket before request bodies have to wait as well.
const h2Backlog = 1 << 20

// h2writer is the sending half of an HTTP/2 connection. Frames queue in the connection's buffer in the order of their streams. The socket gets at
// once what it accepts; a separate goroutine writes the rest, so that senders need not wait.
type h2writer struct {
	k        *conn
	wmu      sync.Mutex // guards the fields below and keeps the order of frames
	progress *sync.Cond // signals that more was written, a window grew, or the connection has ended
	frames   *http2.Framer
	queue    frameBuffer // of queued frames

	nextID      uint32
	window      int64 // bytes of content that the connection may send
	initial     int64 // initial window of a new stream, in bytes
	open        map[uint32]*h2stream
	pending     int    // bytes received but not yet added back to the server's window
	written     uint64 // bytes that the socket has accepted
	flushing    bool   // the writing goroutine is running
	rounds      uint64 // number of its finished writes
	interrupted bool   // its current write was interrupted
	closed      error

	replies replyQueue
}

// frameBuffer is the output of the framer.
type frameBuffer struct{ b []byte }

// Write implements io.Writer.
func (f *frameBuffer) Write(p []byte) (int, error) {
	f.b = append(f.b, p...)
	return len(p), nil
}

func (w *h2writer) init(k *conn) {
	w.k, w.nextID, w.window, w.initial = k, 1, h2FirstWindow, h2FirstWindow
	w.progress = sync.NewCond(&w.wmu)
	w.open = map[uint32]*h2stream{}
	w.frames = http2.NewFramer(&w.queue, nil)
}

// preface sends the connection preface (RFC 9113, section 3.4).
func (w *h2writer) preface() error {
	return w.writeControl(func(f *http2.Framer) error {
		w.queue.b = append(w.queue.b, http2.ClientPreface...)
		err := f.WriteSettings(
			http2.Setting{ID: http2.SettingEnablePush, Val: 0},
			http2.Setting{ID: http2.SettingInitialWindowSize, Val: h2StreamWindow},
			http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: maxHead},
		)
		return errors.Join(err, f.WriteWindowUpdate(0, h2ConnWindow-h2FirstWindow))
	})
}

// writeControl writes frames that belong to the connection.
func (w *h2writer) writeControl(frames func(f *http2.Framer) error) error {
	w.wmu.Lock()
	defer w.wmu.Unlock()
	if w.closed != nil {
		return w.closed
	}
	w.queue.b = w.queue.b[:0]
	if err := frames(w.frames); err != nil {
		return err
	}
	return w.write(w.queue.b)
}

func (w *h2writer) goAway(code http2.ErrCode) error {
	return w.writeControl(func(f *http2.Framer) error { return f.WriteGoAway(0, code, nil) })
}

func (w *h2writer) resetStream(id uint32, code http2.ErrCode) error {
	return w.writeControl(func(f *http2.Framer) error { return f.WriteRSTStream(id, code) })
}

// received adds received bytes back to the server's window, in larger steps.
func (w *h2writer) received(n int) error {
	if w.pending += n; w.pending < h2ConnWindow/2 { // called only by the reading goroutine
		return nil
	}
	n, w.pending = w.pending, 0
	return w.writeControl(func(f *http2.Framer) error { return f.WriteWindowUpdate(0, uint32(n)) })
}

// consumed adds received bytes back to the window of a stream.
func (w *h2writer) consumed(id uint32, n int) {
	_ = w.writeControl(func(f *http2.Framer) error { return f.WriteWindowUpdate(id, uint32(n)) }) // the stream's reader notices when the connection has ended
}

// write queues bytes and passes the socket what it accepts. The caller holds w.wmu.
func (w *h2writer) write(b []byte) error {
	if w.k.tls != nil {
		if err := w.k.encrypt(b); err != nil {
			return err
		}
	} else {
		w.k.outMu.Lock()
		w.k.out = append(w.k.out, b...)
		w.k.outMu.Unlock()
	}
	return w.flush()
}

// unwritten returns the bytes that the socket has not accepted yet.
func (w *h2writer) unwritten() []byte {
	w.k.outMu.Lock()
	defer w.k.outMu.Unlock()
	return w.k.out
}

func (w *h2writer) backlog() int { return len(w.unwritten()) }

// recordSent records that the socket accepted n more bytes. The caller holds w.wmu.
func (w *h2writer) recordSent(n int) {
	w.k.outMu.Lock()
	if w.k.out = w.k.out[n:]; len(w.k.out) == 0 {
		w.k.out = nil
	}
	w.k.outMu.Unlock()
	w.written += uint64(n)
}

// flush passes the socket what it accepts at once, and starts a goroutine for the rest. The caller holds w.wmu.
func (w *h2writer) flush() error {
	if w.flushing {
		return nil
	}
	for rest := w.unwritten(); len(rest) > 0; rest = w.unwritten() {
		n, err := w.k.tryWrite(rest)
		w.recordSent(max(n, 0))
		if err != nil {
			return err
		}
		if n < len(rest) {
			w.flushing = true
			go w.flushRest()
			return nil
		}
	}
	return nil
}

// flushRest writes until nothing waits for the socket. If stop interrupted a write, the next one continues after what the socket had accepted.
func (w *h2writer) flushRest() {
	w.wmu.Lock()
	defer w.wmu.Unlock()
	for rest := w.unwritten(); len(rest) > 0 && w.closed == nil; rest = w.unwritten() {
		w.wmu.Unlock()
		n, err := w.k.socket.Write(rest[:min(len(rest), 256<<10)])
		w.wmu.Lock()
		w.recordSent(n)
		w.rounds++
		if w.interrupted {
			w.interrupted = false
			_ = w.k.socket.SetWriteDeadline(time.Time{}) // fails only on a closed socket, where the next write fails too
			if isTimeout(err) {
				err = nil
			}
		}
		if err != nil {
			w.closed = err
			w.k.interrupt() // makes the reading goroutine end the connection
		}
		w.progress.Broadcast()
	}
	w.flushing = false
}

// wakeWaiters wakes everything that waits to write on a connection that has ended.
func (w *h2writer) wakeWaiters(err error) {
	w.wmu.Lock()
	defer w.wmu.Unlock()
	if w.closed == nil {
		w.closed = err
	}
	w.progress.Broadcast()
}

// grow raises the send window of a stream, or with id 0 of the connection. false = the window would exceed its maximum (RFC 9113, section 6.9.1).
func (w *h2writer) grow(id uint32, by int64) bool {
	w.wmu.Lock()
	defer w.wmu.Unlock()
	defer w.progress.Broadcast()
	if id == 0 {
		w.window += by
		return w.window <= h2MaxID
	}
	if s := w.open[id]; s != nil {
		s.window += by
		return s.window <= h2MaxID
	}
	return true
}

// resize sets the initial window of new streams and shifts that of open ones (RFC 9113, section 6.9.2).
func (w *h2writer) resize(to int64) bool {
	w.wmu.Lock()
	defer w.wmu.Unlock()
	defer w.progress.Broadcast()
	for _, s := range w.open {
		if s.window += to - w.initial; s.window > h2MaxID {
			return false
		}
	}
	w.initial = to
	return true
}

// begin opens a stream with the frames of a request: its headers, and all of its body if that is small. Frames for which the windows have no room are
// left to sendBody. whole reports whether everything was queued.
func (w *h2writer) begin(s *h2stream, frames []byte, headers, body int) (whole bool, err error) {
	w.wmu.Lock()
	defer w.wmu.Unlock()
	if w.closed != nil || w.nextID > h2MaxID || !s.conn.register(w.nextID, s) {
		return false, errStale
	}
	s.id, s.window = w.nextID, w.initial
	w.nextID += 2
	w.open[s.id] = s
	if whole = len(frames) > headers || body == 0; whole && int64(body) > min(w.window, s.window) {
		frames, whole = frames[:headers], false
	}
	if whole {
		w.window -= int64(body)
		s.window -= int64(body)
	}
	renumber(frames, s.id)
	err = w.write(frames)
	s.last = w.written + uint64(w.backlog())
	return whole, err
}

// sentWhole reports whether the socket has accepted all of a request.
func (w *h2writer) sentWhole(s *h2stream) bool {
	w.wmu.Lock()
	defer w.wmu.Unlock()
	return w.written >= s.last
}

// renumber sets the stream id of frames.
func renumber(frames []byte, id uint32) {
	for len(frames) >= frameHead {
		size := int(frames[0])<<16 | int(frames[1])<<8 | int(frames[2])
		binary.BigEndian.PutUint32(frames[5:], id)
		frames = frames[frameHead+size:]
	}
}

// frameHead is the length of a frame header (RFC 9113, section 4.1).
const frameHead = 9

// sendBody sends a body as the windows permit, and waits until the socket has accepted all of it. stop ends the wait.
func (w *h2writer) sendBody(s *h2stream, ranges [][]byte) error {
	w.wmu.Lock()
	defer w.wmu.Unlock()
	left := 0
	for _, r := range ranges {
		left += len(r)
	}
	for _, r := range ranges {
		for len(r) > 0 {
			n, err := w.room(s, min(len(r), h2MaxFrame))
			if err != nil {
				return err
			}
			w.queue.b = w.queue.b[:0]
			left -= n
			if err := w.frames.WriteData(s.id, left == 0, r[:n]); err != nil {
				return err
			}
			if err := w.write(w.queue.b); err != nil {
				return err
			}
			r = r[n:]
		}
	}
	if len(ranges) > 0 {
		s.last = w.written + uint64(w.backlog())
	}
	for w.written < s.last {
		if err := w.wait(s); err != nil && w.written < s.last {
			return err
		}
	}
	return nil
}

// room takes up to want bytes from the windows, and waits while they are empty. The caller holds w.wmu.
func (w *h2writer) room(s *h2stream, want int) (int, error) {
	for min(w.window, s.window) <= 0 || w.backlog() > h2Backlog {
		if err := w.wait(s); err != nil {
			return 0, err
		}
	}
	n := min(int64(want), w.window, s.window)
	w.window -= n
	s.window -= n
	return int(n), nil
}

// errStopped reports that the sending of a request ended early, because it was answered or given up.
var errStopped = errors.New("sending was stopped")

// wait waits until something has changed. The caller holds w.wmu.
func (w *h2writer) wait(s *h2stream) error {
	if w.closed == nil && !w.stopKnown(s) && !s.timedOut {
		w.progress.Wait()
	}
	switch {
	case w.stopKnown(s):
		return errStopped
	case s.timedOut:
		return os.ErrDeadlineExceeded
	}
	return w.closed
}

// stop ends the sending of a stream. The answer may be complete before the writing goroutine has recorded that the socket accepted the request. So
// stop interrupts a running write first, and what that write sent still counts.
func (w *h2writer) stop(s *h2stream) {
	w.wmu.Lock()
	s.stopped, s.stopWrite = true, w.rounds
	if w.flushing {
		w.interrupted = true
		_ = w.k.socket.SetWriteDeadline(expired) // fails only on a closed socket, where the write ends by itself
	}
	w.progress.Broadcast()
	w.wmu.Unlock()
}

// stopKnown reports whether it is known if a stopped stream was sent completely. The caller holds w.wmu.
func (w *h2writer) stopKnown(s *h2stream) bool {
	return s.stopped && (!w.flushing || w.rounds != s.stopWrite)
}

// sendBy ends the sending of a stream at an instant.
func (w *h2writer) sendBy(s *h2stream, at time.Time) *time.Timer {
	return time.AfterFunc(time.Until(at), func() {
		w.wmu.Lock()
		s.timedOut = true
		w.progress.Broadcast()
		w.wmu.Unlock()
	})
}

// forget removes a stream that has ended.
func (w *h2writer) forget(s *h2stream) {
	w.wmu.Lock()
	delete(w.open, s.id)
	w.wmu.Unlock()
}
