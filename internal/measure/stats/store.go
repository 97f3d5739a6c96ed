package stats

import (
	"fmt"
	"os"
	"sync"
)

// Store limits the memory of columns: further blocks go to a temporary file. The file is unlinked as soon as it is open, so a crash leaves nothing behind.
// If it cannot be written, or the system cannot unlink open files, all blocks stay in memory. All methods are safe for concurrent use.
type Store struct {
	dir   string // of the file; "" = the system's directory for temporary files
	limit int    // bytes in memory

	mu     sync.Mutex
	kept   int // bytes in memory
	file   *os.File
	end    int64 // of the file
	failed bool
}

// NewStore returns a store that keeps up to limit bytes in memory.
func NewStore(dir string, limit int) *Store { return &Store{dir: dir, limit: limit} }

// put writes a block to the file and returns where; false if the block stays in memory.
func (s *Store) put(block []byte) (at int64, ok bool) {
	if s == nil {
		return 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept+len(block) <= s.limit || s.failed || !s.open() {
		s.kept += len(block)
		return 0, false
	}
	if _, err := s.file.WriteAt(block, s.end); err != nil {
		s.failed = true // blocks that are already there can be read
		return 0, false
	}
	at = s.end
	s.end += int64(len(block))
	return at, true
}

// open makes the file.
func (s *Store) open() bool {
	if s.file != nil {
		return true
	}
	f, err := os.CreateTemp(s.dir, ".aiperf-columns-*")
	if err != nil {
		s.failed = true
		return false
	}
	if os.Remove(f.Name()) != nil { // Windows
		s.failed = true
		_, _ = f.Close(), os.Remove(f.Name())
		return false
	}
	s.file = f
	return true
}

// read reads a block. Without it, every figure would be wrong: it panics if the file cannot be read.
func (s *Store) read(block []byte, at int64) {
	if _, err := s.file.ReadAt(block, at); err != nil {
		panic(fmt.Errorf("read values back from a temporary file: %w", err))
	}
}
