package transport

import (
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/net/http2"

	"aiperf/internal/base/clock"
	"aiperf/internal/wire/capture"
)

// h2stream is one exchange on an HTTP/2 connection: the bytes of its answer, each with the instant of the read that brought it. The connection's
// reading goroutine stores them, the exchange takes them out.
type h2stream struct {
	conn     *h2conn
	firstTCP tcpState // TCP state of the connection when the exchange got the stream

	// Fields of the exchange.
	readState
	moreInRead bool // more bytes of the same read follow those that were returned last
	read       int  // number of the connection's last counted read
	spans      []piece
	nspan      int    // number of spans that were returned
	bytes      []byte // bytes of spans
	nbyte      int    // number of bytes that were returned
	used       int    // bytes returned but not yet added back to the server's window

	padding int // padding bytes not yet added back to the server's window; used only by the connection's reading goroutine

	reader // continued by what stores bytes, or woken when the deadline has moved

	mu           sync.Mutex // guards the fields below
	queue        []piece
	buffer       []byte // bytes of queue
	hasFinalHead bool   // the final head arrived
	interimCount int    // number of interim responses
	ended        bool   // nothing more will be stored
	err          error  // why the stream has ended; nil = the answer is complete
	until        int64  // instant of the deadline; 0 = none
	looks        int    // number of times that the deadline was over and bytes that had arrived were not stored yet
	timer        *time.Timer
	expired      bool // the deadline has passed, and what had arrived by then is stored

	// Guarded by the connection's wmu.
	id        uint32 // 0 = not opened yet
	window    int64  // bytes of content that may be sent
	last      uint64 // the request is sent once the socket has accepted this many bytes of the connection
	stopped   bool   // sending must end
	stopWrite uint64 // number of the connection's write at the time of the stop
	timedOut  bool   // sending was stopped because its time is over
}

// piece is a run of bytes that one read brought for one stream, or the head of its answer.
type piece struct {
	arrival
	marks      []capture.Mark // packets that brought the read; nil = no capture
	n          int            // number of bytes
	end        uint64         // offset in the connection behind the last byte
	moreInRead bool           // more bytes follow in the same read, for any stream
	head       *head
}

func newStream(h *h2conn) *h2stream {
	s := &h2stream{conn: h, reader: newReader(nil)}
	s.realTime, s.sealed, s.pace = h.k.realTime, h.k.sealed, h.k.pace
	s.delays.log = &h.client.delays
	return s
}

// put stores bytes that arrived as p describes. over means that they are the last.
func (s *h2stream) put(b []byte, p piece, over bool) {
	s.mu.Lock()
	switch {
	case s.ended:
	case !s.hasFinalHead:
		s.ended, s.err = true, malformed("Content before the response head")
	case len(s.buffer)+len(b) > 2*h2StreamWindow:
		s.ended, s.err = true, malformed("The server sends more than its flow control window")
	default:
		p.n = len(b)
		s.buffer, s.queue, s.ended = append(s.buffer, b...), append(s.queue, p), over
	}
	s.mu.Unlock()
	s.advance()
}

// hasHead reports whether the final head has arrived.
func (s *h2stream) hasHead() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hasFinalHead
}

// putHead stores the final head.
func (s *h2stream) putHead(p piece) {
	s.mu.Lock()
	if !s.hasFinalHead && !s.ended {
		s.hasFinalHead, s.queue = true, append(s.queue, p)
	}
	s.mu.Unlock()
	s.advance()
}

// interim counts an interim response; false = there are too many.
func (s *h2stream) interim() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interimCount++
	return s.interimCount <= maxInterim
}

// finish records that the answer is complete; p describes how its end arrived.
func (s *h2stream) finish(p piece) {
	s.mu.Lock()
	if !s.ended {
		s.ended, s.queue = true, append(s.queue, p)
	}
	s.mu.Unlock()
	s.advance()
}

// end records that nothing more will arrive although the answer is incomplete.
func (s *h2stream) end(err error) {
	s.mu.Lock()
	if !s.ended {
		s.ended, s.err = true, err
	}
	s.mu.Unlock()
	s.wake()
}

// next returns the next piece, if there is one; io.EOF = the answer is complete.
func (s *h2stream) next() (piece, error) {
	for s.nspan == len(s.spans) {
		ready, err := s.swap()
		if err != nil {
			return piece{}, err
		}
		if !ready {
			s.await()
		}
	}
	p := s.spans[s.nspan]
	if s.isLate(&p) {
		s.tooLate = max(p.since, 1)
		return piece{}, os.ErrDeadlineExceeded
	}
	s.nspan++
	return p, nil
}

