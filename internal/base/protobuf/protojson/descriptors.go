package protojson

import (
	"fmt"
	"strings"

	"aiperf/internal/base/protobuf"
)

// ParseFiles reads a FileDescriptorSet. Field numbers are those of google/protobuf/descriptor.proto.
func ParseFiles(set []byte) (*Files, error) {
	f := &Files{messages: map[string]*Type{}, enums: map[string]*enum{}, services: map[string]map[string]*Method{}}
	var files, services []descriptor
	for one, err := range protobuf.Fields(set) {
		if err != nil || one.ID != 1 || one.Kind != protobuf.Bytes {
			return nil, errNotDescriptors
		}
		file, err := parseDescriptor(one.Content)
		if err != nil {
			return nil, errNotDescriptors
		}
		files = append(files, file)
	}
	for _, file := range files {
		scope := file.text(2)
		features := editionFeatures(file).with(file.message(8).message(50))
		if err := f.addMessages(scope, file.list(4), features); err != nil {
			return nil, err
		}
		if err := f.addEnums(scope, file.list(5)); err != nil {
			return nil, err
		}
		for _, s := range file.list(6) {
			s.scope = scope
			services = append(services, s)
		}
	}
	if err := f.link(); err != nil {
		return nil, err
	}
	return f, f.addServices(services)
}

// addServices stores services, whose types are known by now.
func (f *Files) addServices(list []descriptor) error {
	for _, s := range list {
		methods := map[string]*Method{}
		for _, m := range s.list(2) {
			in, out := strings.TrimPrefix(m.text(2), "."), strings.TrimPrefix(m.text(3), ".")
			one := &Method{Input: f.messages[in], Output: f.messages[out], StreamsRequests: m.number(5) != 0, StreamsResponses: m.number(6) != 0}
			if one.Input == nil || one.Output == nil {
				return fmt.Errorf("method %s.%s takes %s and returns %s, which are not both described", s.text(1), m.text(1), in, out)
			}
			methods[m.text(1)] = one
		}
		f.services[join(s.scope, s.text(1))] = methods
	}
	return nil
}

// maxNames limits how deep the descriptions of messages nest; protoc allows 32.
const maxNames = 200

// addMessages stores messages and those inside them.
func (f *Files) addMessages(scope string, list []descriptor, around features) error {
	if strings.Count(scope, ".") > maxNames {
		return fmt.Errorf("%.80s…: more than %d messages within each other", scope, maxNames)
	}
	for _, d := range list {
		options := d.message(7)
		inside := around.with(options.message(12))
		t := &Type{Name: join(scope, d.text(1)), files: f, byID: map[int]*field{}, oneofs: len(d.list(8)), entry: options.number(7) != 0, messageSet: options.number(1) != 0}
		if err := unique(f.messages, t.Name, t); err != nil {
			return err
		}
		for _, one := range d.list(2) {
			ready, err := newField(one, d, inside)
			if err != nil {
				return fmt.Errorf("message %s: %w", t.Name, err)
			}
			t.fields = append(t.fields, ready)
		}
		if err := f.addMessages(t.Name, d.list(3), inside); err != nil {
			return err
		}
		if err := f.addEnums(t.Name, d.list(4)); err != nil {
			return err
		}
	}
	return nil
}

// addEnums stores enums. If a number has several names, the first one is printed.
func (f *Files) addEnums(scope string, list []descriptor) error {
	for _, d := range list {
		e := &enum{name: join(scope, d.text(1)), numbers: map[string]int32{}, names: map[int32]string{}}
		for _, value := range d.list(2) {
			name, n := value.text(1), int32(value.number(2))
			e.numbers[name] = n
			if _, has := e.names[n]; !has {
				e.names[n] = name
			}
		}
		if err := unique(f.enums, e.name, e); err != nil {
			return err
		}
	}
	return nil
}

// unique stores a value under a name that must be new.
func unique[V any](in map[string]V, name string, v V) error {
	if _, has := in[name]; has {
		return fmt.Errorf("%s is described twice", name)
	}
	in[name] = v
	return nil
}

func join(scope, name string) string {
	if scope == "" {
		return name
	}
	return scope + "." + name
}

