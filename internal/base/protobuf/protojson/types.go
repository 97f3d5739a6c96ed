package protojson

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/protobuf"
	"aiperf/internal/base/sorting"
)

// Files are the types of a set of described files.
type Files struct {
	messages map[string]*Type // by full name
	enums    map[string]*enum
	services map[string]map[string]*Method
}

// Method is a method of a service.
type Method struct {
	Input, Output    *Type
	StreamsRequests  bool
	StreamsResponses bool
}

// Type is the type of a message.
type Type struct {
	Name       string // with its package
	files      *Files
	fields     []*field // in the order of their declaration
	byID       map[int]*field
	onWire     []*field // in the order in which they are written
	oneofs     int      // those of the source
	entry      bool     // an entry of a map
	messageSet bool
	form       *specialForm // nil = an object of its fields
}

// field is a field of a message.
type field struct {
	id         int
	name, json string
	kind       fieldKind
	repeated   bool
	packed     bool
	presence   bool // a zero is written if it was set
	required   bool
	checkUTF8  bool
	oneof      int // index; -1 = none
	optional   bool
	typeName   string
	message    *Type
	enum       *enum
}

// enum has the names of numbers.
type enum struct {
	name    string
	numbers map[string]int32
	names   map[int32]string
}

// fieldKind is the type of a field, with the numbers of descriptor.proto.
type fieldKind int

const (
	kindDouble fieldKind = iota + 1
	kindFloat
	kindInt64
	kindUint64
	kindInt32
	kindFixed64
	kindFixed32
	kindBool
	kindString
	kindGroup
	kindMessage
	kindBytes
	kindUint32
	kindEnum
	kindSfixed32
	kindSfixed64
	kindSint32
	kindSint64
)

// wire returns the wire type of one value.
func (k fieldKind) wire() protobuf.Kind {
	switch k {
	case kindDouble, kindFixed64, kindSfixed64:
		return protobuf.Fixed64
	case kindFloat, kindFixed32, kindSfixed32:
		return protobuf.Fixed32
	case kindString, kindBytes, kindMessage:
		return protobuf.Bytes
	case kindGroup:
		return protobuf.StartGroup
	}
	return protobuf.Varint
}

// isMap reports whether a field is a map.
func (f *field) isMap() bool { return f.repeated && f.message != nil && f.message.entry }

// Service returns the methods of a service by its full name.
func (f *Files) Service(name string) (map[string]*Method, bool) {
	methods, ok := f.services[name]
	return methods, ok
}

// link resolves the names of types and sorts fields.
func (f *Files) link() error {
	for _, t := range f.messages {
		for _, one := range t.fields {
			var known bool
			switch one.kind {
			case kindMessage, kindGroup:
				if one.message, known = f.messages[one.typeName]; known && one.message.entry {
					one.kind = kindMessage // entries of maps are never groups
				}
			case kindEnum:
				one.enum, known = f.enums[one.typeName]
			default:
				known = true
			}
			if !known {
				return fmt.Errorf("field %s.%s has the type %s, which is not described", t.Name, one.name, one.typeName)
			}
			if m := one.message; one.kind == kindGroup && strings.EqualFold(one.name, m.Name[strings.LastIndexByte(m.Name, '.')+1:]) {
				one.name = m.Name[strings.LastIndexByte(m.Name, '.')+1:] // the name of a group in JSON is that of its message
			}
			t.byID[one.id] = one
		}
	}
	for _, t := range f.messages {
		t.onWire = slices.Clone(t.fields)
		// The order of the reference library: fields of a oneof come last. It matters only because the same text gives the same bytes.
		sorting.Sort(t.onWire, func(a, b *field) int {
			return cmp.Or(cmp.Compare(a.wireGroup(), b.wireGroup()), cmp.Compare(a.id, b.id))
		})
		if t.entry && (t.byID[1] == nil || t.byID[2] == nil || t.byID[1].message != nil || t.byID[1].repeated || t.byID[2].repeated) {
			return fmt.Errorf("type %s is an entry of a map without a key and a value", t.Name)
		}
	}
	for _, t := range f.messages {
		if err := t.checkForm(); err != nil {
			return err
		}
	}
	return nil
}

// wireGroup is 0 for a field outside a oneof, and increases with the number of its oneof.
func (f *field) wireGroup() int {
	if f.optional {
		return 0
	}
	return f.oneof + 1
}

// field finds a field by its name or its name in JSON.
func (t *Type) field(name string) *field {
	var second *field
	for _, f := range t.fields {
		if f.json == name {
			return f
		}
		if f.name == name {
			second = f
		}
	}
	return second
}

// HasField reports whether a type has a field with a name in JSON.
func (t *Type) HasField(json string) bool {
	return slices.ContainsFunc(t.fields, func(f *field) bool { return f.json == json })
}

var errNotDescriptors = errors.New("not a FileDescriptorSet, which protoc writes with descriptor_set_out and include_imports")