// isLate reports whether the deadline has passed and a piece came after it.
func (s *h2stream) isLate(p *piece) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.expired && !p.inTime(s.until)
}

// swap takes everything that was stored and reuses the buffers that the exchange has finished with.
func (s *h2stream) swap() (ready bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(s.queue) > 0:
		s.spans, s.queue, s.nspan = s.queue, s.spans[:0], 0
		s.bytes, s.buffer, s.nbyte = s.buffer, s.bytes[:0], 0
		return true, nil
	case s.ended && s.err == nil:
		return false, io.EOF
	case s.expired:
		return false, os.ErrDeadlineExceeded
	}
	return false, s.err
}

// take copies the instants of a piece into the read state.
func (s *h2stream) take(p piece) {
	floor := s.at
	s.arrival, s.marks, s.readState.end, s.moreInRead = p.arrival, p.marks, p.end, p.moreInRead
	s.at = max(s.at, floor)
	s.user = max(s.user, s.at)
	if p.fills != s.read {
		s.read = p.fills
		s.count()
	}
}

// answerHead waits for the final head.
func (s *h2stream) answerHead() (*head, error) {
	p, err := s.next()
	if err != nil {
		return nil, err
	}
	if s.take(p); p.head == nil {
		return nil, malformed("The stream ended without a response head")
	}
	return p.head, nil
}

// fill implements link.
func (s *h2stream) fill() ([]byte, error) {
	if s.used >= h2StreamWindow/2 {
		s.conn.consumed(s.id, s.used)
		s.used = 0
	}
	p, err := s.next()
	for err == nil && p.n == 0 { // an empty piece marks only the end
		s.take(p)
		p, err = s.next()
	}
	if err != nil {
		return nil, err
	}
	s.take(p)
	b := s.bytes[s.nbyte : s.nbyte+p.n]
	s.nbyte += p.n
	s.used += p.n
	return b, nil
}

// mayHaveMore implements link.
func (s *h2stream) mayHaveMore() bool { return s.moreInRead }

// finished implements link.
func (s *h2stream) finished() bool { return s.conn.k.finished() }

// release implements link. It does nothing, because pieces hold no buffer of the connection.
func (s *h2stream) release() {}

// acknowledge implements link. One acknowledgement mode serves all streams of the connection.
func (s *h2stream) acknowledge() { s.conn.k.quickAck() }

// readBy implements link.
func (s *h2stream) readBy(at int64) {
	s.mu.Lock()
	s.until, s.looks, s.expired = at, 0, false
	wait := time.Duration(at - clock.Now())
	switch {
	case at == 0:
		if s.timer != nil {
			s.timer.Stop()
		}
	case wait > 0:
		s.startTimer(wait)
	case s.hasAll():
		s.expired = true
		if s.timer != nil {
			s.timer.Stop()
		}
	default:
		s.startTimer(lateReads)
	}
	s.mu.Unlock()
	s.wake()
}

// startTimer makes the stream look at its deadline after a time. The caller holds s.mu.
func (s *h2stream) startTimer(wait time.Duration) {
	if s.timer == nil {
		s.timer = time.AfterFunc(wait, s.expire)
		return
	}
	s.timer.Reset(wait)
}

// hasAll reports whether everything that had arrived by the deadline is stored, or was not for so long that it is not waited for. The caller holds s.mu.
func (s *h2stream) hasAll() bool {
	s.looks++
	return s.ended || s.looks > lateLooks || s.conn.k.hasStored(s.until)
}

// expire checks whether the deadline has passed: it may have moved since the timer was set.
func (s *h2stream) expire() {
	s.mu.Lock()
	if late := s.until != 0 && s.until <= clock.Now(); late && !s.expired {
		if s.expired = s.hasAll(); !s.expired {
			s.timer.Reset(lateReads)
		}
	}
	s.mu.Unlock()
	s.wake()
}

// interrupt implements link. What has arrived so far counts.
func (s *h2stream) interrupt() {
	s.readBy(clock.Now())
	s.conn.stop(s)
}

// close gives the stream up. If the server is still working on it, it gets a RST_STREAM.
func (s *h2stream) close(sent bool) {
	s.mu.Lock()
	if s.timer != nil {
		s.timer.Stop()
	}
	answered := s.ended && s.err == nil
	s.ended = true
	s.mu.Unlock()
	if s.id != 0 && !(answered && sent) {
		_ = s.conn.resetStream(s.id, http2.ErrCodeCancel) // a connection that has ended needs no notice
	}
	s.conn.forget(s)
	s.conn.leave(s.id)
}

// reading implements link.
func (s *h2stream) reading(j readJob) { s.start(j) }
