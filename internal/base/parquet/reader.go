// Package parquet reads and writes Parquet files (parquet.apache.org): tables of columns. A file may come from anywhere, so a reader believes no number in
// it: it allocates no more than the size of the file allows, and a damaged file gives an error that names the column.
package parquet

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"
)

const (
	magic          = "PAR1"
	encryptedMagic = "PARE"
)

// Memory limits for the pages of all columns that are read at once.
const (
	minRoom     = 64 << 20 // bytes; roomOfBytes times the size of the file is added
	roomOfBytes = 256
	maxRoom     = 8 << 30
	maxPage     = 1 << 30 // maximum decompressed size of one page
	sizeOfEntry = 40      // bytes of a value in a list or a dictionary, without its text
	sizeOfGroup = 400     // bytes of a group of few columns
)

// Reader reads the rows of a file in order.
type Reader struct {
	in        io.ReaderAt
	footer    *footer
	columns   []string
	root      *node
	group     int   // row group that is read; -1 before the first
	rows      int64 // rows of it that were read
	memory    int64
	pageBytes int64 // bytes that the pages read at once need
	rowBytes  int64 // approximate bytes of the row, which may be many more than in the file: equal values take next to none there
	zstd      *zstd.Decoder
}

// Open reads the index of a file of size bytes. Only the named columns are read; none named, or none of them there = all.
func Open(in io.ReaderAt, size int64, columns ...string) (*Reader, error) {
	f, err := readFooter(in, size)
	if err != nil {
		return nil, err
	}
	r := &Reader{in: in, footer: f, group: -1, memory: min(maxRoom, minRoom+roomOfBytes*size)}
	if r.root, err = newTree(f.elements); err != nil {
		return nil, err
	}
	for g, of := range f.groups {
		if len(of.chunks) != len(r.root.leaves) {
			return nil, corrupt("%d columns in row group %d, %d in the schema", len(of.chunks), g, len(r.root.leaves))
		}
	}
	for i, c := range r.root.leaves {
		c.reader, c.place = r, i
	}
	var wanted node
	for _, n := range r.root.children {
		r.columns = append(r.columns, n.name)
		if slices.Contains(columns, n.name) {
			wanted.children = append(wanted.children, n)
			wanted.leaves = append(wanted.leaves, n.leaves...)
		}
	}
	if len(wanted.children) > 0 {
		r.root = &wanted
	}
	return r, r.readable()
}

// readable returns an error if a column that is wanted is encrypted or in another file.
func (r *Reader) readable() error {
	for _, g := range r.footer.groups {
		for _, leaf := range r.root.leaves {
			switch c := g.chunks[leaf.place]; {
			case c.locked:
				return fmt.Errorf("column %s is encrypted; write the file again without encryption", leaf.leaf.name)
			case c.file != "":
				return fmt.Errorf("column %s is in the file %q; read that file", leaf.leaf.name, c.file)
			}
		}
	}
	return nil
}

// Columns returns the names of all columns.
func (r *Reader) Columns() []string { return r.columns }

// Next returns the next row, io.EOF after the last one. A value is nil, bool, int64, float64, string (also for bytes), []any or map[string]any.
func (r *Reader) Next() (map[string]any, error) {
	for {
		more := 0
		for _, c := range r.root.leaves {
			there, err := c.peek()
			if err != nil {
				return nil, err
			}
			if there {
				more++
			}
		}
		switch {
		case r.group >= 0 && (more == 0) != (r.rows == r.footer.groups[r.group].rows):
			return nil, corrupt("row group %d: %d rows, and the footer states %d", r.group, r.rows+int64(min(more, 1)), r.footer.groups[r.group].rows)
		case more == 0 && r.group+1 >= len(r.footer.groups):
			return nil, io.EOF
		case more == 0:
			r.group++
			r.pageBytes, r.rows = 0, 0
			for _, c := range r.root.leaves {
				c.begin(&r.footer.groups[r.group].chunks[c.place])
			}
			continue
		case more < len(r.root.leaves):
			return nil, corrupt("row group %d: columns of different lengths", r.group)
		}
		r.rows++
		return r.row()
	}
}

