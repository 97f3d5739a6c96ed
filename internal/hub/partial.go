package hub

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// partial is a download that is not whole yet. Its name follows from what is downloaded, so that the next attempt, in this process or a
// later one, goes on where the last one stopped.
type partial struct {
	*os.File
	kept bool // what came is left for the next attempt
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

// giveUp keeps what came if the download was cut off, by the user or the network; content that is wrong is thrown away.
func (p *partial) giveUp(err error) error {
	p.kept = errors.Is(err, context.Canceled) || passing(err) && !errors.Is(err, errContent)
	return err
}

// Close removes the file unless it was kept; one that was stored is gone already.
func (p *partial) Close() {
	if !p.kept {
		_ = os.Remove(p.Name())
	}
	_ = p.File.Close() // and with it the lock
}
