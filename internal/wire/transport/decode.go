package transport

import (
	"compress/flate"
	"compress/zlib"
	"errors"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// source returns a body piece by piece; io.EOF = complete.
type source interface {
	next() ([]byte, error)
}

// decodedBody removes the content codings of a body. aiperf never asks for compression; this is for servers that compress anyway. Decoded bytes are
// returned as soon as the server has flushed them.
type decodedBody struct {
	wire wireBytes
	r    io.Reader
	buf  []byte
}

// content returns the body of a response without its content codings. warn is called for an unknown coding, whose bytes are passed on unchanged.
func content(b *bodyReader, codings []string, warn func(kind, text string)) source {
	if len(codings) == 0 {
		return b
	}
	d := &decodedBody{wire: wireBytes{body: b}}
	for i := len(codings) - 1; i >= 0; i-- {
		from := io.Reader(&d.wire)
		if d.r != nil {
			from = d.r
		}
		switch c := codings[i]; c {
		case "", "identity":
		case "gzip", "x-gzip":
			d.r = &lazyReader{from: from, open: openGzip}
		case "deflate":
			d.r = &lazyReader{from: from, open: openDeflate}
		case "zstd":
			d.r = &lazyReader{from: from, open: openZstd}
		case "br":
			d.r = &lazyReader{from: from, open: openBrotli}
		default:
			warn("content-encoding", "the server uses an unknown content encoding ("+quote([]byte(c))+"): the body is read without decoding")
		}
	}
	if d.r == nil {
		return b
	}
	return d
}

func (d *decodedBody) next() ([]byte, error) {
	if d.buf == nil {
		d.buf = make([]byte, 16<<10)
	}
	for {
		n, err := d.r.Read(d.buf)
		if n > 0 {
			return d.buf[:n], nil
		}
		switch {
		case err == nil:
			continue
		case d.wire.err != nil && !errors.Is(d.wire.err, io.EOF):
			return nil, d.wire.err
		case errors.Is(err, io.EOF):
			return nil, d.wire.drain()
		case errors.Is(err, io.ErrUnexpectedEOF):
			return nil, &formatError{ErrPayload, "Response payload is not completed: the compressed body is cut"}
		}
		return nil, &formatError{ErrEncoding, "Can not decode the compressed body: " + err.Error()}
	}
}

// wireBytes reads a body byte by byte, for decoders that must not read ahead.
type wireBytes struct {
	body *bodyReader
	span []byte
	err  error // how the body ended
}

func (w *wireBytes) more() error {
	for len(w.span) == 0 {
		if w.err != nil {
			return w.err
		}
		w.span, w.err = w.body.next()
	}
	return nil
}

func (w *wireBytes) Read(p []byte) (int, error) {
	if err := w.more(); err != nil {
		return 0, err
	}
	n := copy(p, w.span)
	w.span = w.span[n:]
	return n, nil
}

func (w *wireBytes) ReadByte() (byte, error) {
	if err := w.more(); err != nil {
		return 0, err
	}
	c := w.span[0]
	w.span = w.span[1:]
	return c, nil
}

// drain reads what follows the compressed data, so that the connection can be used again.
func (w *wireBytes) drain() error {
	for {
		if err := w.more(); err != nil {
			return err
		}
		w.span = nil
	}
}

// lazyReader opens a decoder at the first read, because the header of the compressed data may arrive late.
type lazyReader struct {
	from io.Reader
	open func(io.Reader) (io.Reader, error)
	r    io.Reader
}

func (l *lazyReader) Read(p []byte) (int, error) {
	if l.r == nil {
		r, err := l.open(l.from)
		if err != nil {
			return 0, err
		}
		l.r = r
	}
	return l.r.Read(p)
}

// maxWindow is the largest window that zstd may ask for as a content coding (RFC 9659).
const maxWindow = 8 << 20

func openZstd(from io.Reader) (io.Reader, error) {
	return zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
}

func openBrotli(from io.Reader) (io.Reader, error) { return brotli.NewReader(from), nil }

// openDeflate distinguishes the zlib format from raw deflate by the header, because servers send both as "deflate".
func openDeflate(from io.Reader) (io.Reader, error) {
	var two [2]byte
	if _, err := io.ReadFull(from, two[:]); err != nil {
		return nil, err
	}
	again := &prefixedReader{head: two[:], from: from}
	if two[0]&0x0f == 8 && (int(two[0])<<8|int(two[1]))%31 == 0 {
		return zlib.NewReader(again)
	}
	return flate.NewReader(again), nil
}

// prefixedReader returns bytes that were already inspected, then the rest, without reading ahead.
type prefixedReader struct {
	head []byte
	from io.Reader
	one  [1]byte
}

func (p *prefixedReader) Read(b []byte) (int, error) {
	if len(p.head) > 0 {
		n := copy(b, p.head)
		p.head = p.head[n:]
		return n, nil
	}
	return p.from.Read(b)
}

func (p *prefixedReader) ReadByte() (byte, error) {
	_, err := io.ReadFull(p, p.one[:])
	return p.one[0], err
}
