// Package pieces carries the results of one of several machines to the place where they are merged: in numbered pieces that never change once they
// are sealed. A piece can be sent twice, and pieces can come in any order. The merged results are those of one process.
package pieces

import (
	"fmt"

	"github.com/klauspost/compress/zstd"

	"aiperf/internal/base/binenc"
	"aiperf/internal/measure/metric"
)

const (
	layout = 1 // version of the binary form; others are rejected
	// MaxSize is the largest size of a sealed piece, in bytes.
	MaxSize = 16 << 20
	// maxPlain is the largest size of a piece before compression, in bytes.
	maxPlain = 32 << 20
)

// piece is the content of a sealed piece.
type piece struct {
	number  int64
	rows    int64
	last    bool
	total   Total // of the last piece
	parts   []part
	slowest metric.Slowest
}

// part is the reduced requests of one phase.
type part struct {
	phase   int
	warmup  bool
	reduced []byte // binary form of a reducer
}

// Total is what a machine says about its own results in its last piece.
type Total struct {
	Pieces int64  // including the last
	Rows   int64  // requests in all of them
	About  []byte // facts of the machine about itself, for whoever merges
}

// seal returns the binary form of a piece.
func (p *piece) seal() ([]byte, error) {
	c := binenc.NewWriter(nil)
	p.visit(c)
	if n := len(c.Bytes()); n > maxPlain {
		return nil, fmt.Errorf("a piece of results with %d bytes: at most %d are allowed", n, maxPlain)
	}
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, err
	}
	defer w.Close()
	sealed := w.EncodeAll(c.Bytes(), nil)
	if len(sealed) > MaxSize {
		return nil, fmt.Errorf("a piece of results with %d bytes: at most %d are allowed", len(sealed), MaxSize)
	}
	return sealed, nil
}

// open reads a sealed piece. The bytes may come from anybody.
func open(sealed []byte) (*piece, error) {
	if len(sealed) > MaxSize {
		return nil, fmt.Errorf("a piece of results with %d bytes: at most %d are allowed", len(sealed), MaxSize)
	}
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPlain), zstd.WithDecoderMaxWindow(maxPlain))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	plain, err := r.DecodeAll(sealed, nil)
	if err != nil {
		return nil, fmt.Errorf("a piece of results cannot be read: %w", err)
	}
	return read(plain)
}

// read reads a piece before compression.
func read(plain []byte) (*piece, error) {
	c, p := binenc.NewReader(plain), new(piece)
	p.visit(c)
	if c.Err() == nil && len(c.Bytes()) > 0 {
		c.Fail("%d bytes behind the piece", len(c.Bytes()))
	}
	if c.Err() == nil && (p.number < 0 || p.rows < 0) {
		c.Fail("number %d, %d rows", p.number, p.rows)
	}
	if c.Err() != nil {
		return nil, fmt.Errorf("a piece of results cannot be read: %w", c.Err())
	}
	return p, nil
}

func (p *piece) visit(c *binenc.Coder) {
	version := layout
	if c.Int(&version); c.Err() == nil && version != layout {
		c.Fail("layout %d; this program reads %d", version, layout)
	}
	c.Int64(&p.number)
	c.Int64(&p.rows)
	c.Bool(&p.last)
	c.Int64(&p.total.Pieces)
	c.Int64(&p.total.Rows)
	c.ByteSlice(&p.total.About)
	binenc.Slice(c, &p.parts, func(c *binenc.Coder, one *part) {
		c.Int(&one.phase)
		c.Bool(&one.warmup)
		c.ByteSlice(&one.reduced)
	})
	p.slowest.Visit(c)
}
