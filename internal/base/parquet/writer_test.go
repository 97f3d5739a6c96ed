package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"
)

// allColumns has a column of every kind.
var allColumns = []Column{
	{Name: "number"},
	{Name: "number or none", Optional: true},
	{Name: "double", Kind: Double},
	{Name: "double or none", Kind: Double, Optional: true},
	{Name: "text", Kind: Text},
	{Name: "text or none", Kind: Text, Optional: true},
	{Name: "name", Kind: Text, Dictionary: true},
	{Name: "name or none", Kind: Text, Dictionary: true, Optional: true},
	{Name: "list", List: true},
}

// drawRow returns a row of allColumns as it is written.
func drawRow(t *rapid.T) []any {
	texts := rapid.StringN(0, 20, 200)
	names := rapid.SampledFrom([]string{"", "a", "b", "long name of a label", "ü"})
	maybe := func(v any) any {
		if rapid.Bool().Draw(t, "none") {
			return nil
		}
		return v
	}
	return []any{
		rapid.Int64().Draw(t, "number"), maybe(rapid.Int64Range(-9, 9).Draw(t, "small")), rapid.Float64().Draw(t, "double"), maybe(rapid.Float64().Draw(t, "maybe")),
		texts.Draw(t, "text"), maybe(texts.Draw(t, "text2")), names.Draw(t, "name"), maybe(names.Draw(t, "name2")), rapid.SliceOfN(rapid.Int64(), 0, 12).Draw(t, "list"),
	}
}

// asRead returns a written row as a reader has it.
func asRead(row []any) map[string]any {
	out := map[string]any{}
	for i, c := range allColumns {
		out[c.Name] = row[i]
		if c.List {
			list := []any{}
			for _, v := range row[i].([]int64) {
				list = append(list, v)
			}
			out[c.Name] = list
		}
	}
	return out
}

// TestWrittenTables: rows of every kind are read again as they were written, by this package and by another library, whatever the row groups and
// however often a row is repeated.
func TestWrittenTables(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var out bytes.Buffer
		w := NewWriter(&out, allColumns, [][2]string{{"key", "value"}})
		var want []map[string]any
		for _, row := range rapid.SliceOfN(rapid.Custom(drawRow), 0, 12).Draw(t, "rows") {
			for range rapid.SampledFrom([]int{1, 1, 2, 7, 8, 9, 50}).Draw(t, "times") {
				if err := w.Append(row...); err != nil {
					t.Fatal(err)
				}
				want = append(want, asRead(row))
			}
			if rapid.IntRange(0, 5).Draw(t, "flush") == 0 {
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		var got []map[string]any
		if err := each(out.Bytes(), func(row map[string]any) { got = append(got, row) }); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%d rows, want %d: %v", len(got), len(want), err)
		}
		if got, err := witnessOf(out.Bytes()); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("the witness reads %d rows, want %d: %v", len(got), len(want), err)
		}
	})
}

// TestLargeColumns: columns of several pages are read again, with the bounds of their numbers.
func TestLargeColumns(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out, []Column{{Name: "i"}, {Name: "x", Kind: Double, Optional: true}, {Name: "name", Kind: Text, Dictionary: true}, {Name: "list", List: true}}, nil)
	const rows = 100_000
	for i := range int64(rows) {
		var x any = float64(i) / 4
		switch {
		case i%3 == 0:
			x = nil
		case i%100 == 1:
			x = math.NaN()
		}
		if err := w.Append(i-50_000, x, fmt.Sprint("name ", i%70_000), []int64{i, -i}[:i%3]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	err := each(out.Bytes(), func(row map[string]any) {
		x, _ := row["x"].(float64)
		list := row["list"].([]any)
		if row["i"] != n-50_000 || (row["x"] == nil) != (n%3 == 0) || n%3 != 0 && n%100 != 1 && x != float64(n)/4 || row["name"] != fmt.Sprint("name ", n%70_000) || len(list) != int(n%3) {
			t.Fatalf("row %d: %v", n, row)
		}
		n++
	})
	if err != nil || n != rows {
		t.Fatalf("%d rows, %v", n, err)
	}
	file, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	columns := file.Metadata().RowGroups[0].Columns
	least, most := columns[0].MetaData.Statistics.MinValue, columns[0].MetaData.Statistics.MaxValue
	if s := columns[2].MetaData.Statistics; string(s.MinValue) != "name 0" || string(s.MaxValue) != "name 9999" {
		t.Errorf("names from %q to %q", s.MinValue, s.MaxValue)
	}
	if file.NumRows() != rows || columns[1].MetaData.Statistics.NullCount != 33334 || string(least) != "\xb0\x3c\xff\xff\xff\xff\xff\xff" || string(most) != "\x4f\xc3\x00\x00\x00\x00\x00\x00" {
		t.Errorf("%d rows, %+v, %x to %x", file.NumRows(), columns[1].MetaData.Statistics, least, most)
	}
}

// TestWrongRows: a row that does not fit the columns is refused with its column, and a writer that fails passes its error on.
func TestWrongRows(t *testing.T) {
	columns := []Column{{Name: "i"}, {Name: "x", Kind: Double, Optional: true}, {Name: "s", Kind: Text}, {Name: "l", List: true}}
	for says, row := range map[string][]any{
		"3 values for 4 columns":                {int64(1), 1., "s"},
		"column i: a value is missing":          {nil, 1., "s", []int64{}},
		"column i: float64 is not of its kind":  {1., 1., "s", []int64{}},
		"column x: string is not of its kind":   {int64(1), "1", "s", []int64{}},
		"column s: int64 is not of its kind":    {int64(1), nil, int64(2), []int64{}},
		"column s: []int64 is not of its kind":  {int64(1), nil, []int64{}, []int64{}},
		"column l: int64 is not of its kind":    {int64(1), nil, "s", int64(1)},
		"column l: []string is not of its kind": {int64(1), nil, "s", []string{}},
	} {
		if err := NewWriter(io.Discard, columns, nil).Append(row...); err == nil || err.Error() != says {
			t.Errorf("%v, want %s", err, says)
		}
	}
	full := errors.New("no space left")
	w := NewWriter(failing{full}, columns, nil)
	if err := w.Append(int64(1), nil, "s", []int64{1}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); !errors.Is(err, full) {
		t.Error(err)
	}
}

// failing is a file that takes nothing.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestEmptyTable: a table without rows has its columns and its texts.
func TestEmptyTable(t *testing.T) {
	var out bytes.Buffer
	if err := NewWriter(&out, allColumns, [][2]string{{"key", strings.Repeat("v", 300)}}).Close(); err != nil {
		t.Fatal(err)
	}
	in, err := Open(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil || len(in.Columns()) != len(allColumns) {
		t.Fatal(err)
	}
	if row, err := in.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("%v, %v", row, err)
	}
	file, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := file.Lookup("key"); !ok || len(v) != 300 {
		t.Errorf("key: %q, %v", v, ok)
	}
}
