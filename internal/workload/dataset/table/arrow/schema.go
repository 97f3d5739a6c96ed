package arrow

import (
	"fmt"
	"time"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Limits of a schema.
const (
	maxFields = 1 << 16 // columns, including nested ones
	maxDepth  = 64      // nesting of fields
)

// kind is the kind of a column: the union Type of Schema.fbs.
type kind byte

const (
	kindNull kind = iota + 1
	kindInt
	kindFloat
	kindBinary
	kindText
	kindBool
	kindDecimal
	kindDate
	kindTime
	kindTimestamp
	kindInterval
	kindList
	kindStruct
	kindUnion
	kindFixedBinary
	kindFixedList
	kindMap
	kindDuration
	kindLargeBinary
	kindLargeText
	kindLargeList
	kindRunEnd
	kindBinaryView
	kindTextView
	kindListView
	kindLargeListView
)

// unreadableKinds names the kinds that this package cannot read. Files may have such columns if they are not wanted.
var unreadableKinds = map[kind]string{kindInterval: "interval", kindUnion: "union", kindRunEnd: "run-end encoded"}

// field describes a column.
type field struct {
	name      string
	kind      kind
	width     int // bits of a fixed-width value
	signed    bool
	unit      int16 // for times: 0 s, 1 ms, 2 us, 3 ns; for dates: 0 days, 1 ms
	zone      *time.Location
	precision int
	scale     int
	size      int  // number of values in a fixed-size list
	dense     bool // a union with offsets
	children  []*field

	encoded    bool // the column holds indices into a dictionary
	dictionary int64
	index      *field // type of these indices
}

// schemaReader reads the fields of a schema.
type schemaReader struct{ fields int }

// readSchema returns the columns of a schema.
func readSchema(t flat) ([]*field, error) {
	if t.GetInt16Slot(schemaEndianness, 0) != 0 {
		return nil, damaged("its numbers are big-endian; only little-endian files can be read")
	}
	return new(schemaReader).list(t, schemaFields, 1)
}

// list reads the fields in a slot of a schema or of a field.
func (r *schemaReader) list(t flat, slot flatbuffers.VOffsetT, depth int) ([]*field, error) {
	v, err := t.vector(slot, flatbuffers.SizeUOffsetT)
	if err != nil {
		return nil, err
	}
	if r.fields += v.n; r.fields > maxFields || depth > maxDepth {
		return nil, damaged("more than %d columns, or nested deeper than %d", maxFields, maxDepth)
	}
	list := make([]*field, v.n)
	for i := range list {
		if list[i], err = r.field(v.element(i), depth); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (r *schemaReader) field(t flat, depth int) (*field, error) {
	f := &field{name: t.text(fieldName), kind: kind(t.GetByteSlot(fieldKind, 0))}
	about, ok := t.table(fieldType)
	if !ok {
		return nil, damaged("column %s has no type", f.name)
	}
	if err := f.describe(about); err != nil {
		return nil, fmt.Errorf("column %s: %w", f.name, err)
	}
	children, err := r.list(t, fieldChildren, depth+1)
	if err != nil {
		return nil, err
	}
	f.children = children
	if want, exact := f.wantedChildren(); len(children) < want || exact && len(children) > want {
		return nil, damaged("column %s has %d nested columns, want %d", f.name, len(children), want)
	}
	if encoding, ok := t.table(fieldDictionary); ok {
		f.encoded, f.dictionary = true, encoding.GetInt64Slot(encodingID, 0)
		f.index = &field{name: f.name, kind: kindInt, width: 32, signed: true}
		if index, ok := encoding.table(encodingIndex); ok {
			if err := f.index.describe(index); err != nil {
				return nil, fmt.Errorf("column %s: %w", f.name, err)
			}
		}
	}
	return f, nil
}

// wantedChildren returns the number of nested columns of the kind, and whether it is exact or a minimum.
func (f *field) wantedChildren() (n int, exact bool) {
	switch f.kind {
	case kindList, kindLargeList, kindFixedList, kindMap, kindListView, kindLargeListView:
		return 1, true
	case kindRunEnd:
		return 2, true
	case kindStruct, kindUnion:
		return 0, false
	}
	return 0, true
}

// describe reads the parameters of a field's type. Slot 4 is the first field of each table of Schema.fbs.
func (f *field) describe(t flat) error {
	const first, second, third = 4, 6, 8
	switch f.kind {
	case kindInt:
		f.width, f.signed = int(t.GetInt32Slot(first, 0)), t.GetBoolSlot(second, false)
		return f.oneOf(8, 16, 32, 64)
	case kindFloat:
		f.width = 16 << min(uint16(t.GetInt16Slot(first, 0)), 3)
		return f.oneOf(16, 32, 64)
	case kindDecimal:
		f.precision, f.scale, f.width = int(t.GetInt32Slot(first, 0)), int(t.GetInt32Slot(second, 0)), int(t.GetInt32Slot(third, 128))
		if f.precision < 1 || f.precision > 76 || f.scale < -76 || f.scale > 76 {
			return damaged("a decimal of %d digits, %d behind the point", f.precision, f.scale)
		}
		return f.oneOf(32, 64, 128, 256)
	case kindDate, kindTime, kindDuration, kindTimestamp, kindInterval:
		return f.describeTime(t)
	case kindFixedBinary:
		n := t.GetInt32Slot(first, 0)
		if n < 0 {
			return damaged("values of %d bytes", n)
		}
		f.width = 8 * int(n)
	case kindFixedList:
		if f.size = int(t.GetInt32Slot(first, 0)); f.size < 0 {
			return damaged("lists of %d values", f.size)
		}
	case kindUnion:
		f.dense = t.GetInt16Slot(first, 0) == 1
	default:
		if f.kind < kindNull || f.kind > kindLargeListView {
			return fmt.Errorf("the type %d is unknown", f.kind)
		}
	}
	return nil
}

// describeTime reads the parameters of a date, a time of day, a duration, an instant or an interval.
func (f *field) describeTime(t flat) error {
	const first, second = 4, 6
	switch f.kind {
	case kindDate:
		f.unit = t.GetInt16Slot(first, 1)
		f.width = 32 << min(uint16(f.unit), 2)
		return f.oneOf(32, 64)
	case kindTime:
		f.unit, f.width = t.GetInt16Slot(first, 1), int(t.GetInt32Slot(second, 32))
		if want := 32 << min(uint16(f.unit)/2, 2); f.width != want {
			return damaged("a time of %d bits, want %d", f.width, want)
		}
	case kindDuration:
		f.unit, f.width = t.GetInt16Slot(first, 1), 64
	case kindTimestamp:
		f.unit, f.width = t.GetInt16Slot(first, 0), 64
		f.zone = zone(t.text(second))
	case kindInterval:
		f.width = 32 << min(uint16(t.GetInt16Slot(first, 0)), 2)
	}
	if f.unit < 0 || f.unit > 3 {
		return damaged("the unit of time %d", f.unit)
	}
	return nil
}

// oneOf checks that the width is one of widths.
func (f *field) oneOf(widths ...int) error {
	for _, w := range widths {
		if f.width == w {
			return nil
		}
	}
	return damaged("values of %d bits", f.width)
}

// zone returns the time zone for a name of the zone database or an offset like "+01:00". An unknown name gives UTC, and nil means no zone.
func zone(name string) *time.Location {
	if name == "" {
		return nil
	}
	if loc, err := time.LoadLocation(name); err == nil {
		return loc
	}
	if at, err := time.Parse("-07:00", name); err == nil {
		_, offset := at.Zone()
		return time.FixedZone(name, offset)
	}
	return time.UTC
}
