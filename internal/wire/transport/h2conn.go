package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"sync"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"aiperf/internal/wire/capture"
)

// Flow control of received data (RFC 9113, section 5.2). The window of a stream is how much its reader may lag behind. The window of the connection
// is large enough that a server never waits for it.
const (
	h2StreamWindow = 8 << 20
	h2ConnWindow   = 1 << 30
	h2FirstWindow  = 65535   // of a connection, and of a stream until the settings say otherwise
	h2PaddingShare = 1 << 20 // part of a stream's window that padding may use
)

// h2MaxFrame is the largest frame that either side sends. Every peer must accept this size (RFC 9113, section 4.2). Small frames keep streams from
// delaying each other.
const h2MaxFrame = 16 << 10

// h2MaxID is the largest stream id of a connection.
const h2MaxID = math.MaxInt32

// h2FewStreams is the number of streams that a server is assumed to allow until it announces its limit.
const h2FewStreams = 100

// h2conn is an HTTP/2 connection. One job reads its frames and passes each stream its bytes, together with the instants of the reads that
// brought them. The senders write directly; a separate goroutine writes what the socket does not accept at once.
type h2conn struct {
	client *Client
	k      *conn
	frames *http2.Framer  // of received frames
	unread []byte         // bytes that were read but belong to no parsed frame yet
	marks  []capture.Mark // packets that brought them; nil = no capture
	ended  chan struct{}  // closed when nothing reads any more
	failed error          // why reading ended; only what reads uses it
	ready  chan struct{}  // closed when the server's settings have arrived

	mu          sync.Mutex // guards the fields below
	streams     map[uint32]*h2stream
	users       int // exchanges that have a stream or are about to open one
	maxStreams  int // number of streams that the server allows
	hasSettings bool
	draining    bool  // accepts no more streams
	retired     bool  // ends with its last stream
	err         error // why the connection has ended
	idle        int64 // instant since which it has no users

	h2writer
}

// openHTTP2 starts HTTP/2 on a connection and waits for the server's settings.
func (c *Client) openHTTP2(ctx context.Context, k *conn) (*h2conn, error) {
	h := &h2conn{client: c, k: k, streams: map[uint32]*h2stream{}, maxStreams: h2FewStreams, ended: make(chan struct{}), ready: make(chan struct{})}
	h.frames = http2.NewFramer(nil, h)
	h.frames.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	h.frames.MaxHeaderListSize = maxHead
	h.frames.SetMaxReadFrameSize(h2MaxFrame)
	h.h2writer.init(k)
	k.delays.log = nil // each stream records its own delays
	err := h.preface()
	go h.k.reading(h)
	if err != nil {
		h.fail(err)
	}
	select {
	case <-h.ready:
		return h, nil
	case <-h.ended:
		if errors.Is(h.err, io.ErrUnexpectedEOF) {
			return nil, malformed("The server closed the connection before HTTP/2 began")
		}
		return nil, h.err
	case <-ctx.Done():
		h.fail(ctx.Err())
		<-h.ended
		return nil, ctx.Err()
	}
}

// read implements readJob: it reads frames until the connection is over.
func (h *h2conn) read() {
	for h.failed == nil {
		h.failed = h.frame()
	}
}

// readOver implements readJob.
func (h *h2conn) readOver() {
	defer close(h.ended)
	if errors.Is(h.failed, io.EOF) {
		h.failed = io.ErrUnexpectedEOF // an answer is never complete just because its connection ended
	}
	h.fail(h.failed)
}

// Read implements the framer's input: everything but the content of answers.
func (h *h2conn) Read(p []byte) (int, error) {
	if err := h.more(); err != nil {
		return 0, err
	}
	n := copy(p, h.unread)
	h.unread = h.unread[n:]
	return n, nil
}

// more reads from the connection if all bytes read so far are consumed.
func (h *h2conn) more() error {
	if len(h.unread) > 0 {
		return nil
	}
	h.k.noteStored()
	got, err := h.k.fill()
	if len(got) == 0 && err == nil {
		err = io.ErrNoProgress
	}
	if len(got) == 0 {
		return err
	}
	if !h.hasSettings && plausible(got) {
		return malformed("The server does not speak HTTP/2: %s", quote(got))
	}
	h.unread = got
	if seen := h.k.flow.Through(capture.Point{End: h.k.end, Read: h.k.realTime.Real(h.k.at)}); len(seen) > 0 {
		h.marks = seen // otherwise the bytes belong to the same TLS record as the previous ones
	}
	return nil
}

// frame reads one frame and processes it.
func (h *h2conn) frame() error {
	fh, err := h.frames.ReadFrameHeader()
	if err != nil {
		return h.describeError(fh, err)
	}
	if !h.hasSettings && fh.Type != http2.FrameSettings {
		return malformed("The server does not speak HTTP/2: its first frame is %v", fh.Type)
	}
	if fh.Type == http2.FrameData {
		return h.data(fh)
	}
	f, err := h.frames.ReadFrameForHeader(fh)
	var one http2.StreamError
	switch {
	case errors.As(err, &one) && one.Cause != nil:
		return h.reset(one.StreamID, one.Code, malformed("Bad HTTP/2 headers: %v", one.Cause))
	case errors.As(err, &one):
		return h.reset(one.StreamID, one.Code, malformed("Bad HTTP/2 frame: %s", frameError(fh, one.Code)))
	case err != nil:
		return h.describeError(fh, err)
	}
	return h.control(f)
}

