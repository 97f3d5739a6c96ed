package table

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	pq "github.com/parquet-go/parquet-go/format"
)

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

// TestPackedPages checks that pages of every codec and encoding pass the check.
func TestPackedPages(t *testing.T) {
	for name, codec := range packings {
		for version := 1; version <= 2; version++ {
			text := packedTable(t, codec, version, someRows()...)
			n := 0
			err := eachParquet(text, func(row Row) {
				if want := someRows()[n]; row["plain"] != want.Plain || row["prefix"] != "prefix" || row["number"] != want.Number || len(row["list"].([]any)) != len(want.List) {
					t.Errorf("%s, version %d: %v, want %v", name, version, row, want)
				}
				n++
			})
			if err != nil || n != 20 {
				t.Errorf("%s, version %d: %d rows, %v", name, version, n, err)
			}
		}
	}
}

// eachParquet reads a Parquet file to its end.
func eachParquet(text []byte, f func(Row)) error {
	in, err := Read("x.parquet", "x.parquet", content{bytes.NewReader(text)}, int64(len(text)))
	if err != nil {
		return err
	}
	defer in.Close()
	for range 4096 {
		row, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		f(row)
	}
	return nil
}

// TestHostileParquet changes numbers anywhere in a file. Reading it must end with rows or an error that names the file, within the memory that its
// size allows. The library would allocate the stated sizes and counts of a damaged page.
func TestHostileParquet(t *testing.T) {
	for name, codec := range packings {
		sound := packedTable(t, codec, 1+len(name)%2, someRows()...)
		refused, tried := 0, 0
		for at := 4; at < len(sound); at += 9 {
			for _, number := range []string{"\xfe\xff\xff\xff\x0f", "\xff\xff\xff\x7f", "\xfc\xfc\xff\xff\xff\xff\xff\xff\x7f"} {
				text := bytes.Clone(sound)
				copy(text[at:], number)
				tried++
				if takes(t, text) != nil {
					refused++
				}
			}
		}
		if refused < tried/3 {
			t.Errorf("%s: only %d of %d damaged files were refused", name, refused, tried)
		}
	}
}

// takes reads a file with limited memory.
func takes(t *testing.T, text []byte) error {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := eachParquet(text, func(Row) {})
	runtime.ReadMemStats(&after)
	if made := after.TotalAlloc - before.TotalAlloc; made > 8*leastRoom {
		t.Fatalf("%d MB for %d bytes (%v)", made>>20, len(text), err)
	}
	if err != nil && !strings.HasPrefix(err.Error(), "x.parquet") {
		t.Errorf("%v names no file", err)
	}
	return err
}

