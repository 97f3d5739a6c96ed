package arrow

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// TestLargeWindow: a buffer of more than 64 MiB in one zstd segment, whose window is the whole buffer, is decompressed.
func TestLargeWindow(t *testing.T) {
	const size, block = minRoom + 5, 128 << 10
	frame := binary.LittleEndian.AppendUint32([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xa0}, size) // one segment; four bytes of size
	for left := size; left > 0; left -= block {
		head := min(left, block)<<3 | 1<<1 // a block of one repeated byte
		if left <= block {
			head |= 1 // the last one
		}
		frame = append(frame, byte(head), byte(head>>8), byte(head>>16), 'x')
	}
	out := make([]byte, size)
	if err := unzstd(frame, out); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(out, []byte("x")); n != size {
		t.Errorf("%d of %d bytes", n, size)
	}
}
