package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/grpcwire"
)

// stream is a running call. The session's mutex guards it, except where the text says otherwise.
type stream struct {
	session *session
	ctx     context.Context
	id      uint32

	window int64  // what may still be sent, in bytes
	buffer []byte // received bytes that recv has not returned yet
	taken  int64  // bytes that recv has returned
	given  int64  // bytes of the window that were returned to the server

	started  bool // the first headers have arrived
	encoding string
	header   []record.Header
	trailer  []record.Header
	webError *grpcwire.Status // the answer is not gRPC; its text is being collected
	webText  []byte
	status   *grpcwire.Status // how the call ended; nil = it runs
	clean    bool             // the server ended it
}

// newStream starts a call and writes its headers with the first bytes of the request. list are headers with their names and values.
func (s *session) newStream(ctx context.Context, path, authority, agent string, tls bool, list []record.Header) (*stream, error) {
	fields := []hpack.HeaderField{{Name: ":method", Value: "POST"}, {Name: ":scheme", Value: "http"}, {Name: ":path", Value: path}, {Name: ":authority", Value: authority},
		{Name: "content-type", Value: grpcwire.ContentType}, {Name: "user-agent", Value: agent}, {Name: "te", Value: "trailers"}}
	if tls {
		fields[1].Value = "https"
	}
	if end, bounded := ctx.Deadline(); bounded {
		fields = append(fields, hpack.HeaderField{Name: "grpc-timeout", Value: grpcwire.EncodeTimeout(time.Until(end))})
	}
	for _, h := range list {
		value, err := grpcwire.EncodeHeader(h.Name, h.Value)
		if err != nil {
			return nil, grpcwire.Errorf(grpcwire.Internal, "%v", err)
		}
		fields = append(fields, hpack.HeaderField{Name: h.Name, Value: value})
	}
	s.mu.Lock()
	if s.err != nil || s.draining {
		defer s.mu.Unlock()
		return nil, grpcwire.Errorf(grpcwire.Unavailable, "the connection is closed: %v", s.err)
	}
	st := &stream{session: s, ctx: ctx, id: s.nextID, window: s.initial}
	s.nextID += 2
	s.stream = st
	most := s.maxFrame
	s.mu.Unlock()
	context.AfterFunc(ctx, st.abort)
	s.write.Lock() // flushed with the first bytes of the request
	err := s.writeHeaders(st.id, fields, most)
	s.write.Unlock()
	if err != nil {
		s.fail(fmt.Errorf("error writing to the server: %w", err))
	}
	return st, nil
}

// writeHeaders writes the headers of a request in as many frames as they need. The caller holds s.write.
func (s *session) writeHeaders(id uint32, fields []hpack.HeaderField, most int) error {
	s.fields.Reset()
	for _, f := range fields {
		if err := s.encoder.WriteField(f); err != nil {
			return err
		}
	}
	block := s.fields.Bytes()
	n := min(len(block), most)
	if err := s.writer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block[:n], EndHeaders: n == len(block)}); err != nil {
		return err
	}
	for block = block[n:]; len(block) > 0; block = block[n:] {
		n = min(len(block), most)
		if err := s.writer.WriteContinuation(id, n == len(block), block[:n]); err != nil {
			return err
		}
	}
	return nil
}

// smallMessage is the size in bytes up to which a message is copied behind its prefix. The buffer of an idle socket has room for it.
const smallMessage = 32 << 10

// fits reports whether a message can be sent without a wait.
func (st *stream) fits(message []byte) bool {
	s := st.session
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(message) <= smallMessage && int64(grpcwire.PrefixSize+len(message)) <= min(s.window, st.window)
}

// sendMessage sends a message. io.EOF means that the call has ended; recv returns the reason.
func (st *stream) sendMessage(message []byte, last bool) error {
	if len(message) <= smallMessage {
		return st.send(grpcwire.AppendMessage(nil, message), last)
	}
	const first = defaultFrame - grpcwire.PrefixSize // together with the prefix a frame
	start := grpcwire.AppendPrefix(make([]byte, 0, defaultFrame), len(message))
	if err := st.send(append(start, message[:first]...), false); err != nil {
		return err
	}
	return st.send(message[first:], last)
}

// closeSend ends the request.
func (st *stream) closeSend() error { return st.send(nil, true) }

