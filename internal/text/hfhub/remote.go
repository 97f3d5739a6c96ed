package hfhub

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// Sizes of reads from a remote file.
const (
	blockSize  = 256 << 10
	maxBlocks  = 16 // blocks per request in a sequential read
	keptBlocks = 64 // blocks in memory
)

// Remote is a file of a repository that is read in blocks without downloading the rest. A few blocks are cached. Its methods are safe for concurrent
// use.
type Remote struct {
	f       *fetcher
	ctx     context.Context //nolint:containedctx // of all its reads: readers know none
	address string
	name    string
	size    int64

	mu          sync.Mutex
	at          int64            // offset of the next Read
	blocks      map[int64][]byte // by number
	order       []int64          // oldest first
	last        int64            // last block that was fetched, -1 = none
	blocksAhead int64            // number of blocks in the next sequential request
	fetched     int64
}

// Remote opens a file for reading in blocks, until the context ends. It returns nil if the size is unknown or only the cache may be read.
func (s *Snapshot) Remote(ctx context.Context, name string) *Remote {
	fact, known := s.facts[name]
	if s.f == nil || !known || fact.size <= 0 {
		return nil
	}
	return &Remote{f: s.f, ctx: ctx, address: s.f.address(s.Commit, name), name: name, size: fact.size, blocks: map[int64][]byte{}, last: -1, blocksAhead: 1}
}

// Size returns the size of the file in bytes.
func (r *Remote) Size() int64 { return r.size }

// Fetched returns the number of bytes downloaded so far.
func (r *Remote) Fetched() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fetched
}

// Close implements io.Closer.
func (r *Remote) Close() error { return nil }

// Read continues where the previous Read ended.
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
		return 0, fmt.Errorf("%s: position before the start of the file", r.name)
	}
	r.at = offset
	return offset, nil
}

// ReadAt implements io.ReaderAt.
func (r *Remote) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, fmt.Errorf("%s: position before the start of the file", r.name)
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

// block returns a block. In a sequential read it also fetches some of the following blocks.
func (r *Remote) block(n int64) ([]byte, error) {
	if b, ok := r.blocks[n]; ok {
		return b, nil
	}
	if n == r.last+1 {
		r.blocksAhead = min(2*r.blocksAhead, maxBlocks)
	} else {
		r.blocksAhead = 1
	}
	b, err := r.fetch(n*blockSize, min((n+r.blocksAhead)*blockSize, r.size))
	if err != nil {
		return nil, err
	}
	r.fetched += int64(len(b))
	first := b[:min(len(b), blockSize)]
	for ; len(b) > 0; n++ {
		cut := min(len(b), blockSize)
		r.cacheBlock(n, b[:cut:cut])
		b, r.last = b[cut:], n
	}
	return first, nil
}

// cacheBlock caches a block and drops the oldest one.
func (r *Remote) cacheBlock(n int64, b []byte) {
	if _, again := r.blocks[n]; !again {
		r.order = append(r.order, n)
	}
	r.blocks[n] = b
	if len(r.order) > keptBlocks {
		delete(r.blocks, r.order[0])
		r.order = r.order[1:]
	}
}

// fetch downloads the bytes from (included) to (excluded).
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
			return permanentError{errNoRanges}
		}
		if c.size >= 0 && c.size != r.size {
			return permanentError{f.fail(Down, f.repo, f.rev, fmt.Errorf("%w: %s has %d bytes, expected %d", errContent, r.name, c.size, r.size), r.address)}
		}
		b = make([]byte, to-from)
		_, err = io.ReadFull(resp.Body, b)
		return err
	})
	return b, err
}

// HasNoRanges reports whether reading in blocks failed because the server cannot send parts of files.
func HasNoRanges(err error) bool { return errors.Is(err, errNoRanges) }
