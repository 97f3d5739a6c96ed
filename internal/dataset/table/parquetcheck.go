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

// What pages may need at the most, of all columns that are read at once: the library makes room for whatever counts and sizes stand in a page, before it
// looks whether there is so much; so every page is looked through before the library sees it.
const (
	leastRoom   = 64 << 20 // bytes, and so many times the size of the file:
	roomOfBytes = 256
	mostRoom    = 8 << 30
	maxPage     = 1 << 30 // of one page once it is decompressed
)

var errUnsoundParquet = errors.New("is no sound Parquet file")

func unsoundParquet(format string, a ...any) error {
	return fmt.Errorf("%w: %s", errUnsoundParquet, fmt.Sprintf(format, a...))
}

// readFooter reads the index at the end of a file.
func readFooter(in io.ReaderAt, size int64) (*pq.FileMetaData, error) {
	var end [8]byte // the length and the name of the format
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

// pages are a file of which the library reads no page that was not looked through.
type pages struct {
	Input
	room   int64    // bytes that pages may need at once
	chunks []*chunk // by their places
	groups []int64  // bytes that the pages need that are read at once, by row group
	latest *chunk   // the library read from it last; nil = from none
}

// chunk is a column of a row group: pages that lie one behind the other.
type chunk struct {
	from, to   int64
	checked    int64 // all pages before it were looked through
	column     string
	group      int
	pages      int
	codec      pq.CompressionCodec
	length     int64 // of a value of a fixed length, else 0
	leaf       *parquet.Column
	dictionary int64 // bytes that it needs
	latest     int64 // bytes that the latest page needs
}

// newPages finds the pages of a file by its index.
func newPages(in Input, size int64, meta *pq.FileMetaData) (*pages, error) {
	p := &pages{Input: in, room: min(mostRoom, leastRoom+roomOfBytes*size), groups: make([]int64, len(meta.RowGroups))}
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

// opened tells the pages how their columns are nested.
func (p *pages) opened(file *parquet.File) {
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
func (p *pages) ReadAt(b []byte, off int64) (int, error) {
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

// errValues is what the library made of values that do not fit the headers around them.
var errValues = errors.New("damaged: the values do not fit their header")

// failed names the place at which the library failed. It decodes a page when it has read it.
func (p *pages) failed(err error) error {
	if c := p.latest; c != nil {
		return fmt.Errorf("column %s, page %d of row group %d: %w", c.column, max(c.pages-1, 0), c.group, err)
	}
	return fmt.Errorf("its index: %w", err)
}

// check looks through the next page of a column.
func (p *pages) check(c *chunk) error {
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

// header reads the header of the next page, and tells its size.
func (p *pages) header(c *chunk) (head *pq.PageHeader, size int, err error) {
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
