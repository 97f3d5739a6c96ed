package parquet

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"

	"github.com/klauspost/compress/snappy"
)

// Kind is the kind of values of a column.
type Kind int

// The kinds of values: int64, float64 and string.
const (
	Int64 Kind = iota
	Double
	Text
)

// Column describes a column of a file that is written.
type Column struct {
	Name       string
	Kind       Kind
	Optional   bool // a value may be nil
	List       bool // a value is a []int64; of Kind Int64 only
	Dictionary bool // equal texts are stored once in a row group; of Kind Text only
}

// pageSize is the size from which a page is complete, in bytes.
const pageSize = 256 << 10

// Writer writes a table with Snappy compression. It keeps a row group in memory.
type Writer struct {
	out      io.Writer
	at       int64 // bytes written
	columns  []*buffer
	metadata [][2]string
	rows     int // of the row group
	total    int64
	groups   []writtenGroup
	err      error
}

type writtenGroup struct {
	rows   int
	chunks []writtenChunk
}

// writtenChunk tells where the pages of a column are.
type writtenChunk struct {
	values            int
	plain, stored     int
	dictionary, pages int64 // offsets; dictionary 0 = none
	nulls             int
	bounds            bool // a value is there
	nan               bool // so is a NaN: DuckDB puts it above all others and would leave out its row because of the bounds
	low, high         uint64
	first, last       string // texts of a dictionary
}

// NewWriter returns a writer of a table. metadata are names and texts that the file holds in addition to the table.
func NewWriter(out io.Writer, columns []Column, metadata [][2]string) *Writer {
	w := &Writer{out: out, metadata: metadata}
	for _, c := range columns {
		w.columns = append(w.columns, &buffer{Column: c})
	}
	return w
}

// Append adds a row with a value for each column: an int64, float64, string or []int64 as the column says, nil if it is not there.
func (w *Writer) Append(row ...any) error {
	if len(row) != len(w.columns) {
		return fmt.Errorf("%d values for %d columns", len(row), len(w.columns))
	}
	for i, c := range w.columns {
		if err := c.add(row[i]); err != nil {
			return fmt.Errorf("column %s: %w", c.Name, err)
		}
	}
	w.rows++
	return nil
}

// Flush ends the row group.
func (w *Writer) Flush() error {
	if w.rows == 0 {
		return w.err
	}
	w.begin()
	g := writtenGroup{rows: w.rows}
	for _, c := range w.columns {
		c.page()
		chunk := c.chunk
		if c.Dictionary {
			chunk.dictionary = w.at
			for text := range c.places {
				if !chunk.bounds || text < chunk.first {
					chunk.first = text
				}
				chunk.last = max(chunk.last, text)
				chunk.bounds = true
			}
			page, plain := c.entries()
			chunk.plain += plain
			w.write(page)
		}
		chunk.pages = w.at
		w.write(c.done)
		chunk.stored = int(w.at - chunk.pages)
		if c.Dictionary {
			chunk.stored = int(w.at - chunk.dictionary)
		}
		g.chunks = append(g.chunks, chunk)
		*c = buffer{Column: c.Column, done: c.done[:0], fixed: c.fixed[:0], levels: c.levels, repeats: c.repeats}
	}
	w.groups = append(w.groups, g)
	w.total += int64(w.rows)
	w.rows = 0
	return w.err
}

// Close writes the last row group and the index.
func (w *Writer) Close() error {
	if err := w.Flush(); err != nil {
		return err
	}
	w.begin()
	f := w.footer()
	w.write(f)
	w.write(binary.LittleEndian.AppendUint32(nil, uint32(len(f))))
	w.write([]byte(magic))
	return w.err
}

func (w *Writer) begin() {
	if w.at == 0 {
		w.write([]byte(magic))
	}
}

func (w *Writer) write(b []byte) {
	if w.err == nil {
		_, w.err = w.out.Write(b)
	}
	w.at += int64(len(b))
}

// buffer holds a column of the row group.
type buffer struct {
	Column
	done    []byte // complete pages
	chunk   writtenChunk
	levels  []uint32 // of the values of the page: 1 = there
	repeats []uint32 // 1 = not the first value of its row
	fixed   []byte   // plain values of the page
	indexes []uint32 // places of the values of the page in the dictionary
	places  map[string]uint32
	texts   []byte // plain values of the dictionary
}

// add adds the value of a row.
func (c *buffer) add(v any) error {
	if len(c.fixed)+4*len(c.indexes)+len(c.levels)/8 >= pageSize {
		c.page()
	}
	there := uint32(1)
	switch v := v.(type) {
	case nil:
		if !c.Optional {
			return fmt.Errorf("a value is missing")
		}
		c.chunk.nulls++
		there = 0
	case int64:
		if c.Kind != Int64 || c.List {
			return fmt.Errorf("%T is not of its kind", v)
		}
		c.number(uint64(v), func(a, b uint64) bool { return int64(a) < int64(b) })
	case float64:
		if c.Kind != Double {
			return fmt.Errorf("%T is not of its kind", v)
		}
		c.double(v)
	case string:
		if c.Kind != Text {
			return fmt.Errorf("%T is not of its kind", v)
		}
		c.text(v)
	case []int64:
		if !c.List {
			return fmt.Errorf("%T is not of its kind", v)
		}
		c.list(v)
		return nil
	default:
		return fmt.Errorf("%T is not of its kind", v)
	}
	c.levels = append(c.levels, there)
	return nil
}

