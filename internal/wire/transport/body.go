package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// bodyKind is the way in which the end of a body is recognised.
type bodyKind uint8

const (
	noBody bodyKind = iota
	fixedLength
	chunkedBody
	untilClose
	framedBody // the frames of the stream delimit the body
)

// bodyReader returns the bytes of a body as the connection delivers them, without the transfer coding.
type bodyReader struct {
	link      link
	kind      bodyKind
	buf       []byte // bytes that were read but not returned yet
	left      int64  // remaining bytes of the body or of the current chunk
	got       int64
	size      int64 // size of the whole body: fixedLength; framedBody, -1 = not announced
	ended     bool
	truncated bool // the connection ended without the end of TLS (close_notify)
	dec       chunkDecoder
	// clean reports, once the connection was read again, that only the end of a chunk followed the bytes that were returned last.
	clean bool
}

func newBody(l link, h *head, rest []byte) *bodyReader {
	b := &bodyReader{link: l, buf: rest}
	switch {
	case h.bodyless():
		b.kind, b.ended = noBody, true
	case h.framed:
		b.kind, b.size = framedBody, h.length
	case h.chunked:
		b.kind = chunkedBody
	case h.length >= 0:
		b.kind, b.left, b.size, b.ended = fixedLength, h.length, h.length, h.length == 0
	default:
		b.kind = untilClose
	}
	return b
}

// next returns the next bytes of the body, never an empty slice. io.EOF means that the body is complete, io.ErrUnexpectedEOF that the server closed
// the connection too early. The bytes are valid until the next call.
func (b *bodyReader) next() ([]byte, error) {
	for {
		if b.ended {
			b.link.release()
			return nil, io.EOF
		}
		if len(b.buf) > 0 {
			span, err := b.take()
			if err != nil {
				return nil, err
			}
			if len(span) > 0 {
				b.got += int64(len(span))
				return span, nil
			}
			continue
		}
		if err := b.fill(); err != nil {
			return nil, err
		}
	}
}

func (b *bodyReader) fill() error {
	b.clean = b.kind != chunkedBody || b.dec.atDataEnd()
	got, err := b.link.fill()
	b.buf = got
	if len(got) > 0 {
		return nil
	}
	if errors.Is(err, io.EOF) {
		if b.kind == untilClose || b.kind == framedBody && (b.size < 0 || b.size == b.got) {
			c, ok := b.link.(*conn)
			b.ended, b.truncated = true, ok && c.truncated
			return nil
		}
		return io.ErrUnexpectedEOF
	}
	return err
}

// take takes body bytes from the buffer.
func (b *bodyReader) take() ([]byte, error) {
	switch b.kind {
	case untilClose, framedBody:
		span := b.buf
		b.buf = nil
		return span, nil
	case fixedLength:
		n := min(int64(len(b.buf)), b.left)
		span := b.buf[:n]
		b.buf = b.buf[n:]
		b.left -= n
		b.ended = b.left == 0
		return span, nil
	}
	span, rest, err := b.dec.take(b.buf)
	b.buf, b.ended = rest, b.dec.ended
	return span, err
}

// progress says in words how many bytes arrived, and of how many.
func (b *bodyReader) progress() string {
	if b.kind == framedBody {
		return fmt.Sprintf("received %d bytes without the end of the stream", b.got)
	}
	if b.kind == fixedLength {
		return fmt.Sprintf("received %d of %d bytes", b.got, b.size)
	}
	return fmt.Sprintf("received %d bytes without the final chunk", b.got)
}

// chunkDecoder removes the chunked transfer coding. Its input may be cut at any byte.
type chunkDecoder struct {
	state  chunkState
	left   int64 // remaining data bytes of the chunk
	digits int
	line   int // bytes of the current extension or trailer line so far
	excess int // bytes of extensions beyond the fair share of the data
	tail   int // bytes of the trailer
	ended  bool
}

type chunkState uint8

const (
	chunkSize chunkState = iota
	chunkExtension
	chunkData
	chunkDataEnd
	chunkTrailer
)

const (
	maxChunkDigits = 15
	maxChunkLine   = 64 << 10 // limit in bytes of one extension, of the whole trailer, and of extensions beyond the fair share of their data
	fairExtension  = 64       // bytes of extension that every chunk may have, plus twice its data
)

// take returns the first data bytes of b and what follows them. span is empty if b holds only framing.
func (d *chunkDecoder) take(b []byte) (span, rest []byte, err error) {
	for len(b) > 0 && !d.ended {
		if d.state == chunkData {
			n := min(int64(len(b)), d.left)
			if d.left -= n; d.left == 0 {
				d.state = chunkDataEnd
			}
			return b[:n], b[n:], nil
		}
		if b, err = d.step(b); err != nil {
			return nil, nil, err
		}
	}
	return nil, b, nil
}

// atDataEnd reports whether the decoder is directly behind the data of a chunk, or behind the line end after it.
func (d *chunkDecoder) atDataEnd() bool {
	return d.state == chunkDataEnd || d.state == chunkSize && d.digits == 0
}

// step skips one piece of framing.
func (d *chunkDecoder) step(b []byte) ([]byte, error) {
	switch d.state {
	case chunkSize:
		return d.size(b)
	case chunkExtension:
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			return nil, d.checkLine(len(b))
		}
		if err := d.checkLine(i); err != nil {
			return nil, err
		}
		d.excess = max(0, d.excess+d.line-fairExtension-int(min(2*d.left, maxChunkLine)))
		if d.excess > maxChunkLine {
			return nil, malformed("Chunk extensions without data of more than %d bytes", maxChunkLine)
		}
		d.sizeDone()
		return b[i+1:], nil
	case chunkDataEnd:
		switch b[0] {
		case '\r':
			if err := d.checkLine(1); err != nil {
				return nil, err
			}
		case '\n':
			d.state, d.line = chunkSize, 0
		default:
			return nil, malformed("Bad chunk: %s after its data", quote(b))
		}
		return b[1:], nil
	}
	return d.trailer(b)
}

// size reads the digits of a chunk size.
func (d *chunkDecoder) size(b []byte) ([]byte, error) {
	for i, c := range b {
		v := hexValue(c)
		switch {
		case v >= 0 && d.digits < maxChunkDigits:
			d.left = d.left<<4 | int64(v)
			d.digits++
		case v < 0 && d.digits > 0 && (c == ';' || c == '\r' || c == ' ' || c == '\t'):
			d.state = chunkExtension
			return b[i:], nil
		case c == '\n' && d.digits > 0:
			d.sizeDone()
			return b[i+1:], nil
		default:
			return nil, malformed("Bad chunk size: %s", quote(b))
		}
	}
	return nil, nil
}

func (d *chunkDecoder) sizeDone() {
	d.state = chunkData
	if d.left == 0 {
		d.state = chunkTrailer
	}
	d.digits, d.line = 0, 0
}

// trailer skips the lines after the last chunk, up to the empty line.
func (d *chunkDecoder) trailer(b []byte) ([]byte, error) {
	for i, c := range b {
		switch {
		case c == '\n' && d.line == 0:
			d.ended = true
			return b[i+1:], nil
		case c == '\n':
			d.line = 0
		case c != '\r':
			d.line++
		}
		if d.tail++; d.tail > maxChunkLine {
			return nil, malformed("Trailer longer than %d bytes", maxChunkLine)
		}
	}
	return nil, nil
}

func (d *chunkDecoder) checkLine(n int) error {
	if d.line += n; d.line > maxChunkLine {
		return malformed("Chunk extension longer than %d bytes", maxChunkLine)
	}
	return nil
}

func hexValue(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
