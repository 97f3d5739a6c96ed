package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	pq "github.com/parquet-go/parquet-go/format"
)

// Memory limits for the pages of all columns that are read at once. The library allocates memory for any count or size stated in a page before it
// checks whether the data are there. Every page is therefore checked before the library reads it.
const (
	leastRoom   = 64 << 20 // bytes; roomOfBytes times the size of the file is added
	roomOfBytes = 256
	mostRoom    = 8 << 30
	maxPage     = 1 << 30 // maximum decompressed size of one page
)

var errUnsoundParquet = errors.New("damaged Parquet file")

func unsoundParquet(format string, a ...any) error {
	return fmt.Errorf("%w: %s", errUnsoundParquet, fmt.Sprintf(format, a...))
}

// readFooter reads the index at the end of a file.
func readFooter(in io.ReaderAt, size int64) (*pq.FileMetaData, error) {
	var end [8]byte // its length and the magic bytes
	if size < int64(len(end)) {
		return nil, io.ErrUnexpectedEOF
	}
	if _, err := in.ReadAt(end[:], size-int64(len(end))); err != nil {
		return nil, noEOF(err)
	}
	if name := string(end[4:]); name != "PAR1" {
		return nil, unsoundParquet("it ends with %q, not PAR1; encrypted files (PARE) are not read", name)
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	if length > size-int64(len(end)) {
		return nil, unsoundParquet("a footer of %d bytes in a file of %d", length, size)
	}
	text := make([]byte, length)
	if _, err := in.ReadAt(text, size-int64(len(end))-length); err != nil {
		return nil, noEOF(err)
	}
	if _, err := thriftStruct(text, 0); err != nil {
		return nil, fmt.Errorf("the footer: %w", err)
	}
	var meta pq.FileMetaData
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), text, &meta); err != nil {
		return nil, fmt.Errorf("the footer: %w", err)
	}
	return &meta, nil
}

// checkedPages is a file whose pages are checked before the library reads them.
type checkedPages struct {
	Input
	room   int64    // maximum bytes for pages at a time
	chunks []*chunk // by offset
	groups []int64  // bytes that the pages read at once need, by row group
	latest *chunk   // chunk that the library read last; nil = none
}

// chunk is a column of a row group, with consecutive pages.
type chunk struct {
	from, to   int64
	checked    int64 // all pages before this offset were checked
	column     string
	group      int
	pages      int
	codec      pq.CompressionCodec
	length     int64 // size of a fixed-length value, else 0
	leaf       *parquet.Column
	dictionary int64 // bytes that the dictionary needs
	latest     int64 // bytes that the latest page needs
}

// newPages finds the pages of a file from its index.
func newPages(in Input, size int64, meta *pq.FileMetaData) (*checkedPages, error) {
	p := &checkedPages{Input: in, room: min(mostRoom, leastRoom+roomOfBytes*size), groups: make([]int64, len(meta.RowGroups))}
	var leaves []*pq.SchemaElement
	for i := range meta.Schema {
		if e := &meta.Schema[i]; e.Type.Valid {
			leaves = append(leaves, e)
		}
	}
	for g := range meta.RowGroups {
		for i := range meta.RowGroups[g].Columns {
			m := &meta.RowGroups[g].Columns[i].MetaData
			c := &chunk{from: m.DataPageOffset, column: strings.Join(m.PathInSchema, "."), group: g, codec: m.Codec}
			if m.DictionaryPageOffset > 0 {
				c.from = m.DictionaryPageOffset
			}
			if c.from < 0 || m.TotalCompressedSize < 0 || c.from > size || m.TotalCompressedSize > size-c.from {
				return nil, unsoundParquet("column %s has %d bytes at %d of a file of %d", c.column, m.TotalCompressedSize, c.from, size)
			}
			if i >= len(leaves) {
				return nil, unsoundParquet("%d columns in row group %d, %d in the schema", len(meta.RowGroups[g].Columns), g, len(leaves))
			}
			if leaves[i].Type.V == pq.FixedLenByteArray {
				c.length = int64(leaves[i].TypeLength.V)
			}
			c.to, c.checked = c.from+m.TotalCompressedSize, c.from
			p.chunks = append(p.chunks, c)
		}
	}
	slices.SortStableFunc(p.chunks, func(a, b *chunk) int { return int(min(max(a.from-b.from, -1), 1)) })
	for i := 1; i < len(p.chunks); i++ {
		if a, b := p.chunks[i-1], p.chunks[i]; a.to > b.from && b.to > b.from {
			return nil, unsoundParquet("columns %s and %s share bytes", a.column, b.column)
		}
	}
	return p, nil
}

