package parquet

import (
	"bytes"
	"math"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// TestBoundsOfNaN: a row group with a NaN has no bounds, because DuckDB orders NaN above all numbers: with bounds, it skips the row group and loses
// the row. Other row groups have bounds.
func TestBoundsOfNaN(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out, []Column{{Name: "x", Kind: Double}}, nil)
	for _, group := range [][]float64{{1, 2}, {1, math.NaN()}, {3}} {
		for _, v := range group {
			if err := w.Append(v); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{8, 0, 8} {
		s := file.Metadata().RowGroups[i].Columns[0].MetaData.Statistics
		if len(s.MinValue) != want || len(s.MaxValue) != want {
			t.Errorf("row group %d: bounds %x to %x, want %d bytes each", i, s.MinValue, s.MaxValue, want)
		}
	}
}
