package parquet

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// valuesOf returns a file of testdata/values.
func valuesOf(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/values/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestNumbers: decimals are the nearest floats, numbers above 2^63 are floats and not negative, and floats of two bytes are numbers (by pyarrow).
func TestNumbers(t *testing.T) {
	want := map[string][]any{
		"half":   {1.5, math.Copysign(0, -1), 0x1p-24, math.Inf(1), -65504.0},
		"large":  {0x1p64, 0x1p63, int64(math.MaxInt64), int64(0), int64(1)},
		"cents":  {66.49, -1234567.89, 0.01, 9999999.99, nil},
		"digits": {-727519304.7166826, 571244494.587987, 123456789.123456789, 0.0, nil},
		"wide":   {0.1, -8.7654321098765432109876543210, 1.0, nil, 123456789.5},
		"times":  {int64(0), int64(1), int64(2), nil, int64(3)},
	}
	rows := read(t, valuesOf(t, "numbers.parquet"))
	if len(rows) != 5 {
		t.Fatalf("%d rows, want 5", len(rows))
	}
	for i, row := range rows {
		for name, column := range want {
			if !reflect.DeepEqual(row[name], column[i]) {
				t.Errorf("row %d, column %s: %v, want %v", i, name, row[name], column[i])
			}
		}
	}
}

// TestHalfNaN: NaN as a float of two bytes stays NaN.
func TestHalfNaN(t *testing.T) {
	if v := float16(0x7e00); !math.IsNaN(v) {
		t.Errorf("%v", v)
	}
	if v := float16(0xfc00); !math.IsInf(v, -1) {
		t.Errorf("%v", v)
	}
}

// TestEmptyRowGroup: a row group without rows has dictionary pages and no data pages (by pyarrow).
func TestEmptyRowGroup(t *testing.T) {
	if rows := read(t, valuesOf(t, "empty.parquet")); len(rows) != 0 {
		t.Errorf("%d rows, want none", len(rows))
	}
}

// TestOldLZ4: the former LZ4 has blocks behind their sizes, as Hadoop writes them, or none of that (by fastparquet).
func TestOldLZ4(t *testing.T) {
	rows := read(t, valuesOf(t, "old_lz4.parquet"))
	if len(rows) != 20 || rows[19]["text"] != "prompt 19 "+strings.Repeat("word ", 9) {
		t.Errorf("%d rows, the last is %v", len(rows), rows[len(rows)-1])
	}
	text := []byte(strings.Repeat("a text of two blocks. ", 20))
	var framed []byte
	for _, part := range [][]byte{text[:200], text[200:]} {
		block := make([]byte, lz4.CompressBlockBound(len(part)))
		n, err := lz4.CompressBlock(part, block, nil)
		if err != nil {
			t.Fatal(err)
		}
		framed = binary.BigEndian.AppendUint32(framed, uint32(len(part)))
		framed = append(binary.BigEndian.AppendUint32(framed, uint32(n)), block[:n]...)
	}
	c := &cursor{chunk: &chunk{codec: codecOldLZ4}}
	if out, err := c.decompress(framed, len(text)); err != nil || !bytes.Equal(out, text) {
		t.Errorf("%q, %v", out, err)
	}
	for cut := 1; cut < len(framed); cut++ {
		if out, err := c.decompress(framed[:cut], len(text)); err == nil && bytes.Equal(out, text) {
			t.Errorf("%d of %d bytes are enough", cut, len(framed))
		}
	}
}

// TestEncryptedFiles: encrypted files and columns are refused; the other columns are read (by pyarrow).
func TestEncryptedFiles(t *testing.T) {
	for name, wrong := range map[string]string{"locked.parquet": "the file is encrypted", "locked_column.parquet": "column b is encrypted"} {
		err := each(valuesOf(t, name), func(map[string]any) {})
		if err == nil || !strings.HasPrefix(err.Error(), wrong) || !strings.HasSuffix(err.Error(), "without encryption") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
