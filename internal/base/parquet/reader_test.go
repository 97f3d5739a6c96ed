package parquet

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// each reads a file to its end.
func each(text []byte, f func(map[string]any)) error {
	in, err := Open(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return err
	}
	defer in.Close()
	for {
		row, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		f(row)
	}
}

func read(t testing.TB, text []byte) (rows []map[string]any) {
	t.Helper()
	if err := each(text, func(row map[string]any) { rows = append(rows, row) }); err != nil {
		t.Fatal(err)
	}
	return rows
}

// jsonOf returns the JSON text of a value.
func jsonOf(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestTablesOfPyarrow: a table of every kind of column, written by pyarrow in every encoding, codec and page version, has the rows that pyarrow was
// given (testdata/make.py).
func TestTablesOfPyarrow(t *testing.T) {
	text, err := os.ReadFile("testdata/rows.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for line := range strings.Lines(string(text)) {
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		var row map[string]any
		if err := d.Decode(&row); err != nil {
			t.Fatal(err)
		}
		want = append(want, jsonOf(t, numbers(row)))
	}
	files, err := filepath.Glob("testdata/*.parquet")
	if err != nil || len(files) != 6 || len(want) != 100 {
		t.Fatal(files, len(want), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rows := read(t, text)
		if len(rows) != len(want) {
			t.Errorf("%s: %d rows, want %d", file, len(rows), len(want))
			continue
		}
		for i, row := range rows {
			if got := jsonOf(t, row); got != want[i] {
				t.Errorf("%s, row %d: %s\nwant %s", file, i, got, want[i])
				break
			}
		}
	}
}

// numbers returns a value of JSON with int64 for whole numbers, float64 for others.
func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, err := v.Float64()
		if err != nil {
			return err
		}
		return f
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	}
	return v
}

// witnessOf reads a file with another library.
func witnessOf(text []byte) (rows []map[string]any, err error) {
	file, err := parquet.OpenFile(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return nil, err
	}
	in := parquet.NewGenericReader[map[string]any](file, file.Schema())
	defer in.Close()
	for {
		some := make([]map[string]any, 16)
		for i := range some {
			some[i] = map[string]any{}
		}
		n, err := in.Read(some)
		for _, row := range some[:n] {
			rows = append(rows, plain(row).(map[string]any))
		}
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
	}
}

// plain returns a value of the other library as this package has it.
func plain(v any) any {
	switch v := v.(type) {
	case int32:
		return int64(v)
	case uint32:
		return int64(v)
	case float32:
		return float64(v)
	case []byte:
		return string(v)
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plain(v[k])
		}
	}
	return v
}

// TestSameAsWitness: every Parquet file among the test data of the project has the rows that another library reads.
func TestSameAsWitness(t *testing.T) {
	files := 0
	err := filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".parquet" || strings.Contains(path, "base/parquet") || strings.HasPrefix(path, "testdata") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		want, err := witnessOf(text)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if got := read(t, text); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %d rows, not those of the witness, %d", path, len(got), len(want))
		}
		return nil
	})
	if err != nil || files < 20 {
		t.Errorf("%d files, %v", files, err)
	}
}

// TestOpenColumns: only the named columns are read; names that are not there are ignored.
func TestOpenColumns(t *testing.T) {
	text, err := os.ReadFile("testdata/plain_none_v1.parquet")
	if err != nil {
		t.Fatal(err)
	}
	in, err := Open(bytes.NewReader(text), int64(len(text)), "messages", "number", "nowhere")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	row, err := in.Next()
	if err != nil || len(row) != 2 || row["number"] != int64(-5000) || len(in.Columns()) != 20 {
		t.Errorf("%v, %v, columns %v", row, err, in.Columns())
	}
}

// packedRow has columns of every encoding.
type packedRow struct {
	Plain  string   `parquet:"plain,plain"`
	Named  string   `parquet:"named,dict"`
	Length string   `parquet:"length,delta"`
	Prefix []byte   `parquet:"prefix,delta,optional"`
	Number int64    `parquet:"number,delta"`
	Flag   bool     `parquet:"flag,plain"`
	List   []string `parquet:"list,list"`
}

var packings = map[string]compress.Codec{
	"none": &parquet.Uncompressed, "snappy": &parquet.Snappy, "gzip": &parquet.Gzip, "zstd": &parquet.Zstd, "lz4": &parquet.Lz4Raw, "brotli": &parquet.Brotli,
}