func (r *Reader) row() (map[string]any, error) {
	r.rowBytes = 0
	row, err := r.root.group()
	if err != nil {
		return nil, err
	}
	for _, c := range r.root.leaves {
		there, err := c.peek()
		if err == nil && there && c.repetition > 0 {
			err = c.failed(errLists)
		}
		if err != nil {
			return nil, err
		}
	}
	return row, nil
}

// Close frees the memory of the reader.
func (r *Reader) Close() error {
	if r.zstd != nil {
		r.zstd.Close()
	}
	return nil
}

// errLists tells of columns of one list that do not agree where it ends.
var errLists = corrupt("the columns of a list have different lengths")

// value assembles the next value of a node from its columns.
func (n *node) value() (any, error) {
	switch first := n.leaves; {
	case n.repetition == required:
		return n.present()
	case len(first) == 0:
		return nil, nil //nolint:nilnil // a group without columns is null
	case first[0].definition >= n.maxDefinition && n.repetition == optional:
		return n.present()
	case first[0].definition >= n.maxDefinition:
		return n.elements(n.present)
	}
	if err := n.skip(); err != nil || n.repetition == optional {
		return nil, err
	}
	return []any{}, nil
}

// skip reads over the entry that tells that a node is not there.
func (n *node) skip() error {
	for _, c := range n.leaves {
		if _, err := c.next(); err != nil {
			return err
		}
	}
	return nil
}

// elements assembles the elements of a repeated node, of which at least one is there.
func (n *node) elements(one func() (any, error)) ([]any, error) {
	var list []any
	for {
		v, err := one()
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		first := n.leaves[0]
		there, err := first.peek()
		if err != nil {
			return nil, err
		}
		if !there || first.repetition < n.maxRepetition {
			return list, nil
		}
		for _, c := range n.leaves[1:] {
			there, err := c.peek()
			if err == nil && !there {
				err = c.failed(errLists)
			}
			if err != nil {
				return nil, err
			}
		}
	}
}

// present assembles a value that is there.
func (n *node) present() (any, error) {
	switch {
	case n.physical >= 0:
		return n.leaves[0].next()
	case n.is(logicalList, convertedList) && n.list() != nil:
		return n.listValue()
	case n.is(logicalMap, convertedMap) && n.pairs() != nil:
		return n.mapValue()
	}
	return n.group()
}

// list returns the repeated node in a list.
func (n *node) list() *node {
	if len(n.children) == 1 && n.children[0].repetition == repeated && len(n.children[0].leaves) > 0 {
		return n.children[0]
	}
	return nil
}

// listValue assembles a list: a group with a repeated group of one element. Former writers leave out the inner group.
func (n *node) listValue() (any, error) {
	inner := n.list()
	switch {
	case inner.leaves[0].definition < inner.maxDefinition:
		return []any{}, inner.skip()
	case len(inner.children) == 1:
		return inner.elements(inner.children[0].value)
	}
	return inner.elements(inner.present)
}

// pairs returns the repeated node in a map: a group of a key and a value.
func (n *node) pairs() *node {
	if len(n.children) == 1 && n.children[0].repetition == repeated && len(n.children[0].children) == 2 && n.children[0].children[0].physical >= 0 {
		return n.children[0]
	}
	return nil
}

// mapValue assembles a map. Keys that are not texts are written as such.
func (n *node) mapValue() (any, error) {
	inner := n.pairs()
	all := map[string]any{}
	if inner.leaves[0].definition < inner.maxDefinition {
		return all, inner.skip()
	}
	_, err := inner.elements(func() (any, error) {
		key, err := inner.children[0].value()
		if err != nil {
			return nil, err
		}
		all[fmt.Sprint(key)], err = inner.children[1].value()
		return nil, err
	})
	return all, err
}