// frameError describes what is wrong with a frame for which the framer returns only an error code.
func frameError(fh http2.FrameHeader, code http2.ErrCode) string {
	if fh.Type == http2.FrameWindowUpdate && fh.Length == 4 {
		return fmt.Sprintf("WINDOW_UPDATE of 0 bytes on stream %d", fh.StreamID)
	}
	return fmt.Sprintf("%v of %d bytes on stream %d (%v)", fh.Type, fh.Length, fh.StreamID, code)
}

// broken ends a connection on which the server violated the protocol.
func (h *h2conn) broken(code http2.ErrCode, why string) error {
	_ = h.goAway(code) // the connection ends either way
	return malformed("Bad HTTP/2 frame: %s", why)
}

// describeError describes the error of a connection whose peer violated the protocol.
func (h *h2conn) describeError(fh http2.FrameHeader, err error) error {
	var broken http2.ConnectionError
	if errors.As(err, &broken) {
		why := frameError(fh, http2.ErrCode(broken))
		if detail := h.frames.ErrorDetail(); detail != nil {
			why = detail.Error()
		}
		return h.broken(http2.ErrCode(broken), why)
	}
	if errors.Is(err, http2.ErrFrameTooLarge) {
		return malformed("Bad HTTP/2 frame: larger than %d bytes", h2MaxFrame)
	}
	return err
}

// data passes on the content of a DATA frame, piece by piece as it arrives.
func (h *h2conn) data(fh http2.FrameHeader) error {
	left, padding, err := h.padding(fh)
	if err != nil {
		return err
	}
	s, over := h.stream(fh.StreamID), fh.Flags.Has(http2.FlagDataEndStream)
	unused := int(fh.Length) - left + padding // part of the stream's window that was not used
	for left -= padding; left > 0; {
		if err := h.more(); err != nil {
			return err
		}
		n := min(left, len(h.unread))
		b := h.unread[:n]
		h.unread = h.unread[n:]
		if left -= n; s != nil {
			s.put(b, h.arrived(), over && left == 0 && padding == 0)
		}
	}
	for padding > 0 {
		if err := h.more(); err != nil {
			return err
		}
		n := min(padding, len(h.unread))
		h.unread, padding = h.unread[n:], padding-n
	}
	if over && s != nil {
		s.finish(h.arrived())
	}
	if s != nil && !over {
		h.padded(s, unused)
	}
	return h.received(int(fh.Length))
}

// padding reads the length of a frame's padding. left is the number of bytes that follow in the frame: content and padding.
func (h *h2conn) padding(fh http2.FrameHeader) (left, padding int, err error) {
	left = int(fh.Length)
	if fh.StreamID == 0 {
		return 0, 0, h.broken(http2.ErrCodeProtocol, "DATA on stream 0")
	}
	if !fh.Flags.Has(http2.FlagDataPadded) {
		return left, 0, nil
	}
	if left == 0 {
		return 0, 0, h.broken(http2.ErrCodeFrameSize, "DATA with the flag PADDED and a length of 0")
	}
	if err := h.more(); err != nil {
		return 0, 0, err
	}
	padding, h.unread = int(h.unread[0]), h.unread[1:]
	if left--; padding > left {
		return 0, 0, h.broken(http2.ErrCodeProtocol, fmt.Sprintf("DATA with %d bytes of padding in a frame of %d", padding, fh.Length))
	}
	return left, padding, nil
}

// padded returns to the server the part of a stream's window that padding used, in larger steps. The reader of the stream never sees padding, so it
// is returned here.
func (h *h2conn) padded(s *h2stream, n int) {
	if s.padding += n; s.padding >= h2PaddingShare {
		h.consumed(s.id, s.padding)
		s.padding = 0
	}
}

// arrived describes how the bytes that were just taken from unread arrived.
func (h *h2conn) arrived() piece {
	k := h.k
	p := piece{arrival: k.arrival, marks: h.marks, moreInRead: len(h.unread) > 0 || k.mayHaveMore(), end: k.end}
	if !k.sealed {
		p.end -= uint64(len(h.unread))
	}
	return p
}

