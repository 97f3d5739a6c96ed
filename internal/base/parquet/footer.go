package parquet

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// The numbers of the format (parquet.thrift).
const (
	typeBool = iota
	typeInt32
	typeInt64
	typeInt96
	typeFloat
	typeDouble
	typeText
	typeFixed

	required = 0
	optional = 1
	repeated = 2

	encodingPlain        = 0
	encodingOldIndexes   = 2 // the former number of encodingIndexes
	encodingRuns         = 3
	encodingBits         = 4 // former levels
	encodingDelta        = 5
	encodingDeltaLengths = 6
	encodingDeltaTexts   = 7
	encodingIndexes      = 8
	encodingSplit        = 9

	codecNone   = 0
	codecSnappy = 1
	codecGzip   = 2
	codecBrotli = 4
	codecOldLZ4 = 5 // framed like Hadoop's, or not framed at all
	codecZstd   = 6
	codecLZ4    = 7

	pageData       = 0
	pageDictionary = 2
	pageDataV2     = 3

	logicalText    = 1
	logicalMap     = 2
	logicalList    = 3
	logicalDecimal = 5
	logicalInteger = 10
	logicalNull    = 11
	logicalJSON    = 12
	logicalFloat16 = 15

	convertedText    = 0
	convertedMap     = 1
	convertedList    = 3
	convertedDecimal = 5
	convertedUint8   = 11
	convertedUint64  = 14
	convertedJSON    = 19
)

var errCorrupt = errors.New("damaged Parquet file")

func corrupt(format string, a ...any) error {
	return fmt.Errorf("%w: %s", errCorrupt, fmt.Sprintf(format, a...))
}

// element is a row of the flat schema: a column, or a group of those that follow.
type element struct {
	name                    string
	physical                int // -1 = a group
	length                  int
	repetition              int
	children                int
	converted, logical      int // -1 = none
	scale, bits             int
	unsigned, decimalScaled bool
}

// chunk is a column of a row group, with consecutive pages.
type chunk struct {
	path     []string
	codec    int
	values   int64
	size     int64
	data     int64 // offset of the first data page
	index    int64 // offset of the dictionary page; 0 = none
	from, to int64
	file     string // name of the file that has the pages, empty = this one
	locked   bool   // encrypted
}

// rowGroup is a part of the rows of a file.
type rowGroup struct {
	chunks []chunk
	rows   int64
}

func (c *chunk) column() string { return strings.Join(c.path, ".") }

// footer is the index at the end of a file.
type footer struct {
	elements []element
	groups   []rowGroup
}