// group assembles the columns of a group.
func (n *node) group() (map[string]any, error) {
	all := make(map[string]any, len(n.children))
	if len(n.leaves) > 0 {
		if err := n.leaves[0].grow(sizeOfGroup); err != nil {
			return nil, err
		}
	}
	for _, child := range n.children {
		v, err := child.value()
		if err != nil {
			return nil, err
		}
		all[child.name] = v
	}
	return all, nil
}

// cursor reads the values of a column in a row group, page by page.
type cursor struct {
	reader *Reader
	leaf   *node
	place  int // number of the column

	chunk      *chunk // nil before the first row group
	at         int64  // offset of the next page
	pages      int    // pages read
	valuesRead int64  // values of these pages
	remaining  int    // values left in the page
	values     decoder
	levels     [2]levelRuns // repetition, definition; nil = all zero, all at the maximum
	buffer     []byte       // of the decompressed page
	dictionary []any
	pageBytes  [2]int64 // bytes that the latest page and the dictionary need

	peeked                 bool
	repetition, definition int
}

func (c *cursor) begin(of *chunk) {
	*c = cursor{reader: c.reader, leaf: c.leaf, place: c.place, buffer: c.buffer, chunk: of, at: of.from}
}

// failed adds the position to an error.
func (c *cursor) failed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("column %s, page %d of row group %d: %w", c.chunk.column(), max(c.pages-1, 0), c.reader.group, err)
}

// peek reads the levels of the next value. It returns false behind the last value of the row group.
func (c *cursor) peek() (bool, error) {
	if c.peeked {
		return true, nil
	}
	for c.remaining == 0 {
		if c.chunk == nil || c.at >= c.chunk.to || c.valuesRead >= c.chunk.values {
			return false, nil
		}
		if err := c.page(); err != nil {
			return false, c.failed(err)
		}
	}
	c.remaining--
	for i, to := range []*int{&c.repetition, &c.definition} {
		most := [...]int{c.leaf.maxRepetition, c.leaf.maxDefinition}[i]
		level := uint64([...]int{0, most}[i])
		if c.levels[i] != nil {
			var err error
			if level, err = c.levels[i].next(); err != nil {
				return false, c.failed(err)
			}
		}
		if level > uint64(most) {
			return false, c.failed(corrupt("level %d where the highest is %d", level, most))
		}
		*to = int(level)
	}
	c.peeked = true
	return true, nil
}

// next returns the next value, nil if it is not there.
func (c *cursor) next() (any, error) {
	there, err := c.peek()
	if err == nil && !there {
		err = c.failed(errLists)
	}
	if err != nil {
		return nil, err
	}
	c.peeked = false
	size := int64(sizeOfEntry)
	if c.definition < c.leaf.maxDefinition {
		return nil, c.grow(size)
	}
	v, err := c.values.next()
	if err != nil {
		return nil, c.failed(err)
	}
	if text, ok := v.(string); ok {
		size += int64(len(text))
	}
	return v, c.grow(size)
}

// grow counts bytes of the row.
func (c *cursor) grow(size int64) error {
	r := c.reader
	if r.rowBytes += size; r.rowBytes > r.memory {
		return c.failed(corrupt("a row of more than %d MiB; no more are made for a file of this size", r.memory>>20))
	}
	return nil
}

