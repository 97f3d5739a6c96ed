package protojson

import (
	"errors"
	"fmt"
	"math"

	"aiperf/internal/base/jsontext"
)

// Names of types with a special JSON form that other types use.
const (
	valueType  = "google.protobuf.Value"
	structType = "google.protobuf.Struct"
	listType   = "google.protobuf.ListValue"
	emptyType  = "google.protobuf.Empty"
	nullEnum   = "google.protobuf.NullValue"
)

// specialForm is the JSON form of a type that differs from an object of its fields.
type specialForm struct {
	fields []fieldKind // kinds of the fields 1, 2, …
	append func(m *message, b []byte, depth int) ([]byte, error)
	parse  func(m *message, tree any) error
}

// specialFormOf returns the form of a type in google/protobuf (https://protobuf.dev/programming-guides/json); nil = an object of its fields.
func specialFormOf(name string) *specialForm {
	wrapper := func(kind fieldKind) *specialForm { return &specialForm{[]fieldKind{kind}, appendWrapper, parseWrapper} }
	switch name {
	case "google.protobuf.Any":
		return &specialForm{[]fieldKind{kindString, kindBytes}, appendAny, parseAny}
	case "google.protobuf.Timestamp":
		return &specialForm{[]fieldKind{kindInt64, kindInt32}, appendTimestamp, parseTimestamp}
	case "google.protobuf.Duration":
		return &specialForm{[]fieldKind{kindInt64, kindInt32}, appendDuration, parseDuration}
	case "google.protobuf.FieldMask":
		return &specialForm{[]fieldKind{kindString}, appendFieldMask, parseFieldMask}
	case structType:
		return &specialForm{[]fieldKind{kindMessage}, appendWrapper, parseWrapper}
	case listType:
		return &specialForm{[]fieldKind{kindMessage}, appendWrapper, parseWrapper}
	case valueType:
		return &specialForm{[]fieldKind{kindEnum, kindDouble, kindString, kindBool, kindMessage, kindMessage}, appendValue, parseValueType}
	case emptyType:
		return &specialForm{nil, appendEmpty, parseEmpty}
	case "google.protobuf.BoolValue":
		return wrapper(kindBool)
	case "google.protobuf.Int32Value":
		return wrapper(kindInt32)
	case "google.protobuf.Int64Value":
		return wrapper(kindInt64)
	case "google.protobuf.UInt32Value":
		return wrapper(kindUint32)
	case "google.protobuf.UInt64Value":
		return wrapper(kindUint64)
	case "google.protobuf.FloatValue":
		return wrapper(kindFloat)
	case "google.protobuf.DoubleValue":
		return wrapper(kindDouble)
	case "google.protobuf.StringValue":
		return wrapper(kindString)
	case "google.protobuf.BytesValue":
		return wrapper(kindBytes)
	}
	return nil
}

// checkForm sets the special form of a type. A type that has the name but not the fields is an error.
func (t *Type) checkForm() error {
	t.form = specialFormOf(t.Name)
	if t.form == nil {
		return nil
	}
	wrong := fmt.Errorf("type %s does not have the fields of the type of that name in Protocol Buffers", t.Name)
	for i, kind := range t.form.fields {
		if f := t.byID[i+1]; f == nil || f.kind != kind {
			return wrong
		}
	}
	first := t.byID[1]
	switch t.Name {
	case structType:
		if !first.isMap() || first.message.byID[2].message == nil || first.message.byID[2].message.Name != valueType {
			return wrong
		}
	case listType:
		if !first.repeated || first.message.Name != valueType {
			return wrong
		}
	case valueType:
		if first.enum.name != nullEnum || t.byID[5].message.Name != structType || t.byID[6].message.Name != listType {
			return wrong
		}
	case "google.protobuf.FieldMask":
		if !first.repeated {
			return wrong
		}
	default:
		for i := range t.form.fields {
			if t.byID[i+1].repeated {
				return wrong
			}
		}
	}
	return nil
}

