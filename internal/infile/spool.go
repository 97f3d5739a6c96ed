package infile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// spoolChunk is how much is read of a source at once, in bytes.
const spoolChunk = 64 << 10

// Spool makes what gives its content only once readable at any place: what was read is kept, the beginning in memory and the rest in a temporary
// file that no folder lists, so that it is gone with the process. The source is read only as far as somebody reads. Readers of what is there
// never wait for the source.
type Spool struct {
	most int64 // bytes that are read of the source

	grow   sync.Mutex // held by the one that reads the source
	source io.Reader

	mu  sync.Mutex // guards what follows
	got Kept
	end error // why there is no more, nil = there may be
}

// NewSpool makes a spool of a source, whose name stands in errors. More than most bytes are an error.
func NewSpool(name string, source io.Reader, most int64) *Spool {
	return &Spool{source: source, most: most, got: Kept{Name: name}}
}

// From reads from a place on. It may give less than was asked for, where no more is there yet.
func (s *Spool) From(at int64) io.Reader { return &spoolReader{s, at} }

type spoolReader struct {
	*Spool
	at int64
}

// Read implements io.Reader.
func (r *spoolReader) Read(p []byte) (int, error) {
	n, err := r.read(p, r.at)
	r.at += int64(n)
	return n, err
}

// Reach reads the source until so many bytes are there and tells whether they are; false = it holds fewer, or cannot be read.
func (s *Spool) Reach(size int64) bool {
	for {
		s.mu.Lock()
		there, end := s.got.Size(), s.end
		s.mu.Unlock()
		if there >= size || end != nil {
			return there >= size
		}
		s.more(there)
	}
}

func (s *Spool) read(p []byte, at int64) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if n, err := s.there(p, at); n > 0 || err != nil {
			return n, err
		}
		s.more(at)
	}
}

// there reads what is kept at a place; nothing and no error = the source has to be read first.
func (s *Spool) there(p []byte, at int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := s.got.Size() - at
	if left <= 0 {
		return 0, s.end
	}
	return s.got.ReadAt(p[:min(int64(len(p)), left)], at)
}

// more reads the source once, unless somebody else has read behind a place meanwhile.
func (s *Spool) more(at int64) {
	s.grow.Lock()
	defer s.grow.Unlock()
	s.mu.Lock()
	done := s.got.Size() > at || s.end != nil
	s.mu.Unlock()
	if done {
		return
	}
	chunk := make([]byte, spoolChunk)
	n, err := s.source.Read(chunk)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end != nil { // it was closed
		return
	}
	if _, kept := s.got.Write(chunk[:n]); kept != nil {
		err = kept
	}
	if s.got.Size() > s.most {
		err = fmt.Errorf("gives more than %s, the most that is read", size(s.most))
	}
	s.end = err
}

// Close removes what is kept.
func (s *Spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end == nil || errors.Is(s.end, io.EOF) {
		s.end = os.ErrClosed
	}
	return s.got.Close()
}

// MaxSpooled is the most that is read of a stream of data, in bytes.
const MaxSpooled = 8 << 30

// spools are those of what can be read only once, by name, for as long as the process lives.
var spools = struct {
	sync.Mutex
	of map[string]*Spool
}{of: map[string]*Spool{}}

// Stream is the spool of what is no regular file and no folder, nil = it is one.
func Stream(path string) (*Spool, error) {
	info, err := os.Stat(path)
	if err != nil || info.Mode().IsRegular() || info.IsDir() {
		return nil, err
	}
	spools.Lock()
	defer spools.Unlock()
	if s := spools.of[path]; s != nil {
		return s, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	s := NewSpool(path, file, MaxSpooled)
	spools.of[path] = s
	return s, nil
}