// TestParquetBombs checks that pages that state more than allowed, or hold more than they state, are rejected with their column before they are
// decoded.
func TestParquetBombs(t *testing.T) {
	whole := packedTable(t, &parquet.Uncompressed, 1, someRows()...)
	sound, err := parquet.OpenFile(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
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
		column      string
		codec       pq.CompressionCodec
		values      int32
		encoding    pq.Encoding
		stated      int32 // decompressed bytes
		body, wrong string
	}{
		{"plain", pq.Snappy, 5, pq.Plain, 1 << 30, "x", "with the other columns it needs 1024 MiB; at most 64 are made for a file of this size"},
		{"plain", pq.Snappy, 5, pq.Plain, 2<<30 - 1, "x", "2147483647 bytes once it is decompressed; at most 1024 MiB can be read"},
		{"plain", pq.Uncompressed, 2<<30 - 1, pq.Plain, 9, "x", "it needs 16384 MiB"},
		{"plain", pq.Snappy, 5, pq.Plain, 1000, "\xff\xff\xff\xff\x0f", "it holds more than the 1000 bytes that it states"},
		{"plain", pq.Snappy, 5, pq.Plain, 1000, packed(&parquet.Snappy, zeros), "it holds more than the 1000 bytes that it states"},
		{"plain", pq.Gzip, 5, pq.Plain, 1000, packed(&parquet.Gzip, zeros), "it holds more than the 1000 bytes that it states"},
		{"plain", pq.Zstd, 5, pq.Plain, 1000, packed(&parquet.Zstd, zeros), "it holds more than the 1000 bytes that it states"},
		{"plain", pq.Brotli, 5, pq.Plain, 1000, packed(&parquet.Brotli, zeros), "it holds more than the 1000 bytes that it states"},
		{"plain", pq.Lz4Raw, 5, pq.Plain, 1000, packed(&parquet.Lz4Raw, zeros), "decompressing 1000 bytes"},
		{"named", pq.Uncompressed, 5, pq.RLEDictionary, 601, "\x01" + manyRuns, "runs of more than the 5 values of the page"},
		{"named", pq.Uncompressed, 5, pq.RLEDictionary, 9, "\x21", "numbers of 33 bits"},
		{"prefix", pq.Uncompressed, 5, pq.DeltaByteArray, 604, "\x58\x02\x00\x00" + manyRuns, "runs of more than the 5 values of the page"},
		{"number", pq.Uncompressed, 5, pq.DeltaBinaryPacked, 9, "\x80\x01\x04\xff\xff\xff\xff\x07\x00", "2147483647 numbers in blocks of 128 in a page of 5 values"},
		{"length", pq.Uncompressed, 3, pq.DeltaLengthByteArray, 20, "\x80\x01\x01\x03\xfe\xff\xff\xff\x0f\x00\x00", "texts of 2147483645 bytes in a page of 20"},
		{"length", pq.Uncompressed, 3, pq.DeltaByteArray, 30, "\x80\x01\x01\x03\xfe\xff\xff\xff\x0f\x00\x00\x80\x01\x01\x03\x00\x00\x00", "texts of 2147483645 bytes in a page of 30"},
	} {
		head := pq.PageHeader{Type: pq.DataPage, CompressedPageSize: int32(len(c.body)), UncompressedPageSize: c.stated}
		head.DataPageHeader = thrift.New(pq.DataPageHeader{NumValues: c.values, Encoding: c.encoding, DefinitionLevelEncoding: pq.RLE, RepetitionLevelEncoding: pq.RLE})
		text, err := thrift.Marshal(new(thrift.CompactProtocol), &head)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, c.body...)
		leaf := sound.Root().Column(c.column)
		p := &checkedPages{Input: content{bytes.NewReader(text)}, room: leastRoom, groups: []int64{0}}
		p.chunks = []*chunk{{to: int64(len(text)), column: c.column, codec: c.codec, leaf: leaf}}
		if _, err := p.ReadAt(make([]byte, 1), 0); err == nil || !strings.Contains(err.Error(), c.wrong) || !strings.Contains(err.Error(), "column "+c.column+", page 0 of row group 0") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestParquetFooters checks that an index that states more than the file has, or whose columns overlap, is rejected.
func TestParquetFooters(t *testing.T) {
	sound := packedTable(t, &parquet.Uncompressed, 1, someRows()...)
	in := content{bytes.NewReader(sound)}
	for wrong, change := range map[string]func(*pq.FileMetaData){
		"share bytes": func(m *pq.FileMetaData) {
			c := m.RowGroups[0].Columns
			c[1].MetaData.DictionaryPageOffset, c[1].MetaData.DataPageOffset = 0, c[0].MetaData.DataPageOffset
		},
		"column plain has 4611686018427387904 bytes at 4": func(m *pq.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize = 1 << 62 },
		"7 columns in row group 0, 6 in the schema":       func(m *pq.FileMetaData) { m.Schema[1].Type.Valid = false },
	} {
		meta, err := readFooter(in, int64(len(sound)))
		if err != nil {
			t.Fatal(err)
		}
		change(meta)
		if _, err := newPages(in, int64(len(sound)), meta); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%v, want %s", err, wrong)
		}
	}
	for _, footer := range []string{"\x15\x02\x29\xfc\xff\xff\xff\x07", "\x18\xff\xff\xff\xff\x07", strings.Repeat("\x1c", 1000), "\x1b\xff\xff\xff\xff\x07\x55"} {
		text := "PAR1" + footer + string([]byte{byte(len(footer)), byte(len(footer) >> 8), 0, 0}) + "PAR1"
		if _, err := readFooter(content{bytes.NewReader([]byte(text))}, int64(len(text))); err == nil || !strings.Contains(err.Error(), "the footer: ") {
			t.Errorf("%q: %v", footer, err)
		}
	}
}
