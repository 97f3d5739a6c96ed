package pipeline

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"aiperf/internal/measure/record"
)

// spill is a temporary file for records that found the queue full. It is unlinked as soon as it is open, so a crash leaves nothing behind. Each
// record follows its length, in the binary form of package record, so it is read back unchanged.
type spill struct {
	dir string

	mu     sync.Mutex
	file   *os.File
	buf    []byte // buffer for one record
	n      int64
	failed error // error after which the file cannot be written
}

// head is the size of a record's length in the file, in bytes.
const head = 8

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
		s.buf = rec.Append(append(s.buf[:0], make([]byte, head)...))
		binary.LittleEndian.PutUint64(s.buf, uint64(len(s.buf)-head))
		_, err = s.file.Write(s.buf)
	}
	if err != nil { // a partly written record must not be read
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
	s.file = f
	return nil
}

func (s *spill) count() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}

// drain reads all records back and closes the file.
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
	r := bufio.NewReaderSize(s.file, 256<<10)
	for i := range s.n {
		rec, err := next(r)
		if err != nil {
			return fmt.Errorf("backlog file: record %d of %d: %w", i+1, s.n, err)
		}
		visit(rec)
	}
	return nil
}

// next reads a record into newly allocated memory.
func next(r io.Reader) (*record.Record, error) {
	var size [head]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	b := make([]byte, binary.LittleEndian.Uint64(size[:]))
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, err
	}
	rec := new(record.Record)
	return rec, rec.Read(b)
}