// newField reads a FieldDescriptorProto of a message.
func newField(d, message descriptor, around features) (*field, error) {
	const labelRepeated = 3
	f := &field{id: int(d.number(3)), name: d.text(1), json: d.text(10), kind: fieldKind(d.number(5)), repeated: d.number(4) == labelRepeated,
		typeName: strings.TrimPrefix(d.text(6), "."), oneof: -1, optional: d.number(17) != 0}
	if f.id <= 0 || f.kind < kindDouble || f.kind > kindSint64 {
		return nil, fmt.Errorf("field %s has the number %d and a type of number %d", f.name, f.id, f.kind)
	}
	if f.json == "" {
		f.json = camelCase(f.name)
	}
	set := around
	if d.has(9) {
		f.oneof = int(d.number(9))
		if list := message.list(8); f.oneof >= 0 && f.oneof < len(list) {
			set = set.with(list[f.oneof].message(2).message(1))
		}
	}
	f.setFeatures(d, set)
	return f, nil
}

// setFeatures sets the properties of a field that depend on the features around it and on its options.
func (f *field) setFeatures(d descriptor, set features) {
	const labelRequired = 2
	options := d.message(8)
	set = set.with(options.message(21))
	f.required = d.number(4) == labelRequired || set.presence == presenceRequired
	f.presence = !f.repeated && (set.presence != presenceImplicit || f.oneof >= 0 || f.optional || f.kind == kindMessage || f.kind == kindGroup)
	if options.has(2) {
		set.packed = options.number(2) != 0
	}
	f.packed = f.repeated && set.packed && f.kind.wire() != protobuf.Bytes && f.kind != kindGroup
	f.checkUTF8 = set.utf8 && f.kind == kindString
	if f.kind == kindMessage && set.delimited {
		f.kind = kindGroup
	}
}

// camelCase returns the name in JSON of a field for which the descriptor has none.
func camelCase(name string) string {
	var b []byte
	upper := false
	for i := range len(name) {
		c := name[i]
		if c == '_' {
			upper = true
			continue
		}
		if upper && 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		b, upper = append(b, c), false
	}
	return string(b)
}

// features are the properties that an edition of the language sets and that files, messages and fields may change.
type features struct {
	presence  uint64
	packed    bool
	utf8      bool
	delimited bool
}

// Values of FeatureSet.
const (
	presenceExplicit = 1
	presenceImplicit = 2
	presenceRequired = 3
	encodingPacked   = 1
	utf8Verify       = 2
	messageDelimited = 2
)

// editionFeatures returns the features of a file's syntax.
func editionFeatures(file descriptor) features {
	switch file.text(12) {
	case "proto3":
		return features{presence: presenceImplicit, packed: true, utf8: true}
	case "editions":
		return features{presence: presenceExplicit, packed: true, utf8: true}
	}
	return features{presence: presenceExplicit}
}

// with returns the features with the changes of a FeatureSet.
func (f features) with(set descriptor) features {
	if set.has(1) {
		f.presence = set.number(1)
	}
	if set.has(3) {
		f.packed = set.number(3) == encodingPacked
	}
	if set.has(4) {
		f.utf8 = set.number(4) == utf8Verify
	}
	if set.has(5) {
		f.delimited = set.number(5) == messageDelimited
	}
	return f
}

// descriptor is a message of descriptor.proto.
type descriptor struct {
	fields []protobuf.Field
	scope  string // the package around it
}

func parseDescriptor(b []byte) (d descriptor, err error) {
	for f, err := range protobuf.Fields(b) {
		if err != nil {
			return d, err
		}
		d.fields = append(d.fields, f)
	}
	return d, nil
}

// last returns the last field with a number; false = none.
func (d descriptor) last(id int) (f protobuf.Field, ok bool) {
	for _, one := range d.fields {
		if one.ID == id {
			f, ok = one, true
		}
	}
	return f, ok
}

func (d descriptor) has(id int) bool { _, ok := d.last(id); return ok }

func (d descriptor) text(id int) string { f, _ := d.last(id); return string(f.Content) }

func (d descriptor) number(id int) uint64 { f, _ := d.last(id); return f.Number }

// message returns a message inside; invalid ones are empty.
func (d descriptor) message(id int) descriptor {
	f, _ := d.last(id)
	inner, _ := parseDescriptor(f.Content)
	return inner
}

// list returns the messages of a repeated field; invalid ones are empty.
func (d descriptor) list(id int) (out []descriptor) {
	for _, f := range d.fields {
		if f.ID == id {
			inner, _ := parseDescriptor(f.Content)
			out = append(out, inner)
		}
	}
	return out
}
