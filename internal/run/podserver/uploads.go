package podserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Uploads are data files that somebody sends before the run starts.
type Uploads struct {
	Dir    string            // where they are stored
	SHA256 map[string]string // hexadecimal digits by name
	Limit  time.Duration     // longest wait for a sign of whoever sends them
}

// uploads receives data files.
type uploads struct {
	Uploads

	mu   sync.Mutex
	have map[string]bool
	all  chan struct{} // closed when all files are here
	sign chan struct{} // gets a value whenever a part of a file arrives
}

func newUploads(u Uploads) *uploads {
	l := &uploads{Uploads: u, have: map[string]bool{}, all: make(chan struct{}), sign: make(chan struct{}, 1)}
	if len(u.SHA256) == 0 {
		close(l.all)
	}
	return l
}

// wait waits until all files are here.
func (u *uploads) wait(ctx context.Context) error {
	for len(u.missing()) > 0 { // a select may prefer a timer to files that are here
		over := time.NewTimer(u.Limit)
		select {
		case <-u.sign:
			over.Stop()
			continue
		case <-u.all:
		case <-ctx.Done():
			over.Stop()
			return context.Cause(ctx)
		case <-over.C:
			return fmt.Errorf("the data files of the run did not arrive: nobody sent anything for %v", u.Limit)
		}
		over.Stop()
	}
	return nil
}

// missing returns the names of the files that are not here, sorted.
func (u *uploads) missing() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	list := []string{}
	for name := range u.SHA256 {
		if !u.have[name] {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// errDamaged reports content that is not what the run expects.
var errDamaged = errors.New("its SHA-256 is another one than that of the run; it has arrived damaged, or has changed")

// serve stores a file and checks its content.
func (u *uploads) serve(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if u.SHA256[name] == "" {
		http.Error(w, fmt.Sprintf("the run has no data file %q", name), http.StatusNotFound)
		return
	}
	err := u.store(name, r.Body)
	switch {
	case errors.Is(err, errDamaged):
		http.Error(w, name+": "+err.Error(), http.StatusUnprocessableEntity)
	case err != nil:
		http.Error(w, name+": "+err.Error(), http.StatusInternalServerError)
	default:
		document(w, map[string]any{"missing": u.missing()})
	}
}

// store writes a file, and makes it visible when its content is right.
func (u *uploads) store(name string, in io.Reader) error {
	if err := os.MkdirAll(u.Dir, 0o700); err != nil {
		return err
	}
	draft, err := os.CreateTemp(u.Dir, ".upload")
	if err != nil {
		return err
	}
	defer os.Remove(draft.Name())
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(draft, h, signs{u.sign}), in)
	if err = errors.Join(err, draft.Close()); err != nil {
		return err
	}
	if !strings.EqualFold(hex.EncodeToString(h.Sum(nil)), u.SHA256[name]) {
		return errDamaged
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.have[name] {
		return nil // the run may read it already
	}
	if err := os.Rename(draft.Name(), filepath.Join(u.Dir, name)); err != nil {
		return err
	}
	if u.have[name] = true; len(u.have) == len(u.SHA256) {
		close(u.all)
	}
	return nil
}

// signs tells a channel about every write.
type signs struct{ to chan struct{} }

// Write implements io.Writer.
func (s signs) Write(b []byte) (int, error) {
	select {
	case s.to <- struct{}{}:
	default:
	}
	return len(b), nil
}