// send sends bytes of the request. It waits while a window is full.
func (st *stream) send(b []byte, last bool) error {
	s := st.session
	for {
		n, err := st.reserve(len(b))
		if err != nil {
			return err
		}
		s.write.Lock()
		err = s.writer.WriteData(st.id, last && n == len(b), b[:n])
		if b = b[n:]; err == nil && len(b) == 0 {
			err = s.out.Flush()
		}
		s.write.Unlock()
		if err != nil {
			s.fail(fmt.Errorf("error writing to the server: %w", err))
			return io.EOF
		}
		if len(b) == 0 {
			return nil
		}
	}
}

// reserve takes up to n bytes of the windows for one frame. It waits until there are any.
func (st *stream) reserve(n int) (int, error) {
	s := st.session
	s.mu.Lock()
	defer s.mu.Unlock()
	for flushed := false; st.status == nil && n > 0 && min(s.window, st.window) <= 0; flushed = true {
		if flushed {
			s.changed.Wait()
			continue
		}
		s.mu.Unlock() // the server returns the window after it has read what is in the buffer
		s.frames(func() error { return nil })
		s.mu.Lock()
	}
	if st.status != nil {
		return 0, io.EOF
	}
	n = max(0, min(n, int(min(s.window, st.window)), s.maxFrame))
	s.window -= int64(n)
	st.window -= int64(n)
	return n, nil
}

// recv returns the next message. io.EOF means that the call has ended without an error. If the answer was complete when the context ended, all of its
// messages are returned.
func (st *stream) recv() ([]byte, error) {
	s := st.session
	for {
		s.mu.Lock()
		over := contextStatus(st.ctx)
		for over != nil && st.status == nil { // abort first lets what has arrived be read
			s.changed.Wait()
		}
		if over != nil && !st.clean {
			s.mu.Unlock()
			return nil, over
		}
		message, err := st.next()
		if message == nil && err == nil && st.status == nil {
			st.wait()
			s.mu.Unlock()
			continue
		}
		back := st.windowToReturn(st.taken)
		s.mu.Unlock()
		st.giveBack(back)
		switch {
		case err != nil:
			st.reset(http2.ErrCodeCancel, err)
			return nil, err
		case message != nil:
			return message, nil
		}
		return nil, st.end()
	}
}

// wait waits for bytes or the end. The caller holds the session's mutex. Before, it returns the window of what has arrived, because a message may be
// larger than the window.
func (st *stream) wait() {
	if back := st.windowToReturn(st.taken + int64(len(st.buffer))); back > 0 {
		st.session.mu.Unlock()
		st.giveBack(back)
		st.session.mu.Lock()
		return // something may have changed
	}
	st.session.changed.Wait()
}

// end returns why the call has ended; io.EOF = without an error.
func (st *stream) end() error {
	s := st.session
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case st.clean && len(st.buffer) > 0:
		return grpcwire.Errorf(grpcwire.Internal, "%v", io.ErrUnexpectedEOF)
	case st.status.Code == grpcwire.OK:
		return io.EOF
	}
	return st.status
}

// ends returns the headers and the trailers of the answer, as far as they have arrived.
func (st *stream) ends() (header, trailer []record.Header) {
	st.session.mu.Lock()
	defer st.session.mu.Unlock()
	return st.header, st.trailer
}

// next takes a complete message from the buffer; nil = it is not complete. The caller holds the session's mutex.
func (st *stream) next() ([]byte, *grpcwire.Status) {
	if len(st.buffer) < grpcwire.PrefixSize {
		return nil, nil
	}
	size, err := grpcwire.ParsePrefix(st.buffer, st.encoding, maxMessage)
	if err != nil {
		return nil, err
	}
	whole := grpcwire.PrefixSize + size
	if len(st.buffer) < whole {
		return nil, nil
	}
	message := append([]byte{}, st.buffer[grpcwire.PrefixSize:whole]...)
	if st.buffer = st.buffer[whole:]; len(st.buffer) == 0 {
		st.buffer = nil
	}
	st.taken += int64(whole)
	return message, nil
}

// windowToReturn returns how much of the stream's window to return if the server may have used it up to an offset; 0 = not worth a frame yet. The caller
// holds the session's mutex.
func (st *stream) windowToReturn(upTo int64) int64 {
	n := upTo - st.given
	if n < streamWindow/4 || st.status != nil {
		return 0
	}
	st.given += n
	return n
}

func (st *stream) giveBack(n int64) {
	if n > 0 {
		st.session.frames(func() error { return st.session.writer.WriteWindowUpdate(st.id, uint32(n)) })
	}
}

