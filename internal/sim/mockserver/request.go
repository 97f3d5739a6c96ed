package mockserver

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
)

// request is one HTTP request.
type request struct {
	method, path  string
	id            string // X-Request-ID
	correlation   string // X-Correlation-ID
	close         bool   // the connection ends after the answer
	length        int    // length of the body, -1 = chunked
	expect        bool   // wants 100 Continue
	body          []byte // valid until the next read
	oldProtocol   bool   // HTTP/1.0
	transferCoded bool
}

// Limits of a request.
const (
	maxLine = 64 << 10
	maxBody = 1 << 30
)

// badRequest reports a request that can only be answered with an error status.
type badRequest struct {
	status int
	reason string
}

func (e *badRequest) Error() string { return e.reason }

var errClosed = errors.New("connection closed between requests")

// reader reads requests from a connection.
type reader struct {
	*bufio.Reader
	body []byte
}

// head reads the request line and the headers.
func (r *reader) head() (request, error) {
	req := request{}
	line, err := r.line()
	if err != nil {
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return req, errClosed
		}
		return req, err
	}
	method, rest, ok := bytes.Cut(line, []byte{' '})
	target, proto, ok2 := bytes.Cut(rest, []byte{' '})
	if !ok || !ok2 || !bytes.HasPrefix(proto, []byte("HTTP/1.")) {
		return req, &badRequest{400, "malformed request line"}
	}
	path, _, _ := bytes.Cut(target, []byte{'?'})
	req.method, req.path = string(method), string(path)
	req.oldProtocol = string(proto) == "HTTP/1.0"
	req.close = req.oldProtocol
	for n := 0; ; n++ {
		if line, err = r.line(); err != nil {
			return req, unexpected(err)
		}
		if len(line) == 0 {
			return req, nil
		}
		if n > 1000 {
			return req, &badRequest{431, "too many headers"}
		}
		if err := req.header(line); err != nil {
			return req, err
		}
	}
}

func (req *request) header(line []byte) error {
	name, value, ok := bytes.Cut(line, []byte{':'})
	if !ok {
		return &badRequest{400, "header without a colon"}
	}
	value = bytes.TrimSpace(value)
	switch len(name) {
	case len("Content-Length"):
		if equal(name, "Content-Length") {
			return req.contentLength(value)
		}
	case len("Transfer-Encoding"):
		if equal(name, "Transfer-Encoding") && equal(value, "chunked") {
			req.transferCoded, req.length = true, -1
		}
	case len("X-Request-ID"):
		if equal(name, "X-Request-ID") {
			req.id = string(value)
		}
	case len("X-Correlation-ID"):
		if equal(name, "X-Correlation-ID") {
			req.correlation = string(value)
		}
	case len("Connection"):
		if equal(name, "Connection") {
			req.close = equal(value, "close") || req.oldProtocol && !equal(value, "keep-alive")
		}
	case len("Expect"):
		if equal(name, "Expect") {
			req.expect = equal(value, "100-continue")
		}
	}
	return nil
}

// contentLength parses the length of the body; a transfer coding overrides it.
func (req *request) contentLength(value []byte) error {
	n, err := strconv.Atoi(string(value))
	if err != nil || n < 0 {
		return &badRequest{400, "bad Content-Length"}
	}
	if n > maxBody {
		return &badRequest{413, "body too large"}
	}
	if !req.transferCoded {
		req.length = n
	}
	return nil
}

func equal(b []byte, name string) bool { return strings.EqualFold(string(b), name) }

// line reads up to LF and removes the line end.
func (r *reader) line() ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return line, &badRequest{431, "header line too long"}
	}
	if err != nil {
		return line, err
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte{'\r'}), nil
}

// readBody reads the body of a request whose head was already read.
func (r *reader) readBody(req *request) error {
	r.body = r.body[:0]
	var err error
	if req.length >= 0 {
		err = r.take(req.length)
	} else {
		err = r.takeChunks()
	}
	req.body = r.body
	return err
}

// take reads n bytes and appends them to the body.
func (r *reader) take(n int) error {
	at := len(r.body)
	if at+n > maxBody {
		return &badRequest{413, "body too large"}
	}
	if cap(r.body) < at+n {
		grown := make([]byte, at, max(at+n, 2*cap(r.body)))
		copy(grown, r.body)
		r.body = grown
	}
	r.body = r.body[:at+n]
	_, err := io.ReadFull(r, r.body[at:])
	return unexpected(err)
}

func (r *reader) takeChunks() error {
	for {
		line, err := r.line()
		if err != nil {
			return unexpected(err)
		}
		size, _, _ := bytes.Cut(line, []byte{';'})
		n, err := strconv.ParseUint(string(bytes.TrimSpace(size)), 16, 31)
		if err != nil {
			return &badRequest{400, "bad chunk size"}
		}
		if n == 0 {
			break
		}
		if err := r.take(int(n)); err != nil {
			return err
		}
		if line, err = r.line(); err != nil || len(line) != 0 {
			return &badRequest{400, "bad chunk end"}
		}
	}
	for {
		line, err := r.line()
		if err != nil || len(line) == 0 {
			return unexpected(err)
		}
	}
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
