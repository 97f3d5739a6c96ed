package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"runtime"
	"testing"
)

// TestHostileArrow changes numbers anywhere in a file. Reading it must end with rows or an error that names the file, within the memory that a small
// file needs. The library would allocate the counts of a damaged schema.
func TestHostileArrow(t *testing.T) {
	const room = 8 << 20
	for _, name := range []string{"testdata/arrow.arrow", "../custom/testdata/baseten.arrow"} {
		sound, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		refused := 0
		for at := 0; at+8 <= len(sound); at += 4 {
			for _, number := range []uint64{0x7fff_ffff, 0x7fff_ffff_ffff, 1 << 62, 0xffff_ffff_ffff_fff0} {
				text := bytes.Clone(sound)
				if number == 0x7fff_ffff {
					binary.LittleEndian.PutUint32(text[at:], uint32(number))
				} else {
					binary.LittleEndian.PutUint64(text[at:], number)
				}
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				err := readAll(text)
				runtime.ReadMemStats(&after)
				if made := after.TotalAlloc - before.TotalAlloc; made > room {
					t.Fatalf("%s with %#x at %d: %d MB for %d bytes (%v)", name, number, at, made>>20, len(text), err)
				}
				if err != nil {
					refused++
				}
			}
		}
		if refused < len(sound)/4 {
			t.Errorf("%s: only %d damaged files were refused", name, refused)
		}
	}
}

// readAll reads an Arrow file to its end.
func readAll(text []byte) error {
	in, err := Read("x.arrow", "x.arrow", content{bytes.NewReader(text)}, int64(len(text)))
	if err != nil {
		return err
	}
	defer in.Close()
	for range 4096 {
		if _, err := in.Next(); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
	return nil
}