// readFooter reads the index at the end of a file.
func readFooter(in io.ReaderAt, size int64) (*footer, error) {
	var end [8]byte // its length and the magic bytes
	if size < int64(len(end)) {
		return nil, io.ErrUnexpectedEOF
	}
	if err := readAt(in, end[:], size-int64(len(end))); err != nil {
		return nil, err
	}
	switch name := string(end[4:]); name {
	case magic:
	case encryptedMagic:
		return nil, errors.New("the file is encrypted; write it again without encryption")
	default:
		return nil, corrupt("it ends with %q, not %s", name, magic)
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	if length > size-int64(len(end)) {
		return nil, corrupt("a footer of %d bytes in a file of %d", length, size)
	}
	text := make([]byte, length)
	if err := readAt(in, text, size-int64(len(end))-length); err != nil {
		return nil, err
	}
	f, err := parseFooter(text)
	if err != nil {
		return nil, fmt.Errorf("the footer: %w", err)
	}
	return f, f.place(size)
}

// readAt fills b with the bytes at an offset.
func readAt(in io.ReaderAt, b []byte, off int64) error {
	n, err := in.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func parseFooter(text []byte) (*footer, error) {
	t := &thriftReader{b: text}
	f := &footer{}
	t.fields(thriftStruct, func(id int64, kind byte) bool {
		switch id {
		case 2:
			of, n := t.list(kind)
			for range n {
				f.elements = append(f.elements, t.element(of))
			}
		case 4:
			of, n := t.list(kind)
			for range n {
				f.groups = append(f.groups, t.group(of))
			}
		default:
			return false
		}
		return true
	})
	return f, t.err
}

// element reads a row of the schema.
func (t *thriftReader) element(kind byte) element {
	e := element{physical: -1, converted: -1, logical: -1}
	t.fields(kind, func(id int64, kind byte) bool {
		switch id {
		case 1:
			e.physical = t.int32(kind)
		case 2:
			e.length = t.int32(kind)
		case 3:
			e.repetition = t.int32(kind)
		case 4:
			e.name = string(t.text(kind))
		case 5:
			e.children = t.int32(kind)
		case 6:
			e.converted = t.int32(kind)
		case 7:
			e.scale, e.decimalScaled = t.int32(kind), true
		case 10:
			t.logical(kind, &e)
		default:
			return false
		}
		return true
	})
	return e
}

// logical reads the meaning of a column: a union, whose only field tells which.
func (t *thriftReader) logical(kind byte, e *element) {
	t.fields(kind, func(id int64, kind byte) bool {
		e.logical = int(id)
		t.fields(kind, func(inner int64, kind byte) bool {
			switch {
			case id == logicalDecimal && inner == 1:
				e.scale, e.decimalScaled = t.int32(kind), true
			case id == logicalInteger && inner == 1:
				e.bits = t.int32(kind)
			case id == logicalInteger && inner == 2:
				e.unsigned = t.integer(kind) == 0
			default:
				return false
			}
			return true
		})
		return true
	})
}

// group reads a row group.
func (t *thriftReader) group(kind byte) (g rowGroup) {
	t.fields(kind, func(id int64, kind byte) bool {
		switch id {
		case 1:
			of, n := t.list(kind)
			for range n {
				g.chunks = append(g.chunks, t.place(of))
			}
		case 3:
			g.rows = t.integer(kind)
		default:
			return false
		}
		return true
	})
	return g
}

// place reads the entry of a column in a row group.
func (t *thriftReader) place(kind byte) (c chunk) {
	t.fields(kind, func(id int64, kind byte) bool {
		switch id {
		case 1:
			c.file = string(t.text(kind))
		case 3:
			t.chunk(kind, &c)
		case 8, 9: // how it is encrypted, and its encrypted entry
			c.locked = true
			return false
		default:
			return false
		}
		return true
	})
	return c
}

// chunk reads where the pages of a column are.
func (t *thriftReader) chunk(kind byte, c *chunk) {
	t.fields(kind, func(id int64, kind byte) bool {
		switch id {
		case 3:
			of, n := t.list(kind)
			for range n {
				c.path = append(c.path, string(t.text(of)))
			}
		case 4:
			c.codec = t.int32(kind)
		case 5:
			c.values = t.integer(kind)
		case 7:
			c.size = t.integer(kind)
		case 9:
			c.data = t.integer(kind)
		case 11:
			c.index = t.integer(kind)
		default:
			return false
		}
		return true
	})
}

// place checks that every column lies within the file, and no two at the same place.
func (f *footer) place(size int64) error {
	var all []*chunk
	for g := range f.groups {
		for i := range f.groups[g].chunks {
			c := &f.groups[g].chunks[i]
			if c.file != "" { // its offsets are those of the other file
				continue
			}
			if c.from = c.data; c.index > 0 && (c.index < c.data || c.data == 0) { // pyarrow: no data page in an empty row group
				c.from = c.index
			}
			if c.from < 0 || c.size < 0 || c.from > size || c.size > size-c.from {
				return corrupt("column %s has %d bytes at %d of a file of %d", c.column(), c.size, c.from, size)
			}
			c.to = c.from + c.size
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b *chunk) int { return cmp.Compare(a.from, b.from) })
	for i := 1; i < len(all); i++ {
		if a, b := all[i-1], all[i]; a.to > b.from && b.to > b.from {
			return corrupt("columns %s and %s share bytes", a.column(), b.column())
		}
	}
	return nil
}

// pageHead is the head of a page.
type pageHead struct {
	kind, size, stored     int // decompressed and stored bytes
	crc                    int
	values                 int
	encoding               int
	definitions            int // encoding of the definition levels; in version 2 their bytes
	repetitions            int
	compressed, hasNumbers bool // whether its statistics are present
}

// readPageHead reads the head of a page and returns its size.
func readPageHead(text []byte) (*pageHead, int, error) {
	t := &thriftReader{b: text}
	h := &pageHead{compressed: true}
	t.fields(thriftStruct, func(id int64, kind byte) bool {
		switch id {
		case 1:
			h.kind = t.int32(kind)
		case 2:
			h.size = t.int32(kind)
		case 3:
			h.stored = t.int32(kind)
		case 4:
			h.crc = t.int32(kind)
		case 5, 7, 8:
			h.hasNumbers = h.hasNumbers || id == 5 && h.kind == pageData || id == 7 && h.kind == pageDictionary || id == 8 && h.kind == pageDataV2
			t.fields(kind, h.numbers(t, id))
		default:
			return false
		}
		return true
	})
	return h, len(text) - len(t.b), t.err
}

// numbers reads the fields of a data page (5), a dictionary page (7) or a data page of version 2 (8).
func (h *pageHead) numbers(t *thriftReader, page int64) func(int64, byte) bool {
	return func(id int64, kind byte) bool {
		switch {
		case id == 1:
			h.values = t.int32(kind)
		case id == 2 && page != 8, id == 4 && page == 8:
			h.encoding = t.int32(kind)
		case id == 3 && page == 5, id == 5 && page == 8:
			h.definitions = t.int32(kind)
		case id == 4 && page == 5, id == 6 && page == 8:
			h.repetitions = t.int32(kind)
		case id == 7 && page == 8:
			h.compressed = t.integer(kind) != 0
		default:
			return false
		}
		return true
	}
}