// finish ends the call with a status. Only the first one counts. trailer is what the server sent last.
func (st *stream) finish(status *grpcwire.Status, trailer []record.Header) {
	s := st.session
	s.mu.Lock()
	if st.status == nil {
		st.status, st.trailer = status, trailer
		if s.stream == st {
			s.stream = nil
		}
		s.changed.Broadcast()
	}
	s.mu.Unlock()
}

// reset ends the call with a status and tells the server. If a write is stuck, the connection is closed instead.
func (st *stream) reset(code http2.ErrCode, status *grpcwire.Status) {
	s := st.session
	s.mu.Lock()
	running := st.status == nil
	s.mu.Unlock()
	if !running {
		return
	}
	st.finish(status, nil)
	if !s.write.TryLock() {
		s.close()
		return
	}
	err := s.writer.WriteRSTStream(st.id, code)
	if err == nil {
		_ = s.conn.SetWriteDeadline(time.Now().Add(time.Second)) // fails only if the connection is closed
		err = s.out.Flush()
		_ = s.conn.SetWriteDeadline(time.Time{}) // as above
	}
	s.write.Unlock()
	if err != nil {
		s.close()
	}
}

// abort ends the call because its context has ended. It first waits until the session has read what arrived.
func (st *stream) abort() {
	st.session.mu.Lock()
	running := st.status == nil
	st.session.mu.Unlock()
	if running {
		st.session.conn.AwaitReads()
	}
	st.reset(http2.ErrCodeCancel, contextStatus(st.ctx))
}

// contextStatus returns the status for a context that has ended; nil = it has not.
func contextStatus(ctx context.Context) *grpcwire.Status {
	err := ctx.Err()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return grpcwire.Errorf(grpcwire.DeadlineExceeded, "%v", err)
	}
	return grpcwire.Errorf(grpcwire.Cancelled, "%v", err)
}

// data handles bytes of the answer.
func (st *stream) data(f *http2.DataFrame) {
	s := st.session
	s.mu.Lock()
	padding := int64(f.Length) - int64(len(f.Data()))
	st.taken += padding
	switch {
	case st.webError != nil:
		const most = 1024
		st.webText = append(st.webText, f.Data()[:min(len(f.Data()), most-len(st.webText))]...)
		full := len(st.webText) == most || f.StreamEnded()
		s.mu.Unlock()
		if full {
			st.webEnd()
		}
		return
	case int64(len(st.buffer)+len(f.Data()))+st.taken-st.given > streamWindow:
		s.mu.Unlock()
		st.reset(http2.ErrCodeFlowControl, grpcwire.Errorf(grpcwire.Internal, "the server sent more than the window of the stream"))
		return
	}
	st.buffer = append(st.buffer, f.Data()...)
	st.clean = f.StreamEnded()
	s.changed.Broadcast()
	s.mu.Unlock()
	if f.StreamEnded() {
		st.finish(grpcwire.Errorf(grpcwire.Internal, "server closed the stream without sending trailers"), nil)
	}
}

// webEnd ends a call whose answer is not gRPC.
func (st *stream) webEnd() {
	st.reset(http2.ErrCodeProtocol, grpcwire.Errorf(st.webError.Code, "%s\ndata: %q", st.webError.Message, st.webText))
}

// headers handles the headers or trailers of the answer.
func (st *stream) headers(f *http2.MetaHeadersFrame) {
	ended := f.StreamEnded()
	switch {
	case st.started && !ended:
		st.reset(http2.ErrCodeProtocol, grpcwire.Errorf(grpcwire.Internal, "a HEADERS frame cannot appear in the middle of a stream"))
		return
	case f.Truncated:
		st.reset(http2.ErrCodeFrameSize, grpcwire.Errorf(grpcwire.Internal, "peer header list size exceeded limit"))
		return
	case st.webError != nil:
		if ended {
			st.webEnd()
		}
		return
	}
	a := parseHeaders(f, st.started)
	switch {
	case a.informational && !ended:
		return
	case a.fault != nil:
		st.reset(http2.ErrCodeProtocol, a.fault)
		return
	case a.web != nil && ended:
		st.reset(http2.ErrCodeProtocol, a.web)
		return
	case a.web != nil:
		st.webError = a.web
		return
	}
	s := st.session
	if !ended {
		s.mu.Lock()
		st.started, st.header, st.encoding = true, a.list, a.encoding
		s.mu.Unlock()
		return
	}
	s.mu.Lock()
	st.clean = true
	s.mu.Unlock()
	st.finish(&grpcwire.Status{Code: a.code, Message: a.message}, a.list)
}