// page reads the next page of the column.
func (c *cursor) page() error {
	c.pages++
	head, err := c.head()
	if err != nil {
		return err
	}
	stored, plain := int64(head.stored), int64(head.size)
	switch {
	case stored < 0 || stored > c.chunk.to-c.at:
		return corrupt("%d bytes where %d are left", stored, c.chunk.to-c.at)
	case plain < 0 || plain > maxPage:
		return corrupt("%d bytes once it is decompressed; at most %d MiB can be read", plain, maxPage>>20)
	case head.kind != pageData && head.kind != pageDataV2 && head.kind != pageDictionary: // an index
		c.at += stored
		return nil
	case !head.hasNumbers:
		return corrupt("a page of type %d without its numbers", head.kind)
	case head.values < 0:
		return corrupt("%d values", head.values)
	}
	if err := c.reserve(head); err != nil {
		return err
	}
	text := make([]byte, stored)
	if err := readAt(c.reader.in, text, c.at); err != nil {
		return err
	}
	c.at += stored
	if head.crc != 0 && uint32(head.crc) != crc32.ChecksumIEEE(text) {
		return corrupt("its check sum is wrong")
	}
	switch head.kind {
	case pageDictionary:
		return c.readDictionary(head, text)
	case pageData:
		return c.dataPage(head, text)
	}
	return c.dataPageV2(head, text)
}

// reserve checks that the page fits into memory together with those of the other columns.
func (c *cursor) reserve(head *pageHead) error {
	of, each := &c.pageBytes[0], int64(8)
	if head.kind == pageDictionary {
		of, each = &c.pageBytes[1], sizeOfEntry
		if head.values > 8*head.size {
			return corrupt("%d values in %d bytes", head.values, head.size)
		}
	}
	r := c.reader
	need := int64(head.size) + int64(head.values)*(each+int64(c.leaf.length))
	r.pageBytes += need - *of
	if *of = need; r.pageBytes > r.memory {
		return corrupt("with the other columns it needs %d MiB; at most %d are made for a file of this size", r.pageBytes>>20, r.memory>>20)
	}
	return nil
}

// head reads the head of the next page.
func (c *cursor) head() (*pageHead, error) {
	for length := int64(512); ; length *= 8 {
		text := make([]byte, min(length, c.chunk.to-c.at))
		if err := readAt(c.reader.in, text, c.at); err != nil {
			return nil, err
		}
		head, size, err := readPageHead(text)
		if errors.Is(err, io.ErrUnexpectedEOF) && int64(len(text)) == length {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("its header: %w", err)
		}
		c.at += int64(size)
		return head, nil
	}
}

func (c *cursor) readDictionary(head *pageHead, text []byte) error {
	b, err := c.decompress(text, head.size)
	if err != nil {
		return err
	}
	values := c.leaf.plainValues(b)
	c.dictionary = make([]any, 0, head.values)
	for range head.values {
		v, err := values.next()
		if err != nil {
			return err
		}
		c.dictionary = append(c.dictionary, v)
	}
	return nil
}

func (c *cursor) dataPage(head *pageHead, text []byte) error {
	b, err := c.decompress(text, head.size)
	if err != nil {
		return err
	}
	if c.levels[0], b, err = levelsBefore(b, head.repetitions, c.leaf.maxRepetition, head.values); err != nil {
		return err
	}
	if c.levels[1], b, err = levelsBefore(b, head.definitions, c.leaf.maxDefinition, head.values); err != nil {
		return err
	}
	return c.content(head, b)
}

func (c *cursor) dataPageV2(head *pageHead, text []byte) error {
	sizes := [2]int{head.repetitions, head.definitions}
	most := [2]int{c.leaf.maxRepetition, c.leaf.maxDefinition}
	all := len(text)
	for i, size := range sizes {
		if size < 0 || size > len(text) {
			return corrupt("levels of %d bytes in %d", int64(sizes[0])+int64(sizes[1]), all)
		}
		if c.levels[i] = nil; most[i] > 0 {
			c.levels[i] = newRuns(text[:size], levelBits(most[i]))
		}
		text = text[size:]
	}
	if head.compressed {
		var err error
		if text, err = c.decompress(text, head.size); err != nil {
			return err
		}
	}
	return c.content(head, text)
}

// content starts the values of a data page.
func (c *cursor) content(head *pageHead, b []byte) (err error) {
	c.values, err = c.newDecoder(head.encoding, b, head.values)
	c.remaining = head.values
	c.valuesRead += int64(head.values)
	return err
}