// appendWrapper appends the value of the only field of a type. Struct and ListValue are such types, too.
func appendWrapper(m *message, b []byte, depth int) ([]byte, error) {
	f := m.kind.byID[1]
	v, has := m.values[1]
	switch {
	case f.isMap():
		content, _ := v.(mapping)
		return f.appendMapJSON(b, content, depth)
	case f.repeated:
		list, _ := v.([]any)
		return f.appendListJSON(b, list, depth)
	case !has:
		v = f.zero()
	}
	return f.appendValue(b, v, depth)
}

func parseWrapper(m *message, tree any) error { return m.setMember(m.kind.byID[1], tree) }

// appendValue appends a Value, which holds any JSON.
func appendValue(m *message, b []byte, depth int) ([]byte, error) {
	for id, v := range m.values {
		if number, ok := v.(float64); ok && (math.IsNaN(number) || math.IsInf(number, 0)) {
			return nil, fmt.Errorf("a %s cannot be %v", valueType, number)
		}
		return m.kind.byID[id].appendValue(b, v, depth)
	}
	return nil, fmt.Errorf("a %s has no value", valueType)
}

func parseValueType(m *message, tree any) error {
	id := 0
	switch tree.(type) {
	case nil:
		id = 1
	case number:
		id = 2
	case string:
		id = 3
	case bool:
		id = 4
	case object:
		id = 5
	case []any:
		id = 6
	}
	return m.setMember(m.kind.byID[id], tree)
}

func appendEmpty(_ *message, b []byte, _ int) ([]byte, error) { return append(b, "{}"...), nil }

func parseEmpty(_ *message, tree any) error {
	members, ok := tree.(object)
	if !ok || len(members) > 0 {
		return fmt.Errorf("%s must be {}", emptyType)
	}
	return nil
}

// resolve returns the type that an Any names.
func (m *message) resolve(url string) (*Type, error) {
	name := url
	for i := len(url) - 1; i >= 0; i-- {
		if url[i] == '/' {
			name = url[i+1:]
			break
		}
	}
	if t := m.kind.files.messages[name]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("the type %q is not described", url)
}

// appendAny appends the message inside an Any with its type.
func appendAny(m *message, b []byte, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, errDepth
	}
	url, _ := m.values[1].(string)
	content, has := m.values[2].([]byte)
	o := jsontext.Open(b)
	if url == "" {
		if has {
			return nil, errors.New("a google.protobuf.Any has a value but no type")
		}
		return o.Close(), nil
	}
	t, err := m.resolve(url)
	if err != nil {
		return nil, err
	}
	inner := newMessage(t)
	if err := inner.parse(content, 0); err != nil {
		return nil, err
	}
	o.Text("@type", url)
	if t.form == nil || t.Name == emptyType {
		err = inner.appendFields(&o, depth+1)
		return o.Close(), err
	}
	o.Key("value")
	o.B, err = t.form.append(inner, o.B, depth+1)
	return o.Close(), err
}

func parseAny(m *message, tree any) error {
	members, ok := tree.(object)
	if !ok {
		return fmt.Errorf("%s is not an object", describe(tree))
	}
	if len(members) == 0 {
		return nil
	}
	var url string
	var rest object
	for _, one := range members {
		if one.name != "@type" {
			rest = append(rest, one)
			continue
		}
		text, isText := one.value.(string)
		if !isText || text == "" || url != "" {
			return errors.New(`"@type" must be given once and be the name of a type`)
		}
		url = text
	}
	if url == "" {
		return errors.New(`a google.protobuf.Any needs a member "@type"`)
	}
	t, err := m.resolve(url)
	if err != nil {
		return err
	}
	inner := newMessage(t)
	switch {
	case t.form == nil:
		err = inner.setMembers(rest)
	case len(rest) == 1 && rest[0].name == "value":
		err = t.form.parse(inner, rest[0].value)
	case len(rest) == 0 && t.Name == emptyType:
	default:
		err = errors.New(`a google.protobuf.Any of this type needs the member "value" and no other one`)
	}
	if err != nil {
		return err
	}
	m.set(m.kind.byID[1], url)
	m.set(m.kind.byID[2], []byte(inner.append(nil)))
	return nil
}