func (c *buffer) list(v []int64) {
	if len(v) == 0 {
		c.levels, c.repeats = append(c.levels, 0), append(c.repeats, 0)
		c.chunk.nulls++
		return
	}
	for i, one := range v {
		c.levels, c.repeats = append(c.levels, 1), append(c.repeats, uint32(min(i, 1)))
		c.number(uint64(one), func(a, b uint64) bool { return int64(a) < int64(b) })
	}
}

// number adds a number of eight bytes and widens the bounds of the column.
func (c *buffer) number(v uint64, less func(a, b uint64) bool) {
	c.fixed = binary.LittleEndian.AppendUint64(c.fixed, v)
	if !c.chunk.bounds || less(v, c.chunk.low) {
		c.chunk.low = v
	}
	if !c.chunk.bounds || less(c.chunk.high, v) {
		c.chunk.high = v
	}
	c.chunk.bounds = true
}

func (c *buffer) double(v float64) {
	if v != v {
		c.chunk.nan = true
		c.fixed = binary.LittleEndian.AppendUint64(c.fixed, math.Float64bits(v))
		return
	}
	c.number(math.Float64bits(v), func(a, b uint64) bool { return math.Float64frombits(a) < math.Float64frombits(b) })
}

func (c *buffer) text(v string) {
	if !c.Dictionary {
		c.fixed = appendText(c.fixed, v)
		return
	}
	place, known := c.places[v]
	if !known {
		if c.places == nil {
			c.places = map[string]uint32{}
		}
		place = uint32(len(c.places))
		c.places[v] = place
		c.texts = appendText(c.texts, v)
	}
	c.indexes = append(c.indexes, place)
}

func appendText(b []byte, v string) []byte {
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(v))), v...)
}

// page ends a page: levels, then the values that are there.
func (c *buffer) page() {
	if len(c.levels) == 0 {
		return
	}
	var b []byte
	if c.List {
		b = appendLevels(b, c.repeats)
	}
	if c.List || c.Optional {
		b = appendLevels(b, c.levels)
	}
	encoding := encodingPlain
	if c.Dictionary {
		encoding = encodingIndexes
		width := bits.Len(uint(max(len(c.places), 1) - 1))
		b = appendRuns(append(b, byte(width)), c.indexes, width)
	}
	b = append(b, c.fixed...)
	head := func(t *thriftWriter) {
		t.open(5)
		t.int32(1, len(c.levels))
		t.int32(2, encoding)
		t.int32(3, encodingRuns)
		t.int32(4, encodingRuns)
		t.end()
	}
	page, plain := appendPage(nil, pageData, b, head)
	c.done = append(c.done, page...)
	c.chunk.plain += plain
	c.chunk.values += len(c.levels)
	c.levels, c.repeats, c.indexes, c.fixed = c.levels[:0], c.repeats[:0], c.indexes[:0], c.fixed[:0]
}

// entries returns the page of the dictionary and its size before compression.
func (c *buffer) entries() (page []byte, plain int) {
	return appendPage(nil, pageDictionary, c.texts, func(t *thriftWriter) {
		t.open(7)
		t.int32(1, len(c.places))
		t.int32(2, encodingPlain)
		t.end()
	})
}

// appendPage adds a page with its head. It returns the size before compression.
func appendPage(to []byte, kind int, b []byte, numbers func(*thriftWriter)) (page []byte, plain int) {
	text := snappy.Encode(nil, b)
	t := &thriftWriter{b: to}
	t.begin()
	t.int32(1, kind)
	t.int32(2, len(b))
	t.int32(3, len(text))
	numbers(t)
	t.end()
	return append(t.b, text...), len(t.b) - len(to) + len(b)
}

// appendLevels adds levels of one bit behind their length.
func appendLevels(b []byte, levels []uint32) []byte {
	at := len(b)
	b = appendRuns(append(b, 0, 0, 0, 0), levels, 1)
	binary.LittleEndian.PutUint32(b[at:], uint32(len(b)-at-4))
	return b
}

// appendRuns adds numbers in run-length encoding: eight or more equal ones as a run, the others packed in groups of eight.
func appendRuns(b []byte, list []uint32, width int) []byte {
	for len(list) > 0 {
		if n := equal(list, len(list)); n >= 8 {
			b = binary.AppendUvarint(b, uint64(n)<<1)
			for i := range (width + 7) / 8 {
				b = append(b, byte(list[0]>>(8*i)))
			}
			list = list[n:]
			continue
		}
		n := 0
		for n < len(list) && equal(list[n:], 8) < 8 {
			n += 8
		}
		b = appendPacked(binary.AppendUvarint(b, uint64(n/8)<<1|1), list[:min(n, len(list))], n, width)
		list = list[min(n, len(list)):]
	}
	return b
}

