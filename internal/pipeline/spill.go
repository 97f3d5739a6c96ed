package pipeline

import (
	"bufio"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"aiperf/internal/record"
)

// spill is a temporary file of records that found the queue full. Its name is removed as soon as it is open, so that a crash leaves
// nothing behind.
type spill struct {
	dir string

	mu     sync.Mutex
	file   *os.File
	buf    *bufio.Writer
	enc    *gob.Encoder
	n      int64
	failed error // the file cannot be written any more
}

// put appends a record.
func (s *spill) put(rec *record.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return s.failed
	}
	if s.file == nil {
		if s.failed = s.open(); s.failed != nil {
			return s.failed
		}
	}
	at, err := s.file.Seek(0, io.SeekCurrent)
	if err == nil {
		err = s.enc.Encode(rec)
	}
	if err == nil {
		err = s.buf.Flush()
	}
	if err != nil { // a record half written must not be read
		s.failed = errors.Join(err, s.file.Truncate(at))
		return s.failed
	}
	s.n++
	return nil
}

func (s *spill) open() error {
	f, err := os.CreateTemp(s.dir, ".aiperf-backlog-*")
	if err != nil {
		return fmt.Errorf("backlog file: %w", err)
	}
	os.Remove(f.Name())
	s.file, s.buf = f, bufio.NewWriterSize(f, 64<<10)
	s.enc = gob.NewEncoder(s.buf)
	return nil
}

func (s *spill) count() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// drain reads every record back and closes the file.
func (s *spill) drain(visit func(*record.Record)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	defer s.file.Close()
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("backlog file: %w", err)
	}
	dec := gob.NewDecoder(bufio.NewReaderSize(s.file, 256<<10))
	for i := range s.n {
		rec := new(record.Record)
		if err := dec.Decode(rec); err != nil {
			return fmt.Errorf("backlog file: record %d of %d: %w", i+1, s.n, err)
		}
		visit(rec)
	}
	return nil
}
