package hfhub

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Sizes of downloads in parts, in bytes. They are variables for tests.
var (
	partSize    int64 = 8 << 20
	inPartsFrom int64 = 32 << 20
)

// errNoRanges reports a server that cannot send parts of files.
var errNoRanges = errors.New("the server does not support range requests")

// inParts downloads a file of known size and content in parallel parts. A ledger next to the file records the finished parts, so that the next
// attempt, in this process or a later one, downloads only the others.
func (f *fetcher) inParts(ctx context.Context, address, name string, known fact, tmp *partial) error {
	l, err := tmp.ledger(known)
	if err != nil {
		return f.disk(err)
	}
	if err := tmp.Truncate(known.size); err != nil {
		return f.disk(err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var done atomic.Int64
	done.Store(l.bytes())
	f.reportProgress(name, done.Load(), known.size)
	next := make(chan int64)
	var wg sync.WaitGroup
	for range parallelDownloads {
		wg.Go(func() {
			for n := range next {
				err := f.part(ctx, address, name, n, known, tmp, &done)
				if err == nil {
					if err = l.add(n); err != nil {
						err = f.disk(err)
					}
				}
				if err != nil {
					cancel(err)
				}
			}
		})
	}
	for n := int64(0); n*partSize < known.size && ctx.Err() == nil; n++ {
		if !l.stored[n] {
			select {
			case next <- n:
			case <-ctx.Done():
			}
		}
	}
	close(next)
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		if errors.Is(err, context.Canceled) {
			err = f.network(ctx, address, err)
		}
		return err
	}
	return nil
}

// part downloads one part.
func (f *fetcher) part(ctx context.Context, address, name string, n int64, known fact, tmp *partial, done *atomic.Int64) error {
	at, end := n*partSize, min((n+1)*partSize, known.size)
	return f.retry(ctx, address, 0, func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stall := orDefault(f.Stall, 30*time.Second)
		watch := time.AfterFunc(stall, cancel)
		defer watch.Stop()
		resp, c, err := f.get(ctx, address, span{from: at, to: end})
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusPartialContent {
			return permanentError{errNoRanges}
		}
		if c.size >= 0 && c.size != known.size {
			return permanentError{f.fail(Down, f.repo, f.rev, fmt.Errorf("%w: %s has %d bytes, expected %d", errContent, name, c.size, known.size), address)}
		}
		from := at
		body := &meter{r: io.LimitReader(resp.Body, end-at), tick: func(n int) {
			watch.Reset(stall)
			at += int64(n)
			f.reportProgress(name, done.Add(int64(n)), known.size)
		}}
		err = f.copy(io.NewOffsetWriter(tmp, from), body)
		if err == nil && at < end {
			err = io.ErrUnexpectedEOF
		}
		if err == nil {
			return nil
		}
		return after(fmt.Errorf("%s: after %d bytes: %w", name, at, err), at-from)
	})
}

// downloadLedger records the finished parts of a download: one line with the file's size, hash and part size, and one line per part.
type downloadLedger struct {
	mu     sync.Mutex
	file   *os.File
	stored map[int64]bool
	size   int64
}

// ledger opens the ledger of a partial download. It replaces a ledger of different content. Data from an attempt in one piece counts as finished
// parts.
func (p *partial) ledger(known fact) (*downloadLedger, error) {
	file, err := os.OpenFile(p.Name()+partsEnding, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	p.parts = file
	l := &downloadLedger{file: file, stored: map[int64]bool{}, size: known.size}
	head := fmt.Sprintf("%d %s %d", known.size, known.tag, partSize)
	lines := bufio.NewScanner(file)
	if lines.Scan() && lines.Text() == head {
		for lines.Scan() {
			if n, err := strconv.ParseInt(strings.TrimSuffix(lines.Text(), "."), 10, 64); err == nil && strings.HasSuffix(lines.Text(), ".") {
				l.stored[n] = true
			}
		}
		return l, lines.Err()
	}
	info, err := p.Stat()
	if err == nil && info.Size() < known.size {
		for n := int64(0); (n+1)*partSize <= info.Size(); n++ {
			l.stored[n] = true
		}
	}
	if err == nil {
		err = file.Truncate(0)
	}
	if err == nil {
		_, err = file.WriteAt([]byte(head+"\n"), 0)
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekEnd)
	}
	for n := int64(0); err == nil && l.stored[n]; n++ {
		_, err = fmt.Fprintf(file, "%d.\n", n)
	}
	return l, err
}

// add records a finished part. The dot marks a completely written number.
func (l *downloadLedger) add(n int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := fmt.Fprintf(l.file, "%d.\n", n)
	return err
}

// bytes returns the size of the finished parts.
func (l *downloadLedger) bytes() (sum int64) {
	for n := range l.stored {
		sum += max(0, min((n+1)*partSize, l.size)-n*partSize)
	}
	return sum
}
