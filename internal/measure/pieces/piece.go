// Package pieces carries the results of one of several machines to the place where they are reported: in numbered pieces that never change once they
// are sealed. A result is the row of a finished request with its lines of the files, so that everything that is made of finished requests works as in
// one process.
package pieces

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"aiperf/internal/base/binenc"
	"aiperf/internal/measure/metric"
)

const (
	layout = 2 // version of the binary form; others are rejected
	// MaxSize is the largest size of a sealed piece, in bytes.
	MaxSize = 32 << 20
	// maxPlain is the largest size of a piece before compression, in bytes.
	maxPlain = 64 << 20
)

// Result is a finished request.
type Result struct {
	Row   *metric.Row
	Lines []byte // its entries in the files, concatenated
	Ends  []int  // end of each entry
}

// Piece is the content of a sealed piece.
type Piece struct {
	Number  int64
	Results []Result
	Total   *Total // of the last piece; nil = others follow
}

// Total is what a machine says about its own results in its last piece.
type Total struct {
	Pieces int64  // including the last
	Rows   int64  // results in all of them
	About  []byte // facts of the machine about itself, for whoever reports
}

// plain is a piece before compression. Rows are encoded as soon as they are known.
type plain struct {
	number  int64
	results []encoded
	total   *Total
}

// encoded is a result with the binary form of its row.
type encoded struct {
	row   []byte
	lines []byte
	ends  []int
}

// size is the approximate size of a result in a piece, bytes.
func (e *encoded) size() int { return len(e.row) + len(e.lines) + 8*len(e.ends) }

// The coders of all pieces are made at their first use. They have no state between two pieces.
var (
	compressor = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	})
	decompressor = sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPlain), zstd.WithDecoderMaxWindow(maxPlain))
	})
)

// seal returns the binary form of a piece.
func (p *plain) seal() ([]byte, error) {
	c := binenc.NewWriter(nil)
	p.visit(c)
	if n := len(c.Bytes()); n > maxPlain {
		return nil, fmt.Errorf("a piece of results with %d bytes: at most %d are allowed", n, maxPlain)
	}
	w, err := compressor()
	if err != nil {
		return nil, err
	}
	sealed := w.EncodeAll(c.Bytes(), nil)
	if len(sealed) > MaxSize {
		return nil, fmt.Errorf("a piece of results with %d bytes: at most %d are allowed", len(sealed), MaxSize)
	}
	return sealed, nil
}

// unseal reads the binary form of a piece.
func unseal(sealed []byte) (*plain, error) {
	if len(sealed) > MaxSize {
		return nil, fmt.Errorf("a piece of results with %d bytes: at most %d are allowed", len(sealed), MaxSize)
	}
	r, err := decompressor()
	if err != nil {
		return nil, err
	}
	b, err := r.DecodeAll(sealed, nil)
	if err != nil {
		return nil, fmt.Errorf("a piece of results cannot be read: %w", err)
	}
	return readPlain(b)
}

// readPlain reads a piece before compression.
func readPlain(b []byte) (*plain, error) {
	c, p := binenc.NewReader(b), new(plain)
	p.visit(c)
	if c.Err() == nil && len(c.Bytes()) > 0 {
		c.Fail("%d bytes behind the piece", len(c.Bytes()))
	}
	if c.Err() == nil && p.number < 0 {
		c.Fail("number %d", p.number)
	}
	if c.Err() != nil {
		return nil, fmt.Errorf("a piece of results cannot be read: %w", c.Err())
	}
	return p, nil
}

func (p *plain) visit(c *binenc.Coder) {
	version := layout
	if c.Int(&version); c.Err() == nil && version != layout {
		c.Fail("layout %d; this program reads %d", version, layout)
	}
	c.Int64(&p.number)
	binenc.Pointer(c, &p.total, func(c *binenc.Coder, t *Total) {
		c.Int64(&t.Pieces)
		c.Int64(&t.Rows)
		c.ByteSlice(&t.About)
	})
	binenc.Slice(c, &p.results, func(c *binenc.Coder, e *encoded) {
		c.ByteSlice(&e.row)
		c.ByteSlice(&e.lines)
		binenc.Slice(c, &e.ends, (*binenc.Coder).Int)
	})
}

// Expected is what a reader of pieces knows about the results.
type Expected struct {
	Metrics *metric.Selection
	Phases  int // number of phases of the run
	Files   int // number of entries of a result
}

// Open reads a sealed piece. The bytes may come from anybody: nothing of a piece that is refused may be used.
func (x Expected) Open(sealed []byte) (*Piece, error) {
	p, err := unseal(sealed)
	if err != nil {
		return nil, err
	}
	return x.open(p)
}

// open reads and checks the results of a piece.
func (x Expected) open(p *plain) (all *Piece, err error) {
	all = &Piece{Number: p.number, Total: p.total, Results: make([]Result, len(p.results))}
	for i := range p.results {
		if all.Results[i], err = x.result(&p.results[i]); err != nil {
			return nil, fmt.Errorf("result %d of piece %d: %w", i, p.number, err)
		}
	}
	return all, nil
}

func (x Expected) result(e *encoded) (r Result, err error) {
	if r.Row, err = x.Metrics.ReadRow(e.row); err != nil {
		return r, err
	}
	if k := r.Row.Meta.PhaseIndex; k < 0 || k >= x.Phases {
		return r, fmt.Errorf("phase %d of %d", k, x.Phases)
	}
	r.Lines, r.Ends = e.lines, e.ends
	from := 0
	for _, end := range e.ends {
		if end < from || end > len(e.lines) {
			return r, fmt.Errorf("an entry ends at byte %d, not between %d and %d", end, from, len(e.lines))
		}
		from = end
	}
	if len(e.ends) != x.Files {
		return r, fmt.Errorf("%d entries, want %d", len(e.ends), x.Files)
	}
	return r, nil
}