// opened sets how the columns of the pages are nested.
func (p *checkedPages) opened(file *parquet.File) {
	leaves := map[string]*parquet.Column{}
	var walk func(c *parquet.Column)
	walk = func(c *parquet.Column) {
		if c.Leaf() {
			leaves[strings.Join(c.Path(), ".")] = c
		}
		for _, child := range c.Columns() {
			walk(child)
		}
	}
	walk(file.Root())
	for _, c := range p.chunks {
		c.leaf = leaves[c.column]
	}
}

// ReadAt implements io.ReaderAt.
func (p *checkedPages) ReadAt(b []byte, off int64) (int, error) {
	end := off + int64(len(b))
	i, _ := slices.BinarySearchFunc(p.chunks, off, func(c *chunk, off int64) int {
		if c.to <= off {
			return -1
		}
		return 1
	})
	for ; i < len(p.chunks) && p.chunks[i].from < end; i++ {
		for c := p.chunks[i]; c.checked < min(end, c.to); {
			if err := p.check(c); err != nil {
				return 0, fmt.Errorf("column %s, page %d of row group %d: %w", c.column, c.pages, c.group, err)
			}
		}
		p.latest = p.chunks[i]
	}
	return p.Input.ReadAt(b, off)
}

// errValues replaces a library error about values that do not fit their headers.
var errValues = errors.New("damaged: the values do not fit their header")

// failed adds the position at which the library failed. The library decodes a page right after reading it.
func (p *checkedPages) failed(err error) error {
	if c := p.latest; c != nil {
		return fmt.Errorf("column %s, page %d of row group %d: %w", c.column, max(c.pages-1, 0), c.group, err)
	}
	return fmt.Errorf("its index: %w", err)
}

// check checks the next page of a column.
func (p *checkedPages) check(c *chunk) error {
	if c.leaf == nil {
		return unsoundParquet("the schema has no such column")
	}
	head, size, err := p.header(c)
	if err != nil {
		return err
	}
	stored, plain := int64(head.CompressedPageSize), int64(head.UncompressedPageSize)
	body := c.checked + int64(size)
	switch {
	case stored < 0 || stored > c.to-body:
		return unsoundParquet("%d bytes where %d are left", stored, c.to-body)
	case plain < 0 || plain > maxPage:
		return unsoundParquet("%d bytes once it is decompressed; at most %d MiB can be read", plain, maxPage>>20)
	}
	page := page{chunk: c, head: head, size: plain}
	if err := page.count(); err != nil {
		return err
	}
	of := &c.latest
	if head.Type == pq.DictionaryPage {
		of = &c.dictionary
	}
	p.groups[c.group] += page.need - *of
	*of = page.need
	if need := p.groups[c.group]; need > p.room {
		return unsoundParquet("with the other columns it needs %d MiB; at most %d are made for a file of this size", need>>20, p.room>>20)
	}
	page.text = make([]byte, stored)
	if _, err := p.Input.ReadAt(page.text, body); err != nil {
		return noEOF(err)
	}
	if err := page.look(); err != nil {
		return err
	}
	c.checked = body + stored
	c.pages++
	return nil
}

// header reads the header of the next page and returns its size.
func (p *checkedPages) header(c *chunk) (head *pq.PageHeader, size int, err error) {
	for length := int64(512); ; length *= 8 {
		text := make([]byte, min(length, c.to-c.checked))
		if _, err := p.Input.ReadAt(text, c.checked); err != nil {
			return nil, 0, noEOF(err)
		}
		size, err = thriftStruct(text, 0)
		if errors.Is(err, io.ErrUnexpectedEOF) && int64(len(text)) == length {
			continue
		}
		if err != nil {
			return nil, 0, fmt.Errorf("its header: %w", err)
		}
		head = new(pq.PageHeader)
		if err := thrift.Unmarshal(new(thrift.CompactProtocol), text[:size], head); err != nil {
			return nil, 0, fmt.Errorf("its header: %w", err)
		}
		return head, size, nil
	}
}
