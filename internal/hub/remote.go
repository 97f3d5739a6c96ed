package hub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// Sizes of what is read of a remote file, in bytes.
const (
	blockSize  = 256 << 10
	mostBlocks = 16 // of one request, where a file is read on and on
	keptBlocks = 64 // in memory
)

// Remote is a file of a repository that stays where it is and is read in pieces: only the blocks that are asked for are fetched, and a few are kept.
// Its methods may be called from several goroutines.
type Remote struct {
	f       *fetcher
	ctx     context.Context //nolint:containedctx // of all its reads: readers know none
	address string
	name    string
	size    int64

	mu      sync.Mutex
	at      int64            // where Read goes on
	blocks  map[int64][]byte // by number
	order   []int64          // the oldest first
	last    int64            // block that was fetched last, -1 = none
	run     int64            // blocks of the next request that goes on behind it
	fetched int64
}

// Remote opens a file to be read in pieces, as long as the context lasts. nil = it cannot: its size is not known, or only the cache is read.
func (s *Snapshot) Remote(ctx context.Context, name string) *Remote {
	fact, known := s.facts[name]
	if s.f == nil || !known || fact.size <= 0 {
		return nil
	}
	return &Remote{f: s.f, ctx: ctx, address: s.f.address(s.Commit, name), name: name, size: fact.size, blocks: map[int64][]byte{}, last: -1, run: 1}
}

// Size is that of the file in bytes.
func (r *Remote) Size() int64 { return r.size }

// Fetched is how many bytes came so far.
func (r *Remote) Fetched() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fetched
}

// Close implements io.Closer.
func (r *Remote) Close() error { return nil }

// Read goes on where the last Read has ended.
func (r *Remote) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at >= r.size {
		return 0, io.EOF
	}
	b, err := r.block(r.at / blockSize)
	if err != nil {
		return 0, err
	}
	n := copy(p, b[r.at%blockSize:])
	r.at += int64(n)
	return n, nil
}

// Seek implements io.Seeker.
func (r *Remote) Seek(offset int64, whence int) (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.size
	}
	if offset < 0 {
		return 0, fmt.Errorf("%s: a place before its beginning", r.name)
	}
	r.at = offset
	return offset, nil
}

// ReadAt implements io.ReaderAt.
func (r *Remote) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fmt.Errorf("%s: a place before its beginning", r.name)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for n < len(p) {
		if off >= r.size {
			return n, io.EOF
		}
		b, err := r.block(off / blockSize)
		if err != nil {
			return n, err
		}
		m := copy(p[n:], b[off%blockSize:])
		n, off = n+m, off+int64(m)
	}
	return n, nil
}

// block returns a block, fetched with some of those behind it where the file is read on and on.
func (r *Remote) block(n int64) ([]byte, error) {
	if b, ok := r.blocks[n]; ok {
		return b, nil
	}
	if n == r.last+1 {
		r.run = min(2*r.run, mostBlocks)
	} else {
		r.run = 1
	}
	b, err := r.fetch(n*blockSize, min((n+r.run)*blockSize, r.size))
	if err != nil {
		return nil, err
	}
	r.fetched += int64(len(b))
	first := b[:min(len(b), blockSize)]
	for ; len(b) > 0; n++ {
		cut := min(len(b), blockSize)
		r.keep(n, b[:cut:cut])
		b, r.last = b[cut:], n
	}
	return first, nil
}

// keep remembers a block in place of the oldest one.
func (r *Remote) keep(n int64, b []byte) {
	if _, again := r.blocks[n]; !again {
		r.order = append(r.order, n)
	}
	r.blocks[n] = b
	if len(r.order) > keptBlocks {
		delete(r.blocks, r.order[0])
		r.order = r.order[1:]
	}
}

// fetch brings the bytes from the first to before the last.
func (r *Remote) fetch(from, to int64) (b []byte, err error) {
	f := r.f
	err = f.retry(r.ctx, r.address, 0, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, orDefault(f.Stall, 30*time.Second))
		defer cancel()
		resp, c, err := f.get(ctx, r.address, span{from: from, to: to})
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusPartialContent && to-from < r.size {
			return permanent{errNoRanges}
		}
		if c.size >= 0 && c.size != r.size {
			return permanent{f.fail(Down, f.repo, f.rev, fmt.Errorf("%w: %s has %d bytes, the hub's list says %d", errContent, r.name, c.size, r.size), r.address)}
		}
		b = make([]byte, to-from)
		_, err = io.ReadFull(resp.Body, b)
		return err
	})
	return b, err
}

// HasNoRanges tells whether reading in pieces failed because the server sends files only as a whole.
func HasNoRanges(err error) bool { return errors.Is(err, errNoRanges) }