// equal returns how many numbers at the front are equal, at most most.
func equal(list []uint32, most int) int {
	n := 1
	for n < len(list) && n < most && list[n] == list[0] {
		n++
	}
	return n
}

// appendPacked adds numbers, and zeros up to count, as bits.
func appendPacked(b []byte, list []uint32, count, width int) []byte {
	held, have := uint64(0), 0
	for i := range count {
		if i < len(list) {
			held |= uint64(list[i]) << have
		}
		for have += width; have >= 8; have -= 8 {
			b = append(b, byte(held))
			held >>= 8
		}
	}
	return b
}

// footer returns the index of the file.
func (w *Writer) footer() []byte {
	t := &thriftWriter{}
	t.begin()
	t.int32(1, 1)
	w.schema(t)
	t.int64(3, w.total)
	t.list(4, len(w.groups), thriftStruct)
	for i := range w.groups {
		w.group(t, &w.groups[i])
	}
	t.list(5, len(w.metadata), thriftStruct)
	for _, m := range w.metadata {
		t.begin()
		t.text(1, m[0])
		t.text(2, m[1])
		t.end()
	}
	t.text(6, "aiperf")
	t.list(7, len(w.columns), thriftStruct)
	for range w.columns { // bounds are ordered as numbers
		t.begin()
		t.empty(1)
		t.end()
	}
	t.end()
	return t.b
}

// schema writes the flat list of columns.
func (w *Writer) schema(t *thriftWriter) {
	count := 1
	for _, c := range w.columns {
		if count++; c.List {
			count += 2
		}
	}
	t.list(2, count, thriftStruct)
	t.begin()
	t.text(4, "schema")
	t.int32(5, len(w.columns))
	t.end()
	for _, c := range w.columns {
		t.begin()
		if c.List {
			t.int32(3, required)
			t.text(4, c.Name)
			t.int32(5, 1)
			t.int32(6, convertedList)
			t.open(10)
			t.empty(logicalList)
			t.end()
			t.end()
			t.begin()
			t.int32(3, repeated)
			t.text(4, "list")
			t.int32(5, 1)
			t.end()
			t.begin()
		}
		c.leaf(t)
		t.end()
	}
}

// leaf writes the row of the schema for a column, or for the elements of its lists.
func (c *buffer) leaf(t *thriftWriter) {
	t.int32(1, c.physical())
	t.int32(3, map[bool]int{true: optional}[c.Optional])
	if c.List {
		t.text(4, "element")
	} else {
		t.text(4, c.Name)
	}
	if c.Kind == Text {
		t.int32(6, convertedText)
		t.open(10)
		t.empty(logicalText)
		t.end()
	}
}

func (c *buffer) physical() int { return [...]int{typeInt64, typeDouble, typeText}[c.Kind] }

func (w *Writer) group(t *thriftWriter, g *writtenGroup) {
	t.begin()
	t.list(1, len(g.chunks), thriftStruct)
	plain := 0
	for i := range g.chunks {
		c := &g.chunks[i]
		plain += c.plain
		t.begin()
		t.int64(2, 0)
		t.open(3)
		w.columns[i].index(t, c)
		t.end()
		t.end()
	}
	t.int64(2, int64(plain))
	t.int64(3, int64(g.rows))
	t.end()
}

// index writes where the pages of a column are.
func (c *buffer) index(t *thriftWriter, of *writtenChunk) {
	path := []string{c.Name}
	if c.List {
		path = append(path, "list", "element")
	}
	encodings := []int{encodingPlain, encodingRuns}
	if c.Dictionary {
		encodings = append(encodings, encodingIndexes)
	}
	t.int32(1, c.physical())
	t.list(2, len(encodings), thriftInt32)
	for _, e := range encodings {
		t.zigzag(int64(e))
	}
	t.list(3, len(path), thriftText)
	for _, p := range path {
		t.element(p)
	}
	t.int32(4, codecSnappy)
	t.int64(5, int64(of.values))
	t.int64(6, int64(of.plain))
	t.int64(7, int64(of.stored))
	t.int64(9, of.pages)
	if of.dictionary > 0 {
		t.int64(11, of.dictionary)
	}
	t.open(12)
	t.int64(3, int64(of.nulls))
	if of.bounds && !of.nan {
		least, most := c.bounds(of)
		t.text(5, most)
		t.text(6, least)
	}
	t.end()
}

// bounds returns the least and the largest value of a column as they are stored.
func (c *buffer) bounds(of *writtenChunk) (first, last string) {
	if c.Dictionary {
		return of.first, of.last
	}
	most, least := of.high, of.low
	if c.Kind == Double { // a zero has two signs: the bounds hold for both
		if math.Float64frombits(most) == 0 {
			most = 0
		}
		if math.Float64frombits(least) == 0 {
			least = math.Float64bits(math.Copysign(0, -1))
		}
	}
	return string(binary.LittleEndian.AppendUint64(nil, least)), string(binary.LittleEndian.AppendUint64(nil, most))
}
