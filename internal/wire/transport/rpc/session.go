package rpc

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"aiperf/internal/wire/grpcwire"
	"aiperf/internal/wire/transport"
)

// session is the HTTP/2 state of a connection that carries one call at a time (RFC 9113).
type session struct {
	conn   *transport.RPCConn
	reader *http2.Framer
	ready  chan struct{} // closed at the server's settings
	over   chan struct{} // closed when the connection has ended

	write   sync.Mutex // held while frames are written
	out     *bufio.Writer
	writer  *http2.Framer
	encoder *hpack.Encoder
	fields  bytes.Buffer // the encoded headers

	mu       sync.Mutex
	changed  sync.Cond // windows, or the end of a stream
	nextID   uint32
	maxFrame int
	initial  int64 // what a new stream may send, in bytes
	window   int64 // what the connection may send
	owed     int64 // bytes of DATA frames for which the connection's window was not returned yet
	draining bool  // the server has announced that it accepts no more streams
	stream   *stream
	err      error // why the connection has ended
}

// Sizes in bytes. The windows are so large that a server never waits for them: either the reader keeps up, or the answer exceeds its limit.
const (
	streamWindow  = 16 << 20
	connWindow    = 64 << 20
	bufferSize    = 64 << 10
	maxMessage    = 256 << 20
	maxHeaderList = 16 << 20
)

// Values that hold until the settings say otherwise (RFC 9113, section 6.5.2).
const (
	defaultWindow = 65535
	defaultFrame  = 16384
)

// startSession sends the preface and the settings and starts to read.
func startSession(conn *transport.RPCConn) *session {
	s := &session{conn: conn, ready: make(chan struct{}), over: make(chan struct{}), out: bufio.NewWriterSize(conn, bufferSize), nextID: 1, maxFrame: defaultFrame,
		initial: defaultWindow, window: defaultWindow}
	s.changed.L = &s.mu
	s.reader = http2.NewFramer(nil, bufio.NewReaderSize(conn, bufferSize))
	s.reader.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	s.reader.MaxHeaderListSize = maxHeaderList
	s.reader.SetMaxReadFrameSize(defaultFrame)
	s.reader.SetReuseFrames()
	s.writer = http2.NewFramer(s.out, nil)
	s.encoder = hpack.NewEncoder(&s.fields)
	s.frames(func() error {
		if _, err := s.out.WriteString(http2.ClientPreface); err != nil {
			return err
		}
		if err := s.writer.WriteSettings(http2.Setting{ID: http2.SettingEnablePush, Val: 0}, http2.Setting{ID: http2.SettingInitialWindowSize, Val: streamWindow},
			http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: maxHeaderList}); err != nil {
			return err
		}
		return s.writer.WriteWindowUpdate(0, connWindow-defaultWindow)
	})
	go s.read() // not before: nothing may precede the preface
	return s
}

// frames writes frames and passes them to the system. A failure ends the connection.
func (s *session) frames(write func() error) {
	s.write.Lock()
	err := write()
	if err == nil {
		err = s.out.Flush()
	}
	s.write.Unlock()
	if err != nil {
		s.fail(fmt.Errorf("error writing to the server: %w", err))
	}
}

// fail ends the connection, and its call with the code UNAVAILABLE. Only the first reason counts.
func (s *session) fail(why error) {
	s.mu.Lock()
	first := s.err == nil
	if first {
		s.err = why
		close(s.over)
	}
	running := s.stream
	s.mu.Unlock()
	if first {
		_ = s.conn.Close() // never fails
		if running != nil {
			running.finish(grpcwire.Errorf(grpcwire.Unavailable, "%v", why), nil)
		}
	}
}

var errClosed = errors.New("the client closed the connection")

func (s *session) close() { s.fail(errClosed) }

// usable reports whether a new call can start.
func (s *session) usable() bool {
	s.mu.Lock()
	usable := s.err == nil && !s.draining
	s.mu.Unlock()
	return usable && s.conn.Alive()
}

// read reads frames until the connection ends.
func (s *session) read() {
	first := true
	for {
		frame, err := s.reader.ReadFrame()
		var fault http2.StreamError
		switch {
		case errors.As(err, &fault):
			detail := s.reader.ErrorDetail()
			if detail == nil {
				detail = errors.New("received invalid frame")
			}
			if running := s.running(fault.StreamID); running != nil {
				running.reset(http2.ErrCodeProtocol, grpcwire.Errorf(resetCode(fault.Code), "%v", detail))
			}
			continue
		case err != nil:
			s.fail(fmt.Errorf("error reading from server: %w", err))
			return
		}
		if _, isSettings := frame.(*http2.SettingsFrame); first && !isSettings {
			s.fail(errors.New("the server's first frame is not its settings"))
			return
		}
		if err := s.handle(frame); err != nil {
			s.fail(err)
			return
		}
		if first {
			close(s.ready)
			first = false
		}
	}
}

