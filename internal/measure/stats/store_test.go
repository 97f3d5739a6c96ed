package stats

import (
	"os"
	"path/filepath"
	"testing"
)

// TestStore: blocks beyond the limit are in an unlinked file; if it cannot be made, they stay in memory.
func TestStore(t *testing.T) {
	dir := t.TempDir()
	fill := func(s *Store) (c Column, inFile int) {
		c.KeepIn(s)
		for i := range 5 * chunkLen {
			c.Append(float64(i) + 0.5)
		}
		for i := range c.chunks {
			if c.chunks[i].block == nil {
				inFile++
			}
		}
		for i := range c.Len() {
			if v := c.At(i); v != float64(i)+0.5 {
				t.Fatalf("value %d is %v", i, v)
			}
		}
		return c, inFile
	}
	if _, n := fill(NewStore(dir, 2*8*chunkLen)); n != 3 {
		t.Errorf("%d of 5 blocks in the file, want 3", n)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("%v in the directory, %v", files, err)
	}
	if _, n := fill(NewStore(filepath.Join(dir, "none"), 0)); n != 0 {
		t.Errorf("%d blocks in a file that cannot be made", n)
	}
	full := NewStore(dir, 0)
	full.open()
	full.file.Close() // nothing can be written any more
	if _, n := fill(full); n != 0 {
		t.Errorf("%d blocks in a file that cannot be written", n)
	}
	if _, n := fill(nil); n != 0 {
		t.Errorf("%d blocks in a file without a store", n)
	}
}
