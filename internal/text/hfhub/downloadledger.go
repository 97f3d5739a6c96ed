package hfhub

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// partsEnding is the file name ending of the ledger of a partial download.
const partsEnding = ".parts"

// partial is an incomplete download. Its file name depends only on the content, so that the next attempt, in this process or a later one, continues
// where the last one stopped.
type partial struct {
	*os.File
	parts    *os.File // ledger; nil = the download is in one piece
	keepData bool     // the data stays for the next attempt
}

// openPartial opens the partial download of what, or starts one. If another process downloads the same content, it uses a separate file.
func openPartial(dir, what string) (*partial, error) {
	f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("%x.incomplete", sha256.Sum256([]byte(what)))), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if lock(f) {
		return &partial{File: f}, nil
	}
	_ = f.Close() // nothing was written
	if f, err = os.CreateTemp(dir, "*.incomplete"); err != nil {
		return nil, err
	}
	return &partial{File: f}, nil
}

// resumeOffset returns the number of bytes of a download in one piece. It discards a download in parts, because that has holes.
func (p *partial) resumeOffset() (int64, error) {
	ledger := p.Name() + partsEnding
	if _, err := os.Stat(ledger); err == nil {
		_ = os.Remove(ledger) // invalid after the truncation below
		if err := p.Truncate(0); err != nil {
			return 0, err
		}
	}
	return p.Seek(0, io.SeekEnd)
}

// giveUp keeps the data if the download was interrupted by the user, the network or a full disk. It discards wrong content.
func (p *partial) giveUp(err error) error {
	var e *Error
	full := errors.As(err, &e) && e.Kind == DiskFull
	p.keepData = errors.Is(err, context.Canceled) || full || isTransient(err) && !errors.Is(err, errContent)
	return err
}

// markStored records that the file has its final name.
func (p *partial) markStored() {
	_ = os.Remove(p.Name() + partsEnding) // may not exist
	p.keepData = true
}

// Close removes the file unless it is kept. A stored file was renamed before.
func (p *partial) Close() {
	if p.parts != nil {
		_ = p.parts.Close() // every line is already written
	}
	if !p.keepData {
		_ = os.Remove(p.Name())
		_ = os.Remove(p.Name() + partsEnding)
	}
	_ = p.File.Close() // also releases the lock
}
