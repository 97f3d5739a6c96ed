package boundedfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// spoolChunk is the number of bytes read from a source at once.
const spoolChunk = 64 << 10

// SpoolFile gives random access to a source that can be read only once. It stores what it has read: the beginning in memory, the rest in an unlinked
// temporary file that disappears with the process. It reads the source only as far as its readers need. Readers of stored bytes never wait for the
// source.
type SpoolFile struct {
	limit int64 // maximum size of the source, bytes

	reading sync.Mutex // locked by the goroutine that reads the source
	source  io.Reader

	mu     sync.Mutex // guards the fields below
	stored SpooledBytes
	end    error // why reading stopped (io.EOF or an error); nil while there may be more
}

// NewSpool returns a spool of a source. Errors mention its name. A source with more than most bytes is an error.
func NewSpool(name string, source io.Reader, most int64) *SpoolFile {
	return &SpoolFile{source: source, limit: most, stored: SpooledBytes{Name: name}}
}

// From returns a reader that starts at an offset. A read may return fewer bytes than requested if no more are stored yet.
func (s *SpoolFile) From(at int64) io.Reader { return &spoolReader{s, at} }

type spoolReader struct {
	*SpoolFile
	at int64
}

// Read implements io.Reader.
func (r *spoolReader) Read(p []byte) (int, error) {
	n, err := r.read(p, r.at)
	r.at += int64(n)
	return n, err
}

// Reach reads the source until size bytes are stored, and reports whether they are. It returns false if the source is shorter or cannot be read.
func (s *SpoolFile) Reach(size int64) bool {
	for {
		s.mu.Lock()
		there, end := s.stored.Size(), s.end
		s.mu.Unlock()
		if there >= size || end != nil {
			return there >= size
		}
		s.readChunk(there)
	}
}

func (s *SpoolFile) read(p []byte, at int64) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for {
		if n, err := s.readStored(p, at); n > 0 || err != nil {
			return n, err
		}
		s.readChunk(at)
	}
}

// readStored reads stored bytes at an offset. It returns 0 and no error if the source must be read first.
func (s *SpoolFile) readStored(p []byte, at int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := s.stored.Size() - at
	if left <= 0 {
		return 0, s.end
	}
	return s.stored.ReadAt(p[:min(int64(len(p)), left)], at)
}

// readChunk reads one chunk of the source, unless another goroutine has stored bytes beyond the offset in the meantime.
func (s *SpoolFile) readChunk(at int64) {
	s.reading.Lock()
	defer s.reading.Unlock()
	s.mu.Lock()
	done := s.stored.Size() > at || s.end != nil
	s.mu.Unlock()
	if done {
		return
	}
	chunk := make([]byte, spoolChunk)
	n, err := s.source.Read(chunk)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end != nil { // Close was called meanwhile
		return
	}
	if _, kept := s.stored.Write(chunk[:n]); kept != nil {
		err = kept
	}
	if s.stored.Size() > s.limit {
		err = fmt.Errorf("gives more than %s, the most that is read", size(s.limit))
	}
	s.end = err
}

// Close deletes the stored bytes.
func (s *SpoolFile) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end == nil || errors.Is(s.end, io.EOF) {
		s.end = os.ErrClosed
	}
	return s.stored.Close()
}

// MaxSpooled is the maximum size of a stream of data, in bytes.
const MaxSpooled = 8 << 30

// spools holds the spools of files that can be read only once, by name, until the process ends.
var spools = struct {
	sync.Mutex
	byName map[string]*SpoolFile
}{byName: map[string]*SpoolFile{}}

// Stream returns the spool of a pipe or device; nil for a regular file or a folder.
func Stream(path string) (*SpoolFile, error) {
	info, err := os.Stat(path)
	if err != nil || info.Mode().IsRegular() || info.IsDir() {
		return nil, err
	}
	spools.Lock()
	defer spools.Unlock()
	if s := spools.byName[path]; s != nil {
		return s, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	s := NewSpool(path, file, MaxSpooled)
	spools.byName[path] = s
	return s, nil
}