// control processes a frame without content.
func (h *h2conn) control(f http2.Frame) error {
	switch f := f.(type) {
	case *http2.MetaHeadersFrame:
		return h.headers(f)
	case *http2.SettingsFrame:
		if f.IsAck() {
			return nil
		}
		return h.settings(f)
	case *http2.PingFrame:
		if f.IsAck() {
			return nil
		}
		return h.answerPing(f.Data)
	case *http2.WindowUpdateFrame:
		if !h.grow(f.StreamID, int64(f.Increment)) {
			return h.broken(http2.ErrCodeFlowControl, fmt.Sprintf("WINDOW_UPDATE to more than %d bytes on stream %d", h2MaxID, f.StreamID))
		}
	case *http2.RSTStreamFrame:
		if s := h.stream(f.StreamID); s != nil {
			s.end(&resetError{f.ErrCode})
		}
	case *http2.GoAwayFrame:
		h.goneAway(f)
	case *http2.PushPromiseFrame:
		return h.broken(http2.ErrCodeProtocol, "PUSH_PROMISE, which the client's settings forbid")
	}
	return nil
}

// headers passes on a head. Trailers end their stream and are ignored.
func (h *h2conn) headers(f *http2.MetaHeadersFrame) error {
	s := h.stream(f.StreamID)
	if s == nil {
		return nil
	}
	if code, err := h.head(s, f); err != nil {
		return h.reset(f.StreamID, code, err)
	}
	if f.StreamEnded() {
		s.finish(h.arrived())
	}
	return nil
}

// head passes on the content of a HEADERS frame, or returns the code with which its stream is refused.
func (h *h2conn) head(s *h2stream, f *http2.MetaHeadersFrame) (http2.ErrCode, error) {
	if s.hasHead() {
		if len(f.PseudoFields()) > 0 {
			return http2.ErrCodeProtocol, malformed("Bad HTTP/2 headers: a second :status after the response head")
		}
		if !f.StreamEnded() {
			return http2.ErrCodeProtocol, malformed("Bad HTTP/2 headers: a trailer that does not end its stream")
		}
		return 0, nil
	}
	head, err := h2Head(f)
	if err != nil {
		return http2.ErrCodeProtocol, err
	}
	if head.status < 200 {
		if !s.interim() {
			return http2.ErrCodeEnhanceYourCalm, malformed("More than %d interim responses", maxInterim)
		}
		return 0, nil
	}
	p := h.arrived()
	p.head = head
	s.putHead(p)
	return 0, nil
}

// h2Head parses a HEADERS frame into a head.
func h2Head(f *http2.MetaHeadersFrame) (*head, error) {
	if f.Truncated {
		return nil, malformed("Response head larger than %d bytes", maxHead)
	}
	if len(f.PseudoFields()) == 0 {
		return nil, malformed("Bad HTTP/2 headers: a response head without :status")
	}
	status, err := strconv.ParseUint(f.PseudoValue("status"), 10, 16)
	if err != nil || status < 100 || status > 999 {
		return nil, malformed("Bad status: %s", quote([]byte(f.PseudoValue("status"))))
	}
	h := &head{status: int(status), length: -1, framed: true}
	h.nameStatus()
	fields := f.RegularFields()
	if len(fields) > maxHeaders {
		return nil, malformed("Response head of more than %d lines", maxHeaders)
	}
	for _, field := range fields {
		h.add(field.Name, field.Value)
	}
	return h, h.framing()
}

// settings applies the server's settings.
func (h *h2conn) settings(f *http2.SettingsFrame) error {
	var limits h2limits
	if err := f.ForeachSetting(limits.take); err != nil {
		return h.describeError(f.FrameHeader, err)
	}
	if limits.window != nil && !h.resize(int64(*limits.window)) {
		return h.broken(http2.ErrCodeFlowControl, fmt.Sprintf("SETTINGS_INITIAL_WINDOW_SIZE moves a window beyond %d bytes", h2MaxID))
	}
	h.mu.Lock()
	if limits.streams != nil {
		h.maxStreams = int(min(*limits.streams, math.MaxInt32))
	} else if !h.hasSettings {
		h.maxStreams = math.MaxInt32 // a server that announces no limit has none
	}
	first := !h.hasSettings
	h.hasSettings = true
	h.mu.Unlock()
	if first {
		close(h.ready)
	}
	return h.acceptSettings()
}

// h2limits are the settings that matter to the client; nil = not announced.
type h2limits struct{ window, streams *uint32 }

func (c *h2limits) take(s http2.Setting) error {
	if err := s.Valid(); err != nil {
		return err
	}
	switch s.ID {
	case http2.SettingInitialWindowSize:
		c.window = &s.Val
	case http2.SettingMaxConcurrentStreams:
		c.streams = &s.Val
	}
	return nil
}

// goneAway processes a GOAWAY frame: the server accepts no more streams and did not process the open streams above the given id.
func (h *h2conn) goneAway(f *http2.GoAwayFrame) {
	h.mu.Lock()
	h.draining = true
	var lost []*h2stream
	for id, s := range h.streams {
		if id > f.LastStreamID {
			lost = append(lost, s)
		}
	}
	h.mu.Unlock()
	err := error(&resetError{f.ErrCode})
	if f.ErrCode == http2.ErrCodeNo {
		err = errStale // the request was not processed: it may be sent again
	}
	for _, s := range lost {
		s.end(err)
	}
	h.closeIfOver()
}