// running returns the stream with an id, if it has not ended.
func (s *session) running(id uint32) *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream == nil || s.stream.id != id {
		return nil
	}
	return s.stream
}

// handle handles one frame. An error ends the connection.
func (s *session) handle(frame http2.Frame) error {
	running := s.running(frame.Header().StreamID)
	switch f := frame.(type) {
	case *http2.MetaHeadersFrame:
		if running != nil {
			running.headers(f)
		}
	case *http2.DataFrame:
		s.returnWindow(int64(f.Length))
		if running != nil {
			running.data(f)
		}
	case *http2.RSTStreamFrame:
		if running != nil {
			running.finish(grpcwire.Errorf(running.resetCode(f.ErrCode), "stream terminated by RST_STREAM with error code: %v", f.ErrCode), nil)
		}
	case *http2.SettingsFrame:
		return s.settings(f)
	case *http2.PingFrame:
		if !f.IsAck() {
			s.frames(func() error { return s.writer.WritePing(true, f.Data) })
		}
	case *http2.WindowUpdateFrame:
		return s.windowUpdate(f, running)
	case *http2.GoAwayFrame:
		return s.goAway(f)
	case *http2.PushPromiseFrame:
		return errors.New("the server pushed a stream, which the settings forbid")
	}
	return nil
}

// settings applies the server's settings.
func (s *session) settings(f *http2.SettingsFrame) error {
	if f.IsAck() {
		return nil
	}
	var table *uint32
	err := f.ForeachSetting(func(one http2.Setting) error {
		if err := one.Valid(); err != nil {
			return err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		switch one.ID {
		case http2.SettingInitialWindowSize:
			if s.stream != nil {
				s.stream.window += int64(one.Val) - s.initial
			}
			s.initial = int64(one.Val)
		case http2.SettingMaxFrameSize:
			s.maxFrame = int(one.Val)
		case http2.SettingHeaderTableSize:
			table = &one.Val
		}
		s.changed.Broadcast()
		return nil
	})
	if err != nil {
		return err
	}
	s.frames(func() error {
		if table != nil {
			s.encoder.SetMaxDynamicTableSizeLimit(*table)
		}
		return s.writer.WriteSettingsAck()
	})
	return nil
}

// returnWindow allows the server to send more on the connection. It does not wait for the reader of the call, whose own window limits it.
func (s *session) returnWindow(n int64) {
	s.mu.Lock()
	s.owed += n
	n = s.owed
	if n < connWindow/4 {
		s.mu.Unlock()
		return
	}
	s.owed = 0
	s.mu.Unlock()
	s.frames(func() error { return s.writer.WriteWindowUpdate(0, uint32(n)) })
}

func (s *session) windowUpdate(f *http2.WindowUpdateFrame, running *stream) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.changed.Broadcast()
	const most = 1<<31 - 1
	if f.StreamID == 0 {
		if s.window += int64(f.Increment); s.window > most {
			return errors.New("the server's windows exceed the limit of HTTP/2")
		}
	} else if running != nil {
		running.window = min(most, running.window+int64(f.Increment))
	}
	return nil
}

// goAway notes that the connection takes no more calls. A call that the server did not accept ends.
func (s *session) goAway(f *http2.GoAwayFrame) error {
	s.mu.Lock()
	s.draining = true
	running := s.stream
	s.mu.Unlock()
	if running == nil {
		return errors.New("received goaway and there are no active streams")
	}
	if running.id > f.LastStreamID {
		running.finish(grpcwire.Errorf(grpcwire.Unavailable, "the stream is rejected because server is draining the connection"), nil)
	}
	return nil
}

// resetCode returns the status for an error code of HTTP/2.
func resetCode(code http2.ErrCode) grpcwire.Code {
	switch code {
	case http2.ErrCodeFlowControl, http2.ErrCodeEnhanceYourCalm:
		return grpcwire.ResourceExhausted
	case http2.ErrCodeRefusedStream:
		return grpcwire.Unavailable
	case http2.ErrCodeCancel:
		return grpcwire.Cancelled
	case http2.ErrCodeInadequateSecurity:
		return grpcwire.PermissionDenied
	}
	if code <= http2.ErrCodeHTTP11Required {
		return grpcwire.Internal
	}
	return grpcwire.Unknown
}

// resetCode returns the status for a reset of the stream. A server that knows the deadline may reset the stream when it has passed.
func (s *stream) resetCode(code http2.ErrCode) grpcwire.Code {
	status := resetCode(code)
	if end, bounded := s.ctx.Deadline(); status == grpcwire.Cancelled && bounded && !time.Now().Before(end) {
		return grpcwire.DeadlineExceeded
	}
	return status
}