// packedTable is a table of some rows.
func packedTable(t testing.TB, codec compress.Codec, version int, rows ...packedRow) []byte {
	t.Helper()
	var out bytes.Buffer
	w := parquet.NewGenericWriter[packedRow](&out, parquet.Compression(codec), parquet.DataPageVersion(version))
	_, err := w.Write(rows)
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func someRows() (rows []packedRow) {
	for i := range 20 {
		rows = append(rows, packedRow{strings.Repeat("a", i), "n", "l", []byte("prefix"), int64(i * i), i%3 == 0, []string{"x", "y"}[:i%3%2+1]})
	}
	return rows
}

// TestPackedPages checks pages of every codec and encoding, written by another library.
func TestPackedPages(t *testing.T) {
	for name, codec := range packings {
		for version := 1; version <= 2; version++ {
			rows := read(t, packedTable(t, codec, version, someRows()...))
			if len(rows) != 20 {
				t.Fatalf("%s, version %d: %d rows", name, version, len(rows))
			}
			for i, want := range someRows() {
				if row := rows[i]; row["plain"] != want.Plain || row["prefix"] != "prefix" || row["number"] != want.Number || len(row["list"].([]any)) != len(want.List) {
					t.Errorf("%s, version %d: %v, want %v", name, version, row, want)
				}
			}
		}
	}
}

// TestHostileFiles changes numbers anywhere in a file. Reading it must end with rows or an error, within the memory that its size allows.
func TestHostileFiles(t *testing.T) {
	for name, codec := range packings {
		sound := packedTable(t, codec, 1+len(name)%2, someRows()...)
		refused, tried := 0, 0
		for at := 4; at < len(sound); at += 9 {
			for _, number := range []string{"\xfe\xff\xff\xff\x0f", "\xff\xff\xff\x7f", "\xfc\xfc\xff\xff\xff\xff\xff\xff\x7f"} {
				text := bytes.Clone(sound)
				copy(text[at:], number)
				tried++
				if within(t, text) != nil {
					refused++
				}
			}
		}
		if refused < tried/3 {
			t.Errorf("%s: only %d of %d damaged files were refused", name, refused, tried)
		}
	}
}

// within reads a file with limited memory.
func within(t *testing.T, text []byte) error {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	rows := 0
	err := each(text, func(map[string]any) {
		if rows++; rows > 1<<20 {
			t.Fatalf("%d rows of %d bytes", rows, len(text))
		}
	})
	runtime.ReadMemStats(&after)
	if made := after.TotalAlloc - before.TotalAlloc; made > 8*minRoom {
		t.Fatalf("%d MB for %d bytes (%v)", made>>20, len(text), err)
	}
	return err
}

// TestBombs checks that pages that state more than allowed, or hold more than they state, are refused with their column.
func TestBombs(t *testing.T) {
	packed := func(codec compress.Codec, text string) string {
		out, err := codec.Encode(nil, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	zeros := strings.Repeat("\x00", 1<<20)
	manyRuns := strings.Repeat("\xfe\xff\xff\xff\x07\x01", 100) // 2^30 - 1 values each
	for _, c := range []struct {
		codec       format.CompressionCodec
		values      int32
		encoding    format.Encoding
		stated      int32 // decompressed bytes
		body, wrong string
	}{
		{format.Snappy, 5, format.Plain, 1 << 30, "x", "with the other columns it needs 1024 MiB; at most 64 are made for a file of this size"},
		{format.Snappy, 5, format.Plain, 2<<30 - 1, "x", "2147483647 bytes once it is decompressed; at most 1024 MiB can be read"},
		{format.Uncompressed, 2<<30 - 1, format.Plain, 9, "x", "it needs 16384 MiB"},
		{format.Uncompressed, -1, format.Plain, 9, "x", "-1 values"},
		{format.Snappy, 5, format.Plain, 1000, "\xff\xff\xff\xff\x0f", "it holds more than the 1000 bytes that it states"},
		{format.Snappy, 5, format.Plain, 1000, packed(&parquet.Snappy, zeros), "it holds more than the 1000 bytes that it states"},
		{format.Gzip, 5, format.Plain, 1000, packed(&parquet.Gzip, zeros), "it holds more than the 1000 bytes that it states"},
		{format.Zstd, 5, format.Plain, 1000, packed(&parquet.Zstd, zeros), "it holds more than the 1000 bytes that it states"},
		{format.Brotli, 5, format.Plain, 1000, packed(&parquet.Brotli, zeros), "it holds more than the 1000 bytes that it states"},
		{format.Lz4Raw, 5, format.Plain, 1000, packed(&parquet.Lz4Raw, zeros), "decompressing 1000 bytes"},
		{format.LZO, 5, format.Plain, 1000, zeros, "compressed by the method 3, which cannot be read"},
		{format.Uncompressed, 5, format.RLEDictionary, 601, "\x01" + manyRuns, "value 1 of a dictionary of 0"},
		{format.Uncompressed, 5, format.RLEDictionary, 9, "\x21", "numbers of 33 bits"},
		{format.Uncompressed, 5, format.DeltaByteArray, 604, deltaText(0, 0, 0) + "\x80\x01\x04\xff\xff\xff\xff\x07\x00", "2147483647 numbers in blocks of 128"},
		{format.Uncompressed, 5, format.DeltaBinaryPacked, 9, "\x80\x01\x04\x03\x00", "values of type 6 in the encoding 5"},
		{format.Uncompressed, 5, format.DeltaLengthByteArray, 9, "\x80\x01\x04\xff\xff\xff\xff\x07\x00", "2147483647 numbers in blocks of 128 in a page of 5 values"},
		{format.Uncompressed, 3, format.DeltaLengthByteArray, 20, "\x80\x01\x01\x03\xfe\xff\xff\xff\x0f\x00\x00", "a text of 2147483647 bytes"},
		{format.Uncompressed, 3, format.DeltaByteArray, 2000, deltaText(0, 65535, 65535) + deltaText(1, 0, 0) + "x", "behind the first 65535 of one of 1"},
		{format.Uncompressed, 3, format.ByteStreamSplit, 30, "x", "values of type 6 in the encoding 9"},
	} {
		head := format.PageHeader{Type: format.DataPage, CompressedPageSize: int32(len(c.body)), UncompressedPageSize: c.stated}
		head.DataPageHeader = thrift.New(format.DataPageHeader{NumValues: c.values, Encoding: c.encoding, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE})
		text, err := thrift.Marshal(new(thrift.CompactProtocol), &head)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, c.body...)
		leaf := &cursor{leaf: &node{element: element{physical: typeText}}, reader: &Reader{in: bytes.NewReader(text), memory: minRoom}}
		leaf.begin(&chunk{path: []string{"a", "b"}, codec: int(c.codec), values: 1 << 20, to: int64(len(text))})
		err = nil
		for range 3 {
			if err == nil {
				_, err = leaf.next()
			}
		}
		if err == nil || !strings.Contains(err.Error(), c.wrong) || !strings.Contains(err.Error(), "column a.b, page 0 of row group 0") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// deltaText returns numbers in the encoding DELTA_BINARY_PACKED: one block of one part, whose differences have 64 bits.
func deltaText(list ...int64) string {
	b := append(binary.AppendUvarint([]byte{0x80, 0x01, 0x01}, uint64(len(list))), binary.AppendVarint(nil, list[0])...)
	b = append(b, 0, 64)
	for i := range 128 {
		difference := int64(0)
		if i+1 < len(list) {
			difference = list[i+1] - list[i]
		}
		b = binary.LittleEndian.AppendUint64(b, uint64(difference))
	}
	return string(b)
}

// TestRepeatedPrefixes: texts that repeat those before them end where they would fill the memory.
func TestRepeatedPrefixes(t *testing.T) {
	leaf := &node{element: element{physical: typeText}}
	page := deltaText(0, 1000, 1000) + deltaText(1000, 1, 0) + strings.Repeat("x", 1000) + "y"
	texts, err := newDeltaTexts(leaf, []byte(page), 3, true, 1500)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{1000, 1001} {
		if v, err := texts.next(); err != nil || len(v.(string)) != want {
			t.Errorf("text %d: %v, %v", i, v, err)
		}
	}
	if _, err := texts.next(); err == nil || !strings.Contains(err.Error(), "repeat too much") {
		t.Error(err)
	}
}

// TestFooters checks that an index that states more than the file has, or whose columns overlap, is refused.
func TestFooters(t *testing.T) {
	sound := packedTable(t, &parquet.Uncompressed, 1, someRows()...)
	file, err := parquet.OpenFile(bytes.NewReader(sound), int64(len(sound)))
	if err != nil {
		t.Fatal(err)
	}
	for wrong, change := range map[string]func(*format.FileMetaData){
		"share bytes": func(m *format.FileMetaData) {
			c := m.RowGroups[0].Columns
			c[1].MetaData.DictionaryPageOffset, c[1].MetaData.DataPageOffset = 0, c[0].MetaData.DataPageOffset
		},
		"column plain has 4611686018427387904 bytes at 4": func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = 1 << 62 },
		"7 columns in row group 0, 6 in the schema":       func(m *format.FileMetaData) { m.Schema[1].Type.Valid = false },
		"column plain has the type 9":                     func(m *format.FileMetaData) { m.Schema[1].Type.V = 9 },
		"column plain has the repetition 4":               func(m *format.FileMetaData) { m.Schema[1].RepetitionType.V, m.Schema[1].RepetitionType.Valid = 4, true },
		"20 rows, and the footer states 19":               func(m *format.FileMetaData) { m.RowGroups[0].NumRows = 19 },
		"20 rows, and the footer states 21":               func(m *format.FileMetaData) { m.RowGroups[0].NumRows = 21 },
		`column plain is in the file "b.parquet"`: func(m *format.FileMetaData) {
			m.RowGroups[0].Columns[0].FilePath = "b.parquet"
		},
		"a schema that ends early": func(m *format.FileMetaData) { m.Schema[0].NumChildren.V = 99 },
		"8 columns more":           func(m *format.FileMetaData) { m.Schema[0].NumChildren.V = 1 },
		"no schema":                func(m *format.FileMetaData) { m.Schema = nil },
	} {
		meta := *file.Metadata()
		meta.Schema = slices.Clone(meta.Schema)
		meta.RowGroups = slices.Clone(meta.RowGroups)
		meta.RowGroups[0].Columns = slices.Clone(meta.RowGroups[0].Columns)
		change(&meta)
		text, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
		if err != nil {
			t.Fatal(err)
		}
		text = append(bytes.Clone(sound[:len(sound)-8]), text...)
		n := len(text) - (len(sound) - 8)
		text = append(text, byte(n), byte(n>>8), 0, 0)
		text = append(text, magic...)
		if err := each(text, func(map[string]any) {}); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%v, want %s", err, wrong)
		}
	}
	for _, footer := range []string{"\x15\x02\x29\xfc\xff\xff\xff\x07", "\x18\xff\xff\xff\xff\x07", strings.Repeat("\x1c", 1000), "\x1b\xff\xff\xff\xff\x07\x55"} {
		text := magic + footer + string([]byte{byte(len(footer)), byte(len(footer) >> 8), 0, 0}) + magic
		if _, err := Open(strings.NewReader(text), int64(len(text))); err == nil || !strings.Contains(err.Error(), "the footer: ") {
			t.Errorf("%q: %v", footer, err)
		}
	}
}

// TestEndlessList: a list of equal values, which take no bytes, ends where it would fill the memory. An error has its position once.
func TestEndlessList(t *testing.T) {
	const values = 4 << 20
	run := func(count int, v byte) string { return string(append(binary.AppendUvarint(nil, uint64(count)<<1), v)) }
	prefixed := func(runs string) string {
		return string(binary.LittleEndian.AppendUint32(nil, uint32(len(runs)))) + runs
	}
	body := prefixed(run(1, 0)+run(values-1, 1)) + prefixed(run(values, 1)) + prefixed(run(values, 1))
	head := format.PageHeader{Type: format.DataPage, CompressedPageSize: int32(len(body)), UncompressedPageSize: int32(len(body))}
	head.DataPageHeader = thrift.New(format.DataPageHeader{NumValues: values, Encoding: format.RLE, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE})
	text, err := thrift.Marshal(new(thrift.CompactProtocol), &head)
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, body...)
	r := &Reader{in: bytes.NewReader(text), memory: minRoom, footer: &footer{groups: []rowGroup{{chunks: []chunk{{path: []string{"l"}, values: values, to: int64(len(text))}}, rows: 1}}}, group: -1}
	if r.root, err = newTree([]element{{name: "root", physical: -1, children: 1}, {name: "l", physical: typeBool, repetition: repeated, logical: -1, converted: -1}}); err != nil {
		t.Fatal(err)
	}
	r.root.leaves[0].reader = r
	_, err = r.Next()
	if err == nil || !strings.Contains(err.Error(), "a row of more than 64 MiB") || strings.Count(err.Error(), "column l") != 1 {
		t.Error(err)
	}
}

// TestCheckSum: a page whose bytes do not have the stated check sum is refused.
func TestCheckSum(t *testing.T) {
	text, err := os.ReadFile("testdata/plain_none_v1.parquet")
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(text, []byte("prefix 00007"))
	text[at] = 'q'
	if err := each(text, func(map[string]any) {}); err == nil || !strings.Contains(err.Error(), "column sorted, page") || !strings.Contains(err.Error(), "its check sum is wrong") {
		t.Error(err)
	}
}

// FuzzRead reads any file: rows until the end, or an error.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.parquet")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for name, codec := range packings {
		f.Add(packedTable(f, codec, 1+len(name)%2, someRows()...))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		in, err := Open(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			return
		}
		defer in.Close()
		for rows := 0; err == nil && rows < 4096; rows++ { // equal values take next to no bytes: a small file may have many rows
			var row map[string]any
			if row, err = in.Next(); err == nil && len(row) > len(in.Columns()) {
				t.Fatalf("%d values in %d columns", len(row), len(in.Columns()))
			}
		}
	})
}
