package hub

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// partsEnding is that of the ledger beside a partial download.
const partsEnding = ".parts"

// partial is a download that is not whole yet. Its name follows from what is downloaded, so that the next attempt, in this process or a
// later one, goes on where the last one stopped.
type partial struct {
	*os.File
	parts *os.File // its ledger; nil = it came in one piece
	kept  bool     // what came is left for the next attempt
}

// openPartial opens the partial download of what, or begins one. Where another process downloads the same, it is a file of its own.
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

// begun is how many bytes of a download in one piece are there. What came in parts has holes and is thrown away.
func (p *partial) begun() (int64, error) {
	ledger := p.Name() + partsEnding
	if _, err := os.Stat(ledger); err == nil {
		_ = os.Remove(ledger) // the next line makes it wrong
		if err := p.Truncate(0); err != nil {
			return 0, err
		}
	}
	return p.Seek(0, io.SeekEnd)
}

// giveUp keeps what came if the download was cut off, by the user, the network or a full disk; content that is wrong is thrown away.
func (p *partial) giveUp(err error) error {
	var e *Error
	full := errors.As(err, &e) && e.Kind == DiskFull
	p.kept = errors.Is(err, context.Canceled) || full || passing(err) && !errors.Is(err, errContent)
	return err
}

// stored says that the file has its final name.
func (p *partial) stored() {
	_ = os.Remove(p.Name() + partsEnding) // there may be none
	p.kept = true
}

// Close removes the file unless it was kept; one that was stored is gone already.
func (p *partial) Close() {
	if p.parts != nil {
		_ = p.parts.Close() // every line is written
	}
	if !p.kept {
		_ = os.Remove(p.Name())
		_ = os.Remove(p.Name() + partsEnding)
	}
	_ = p.File.Close() // and with it the lock
}
