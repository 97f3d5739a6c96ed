package protojson

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Marshal converts the JSON form of a message to the wire format. The same text gives the same bytes.
func (t *Type) Marshal(text []byte) ([]byte, error) {
	tree, err := parseTree(text)
	if err != nil {
		return nil, err
	}
	m, err := t.fromJSON(tree)
	if err != nil {
		return nil, err
	}
	if name := m.missing(); name != "" {
		return nil, fmt.Errorf("the required field %s is missing", name)
	}
	return m.append([]byte{}), nil
}

// fromJSON makes a message of a parsed text.
func (t *Type) fromJSON(tree any) (*message, error) {
	m := newMessage(t)
	if t.messageSet {
		return nil, fmt.Errorf("type %s is a MessageSet, which is not supported", t.Name)
	}
	if t.form != nil {
		return m, t.form.parse(m, tree)
	}
	members, ok := tree.(object)
	if !ok {
		return nil, fmt.Errorf("%s is not an object", describe(tree))
	}
	return m, m.setMembers(members)
}

// setMembers sets the fields of a message.
func (m *message) setMembers(members object) error {
	seen, oneofs := map[int]bool{}, map[int]bool{}
	for _, one := range members {
		f := m.kind.field(one.name)
		if f == nil {
			return fmt.Errorf("unknown field %q of %s", one.name, m.kind.Name)
		}
		if seen[f.id] {
			return fmt.Errorf("duplicate field %q of %s", one.name, m.kind.Name)
		}
		seen[f.id] = true
		if one.value == nil && !f.takesNull() {
			continue
		}
		if !f.repeated && f.oneof >= 0 {
			if oneofs[f.oneof] {
				return fmt.Errorf("field %q: another field of its oneof is set already", one.name)
			}
			oneofs[f.oneof] = true
		}
		if err := m.setMember(f, one.value); err != nil {
			return inside(one.name, err)
		}
	}
	return nil
}

// inside adds the name of a field to the path in an error.
func inside(name string, err error) error {
	var deeper *pathError
	if errors.As(err, &deeper) {
		if strings.HasPrefix(deeper.path, "[") {
			deeper.path = name + deeper.path
		} else {
			deeper.path = name + "." + deeper.path
		}
		return deeper
	}
	return &pathError{name, err}
}

// pathError is an error about a value inside a message.
type pathError struct {
	path string
	err  error
}

func (e *pathError) Error() string { return e.path + ": " + e.err.Error() }
func (e *pathError) Unwrap() error { return e.err }

// takesNull reports whether null is a value of a field, and does not just mean that the field is not set.
func (f *field) takesNull() bool {
	return !f.repeated && (f.message != nil && f.message.Name == valueType || f.enum != nil && f.enum.name == nullEnum)
}

// setMember sets one field.
func (m *message) setMember(f *field, tree any) error {
	switch {
	case f.isMap():
		return m.setMap(f, tree)
	case f.repeated:
		list, ok := tree.([]any)
		if !ok {
			return fmt.Errorf("%s is not a list", describe(tree))
		}
		for i, one := range list {
			v, err := f.fromTree(one)
			if err != nil {
				return inside("["+strconv.Itoa(i)+"]", err)
			}
			m.add(f, v)
		}
		return nil
	}
	v, err := f.fromTree(tree)
	if err == nil {
		m.set(f, v)
	}
	return err
}

func (m *message) setMap(f *field, tree any) error {
	members, ok := tree.(object)
	if !ok {
		return fmt.Errorf("%s is not an object", describe(tree))
	}
	content, key, value := m.entries(f), f.message.byID[1], f.message.byID[2]
	for _, one := range members {
		k, err := key.fromKey(one.name)
		if err != nil {
			return err
		}
		if _, has := content[k]; has {
			return fmt.Errorf("duplicate key %q", one.name)
		}
		v, err := value.fromTree(one.value)
		if err != nil {
			return inside(one.name, err)
		}
		content[k] = v
	}
	if len(content) == 0 {
		delete(m.values, f.id)
	}
	return nil
}

// fromKey parses a key of a map. Names in JSON are texts.
func (f *field) fromKey(name string) (any, error) {
	switch f.kind {
	case kindString:
		return name, nil
	case kindBool:
		if name == "true" || name == "false" {
			return name == "true", nil
		}
		return nil, fmt.Errorf("key %q is not true or false", name)
	}
	v, err := f.fromDigits(name)
	if err != nil {
		return nil, fmt.Errorf("key %q is not of the type %s, or out of its range", name, kindNames[f.kind])
	}
	return v, nil
}

// fromDigits parses a whole number.
func (f *field) fromDigits(text string) (any, error) {
	switch f.kind {
	case kindInt32, kindSint32, kindSfixed32:
		return strconv.ParseInt(text, 10, 32)
	case kindInt64, kindSint64, kindSfixed64:
		return strconv.ParseInt(text, 10, 64)
	case kindUint32, kindFixed32:
		return strconv.ParseUint(text, 10, 32)
	case kindUint64, kindFixed64:
		return strconv.ParseUint(text, 10, 64)
	}
	return nil, strconv.ErrSyntax
}

// fromTree converts one value.
func (f *field) fromTree(tree any) (any, error) {
	if f.message != nil {
		return f.message.fromJSON(tree)
	}
	if f.enum != nil {
		return f.enum.fromTree(tree)
	}
	switch v := tree.(type) {
	case bool:
		if f.kind == kindBool {
			return v, nil
		}
	case string:
		switch f.kind {
		case kindString:
			return v, nil
		case kindBytes:
			if b, ok := fromBase64(v); ok {
				return b, nil
			}
		case kindFloat, kindDouble:
			if special, ok := specialNumbers[v]; ok {
				return special, nil
			}
			return f.fromNumberText(v)
		case kindBool:
		default:
			return f.fromNumberText(v)
		}
	case number:
		return f.fromNumberText(string(v))
	}
	return nil, fmt.Errorf("%s is not of the type %s", describe(tree), kindNames[f.kind])
}

var specialNumbers = map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}

var kindNames = map[fieldKind]string{
	kindDouble: "double", kindFloat: "float", kindInt64: "int64", kindUint64: "uint64", kindInt32: "int32", kindFixed64: "fixed64", kindFixed32: "fixed32",
	kindBool: "bool", kindString: "string", kindBytes: "bytes", kindUint32: "uint32", kindEnum: "enum", kindSfixed32: "sfixed32", kindSfixed64: "sfixed64",
	kindSint32: "sint32", kindSint64: "sint64",
}

// fromNumberText parses a number. Whole numbers may have a fraction of zeros and an exponent.
func (f *field) fromNumberText(text string) (v any, err error) {
	if !isNumber(text) {
		return nil, fmt.Errorf("%q is not of the type %s", text, kindNames[f.kind])
	}
	switch f.kind {
	case kindFloat:
		v, err = strconv.ParseFloat(text, 32)
	case kindDouble:
		v, err = strconv.ParseFloat(text, 64)
	default:
		whole, isWhole := wholeNumber(text)
		if v, err = f.fromDigits(whole); !isWhole {
			err = strconv.ErrSyntax
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s is not of the type %s, or out of its range", text, kindNames[f.kind])
	}
	return v, nil
}

// wholeNumber returns the digits of a number in JSON that has no fraction: 1.50e2 is 150. False = it has one, or more than 40 digits.
func wholeNumber(text string) (string, bool) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	digits, fraction, _ := strings.Cut(mantissa, ".")
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	fraction = strings.TrimRight(fraction, "0")
	if strings.Trim(digits+fraction, "0") == "" {
		return "0", true
	}
	shift := 0
	if exponent != "" {
		var err error
		if shift, err = strconv.Atoi(exponent); err != nil {
			return "", false
		}
	}
	const most = 40
	switch {
	case shift >= len(fraction) && shift <= most:
		digits += fraction + strings.Repeat("0", shift-len(fraction))
	case shift < 0 && fraction == "" && -shift < len(digits) && strings.Trim(digits[len(digits)+shift:], "0") == "":
		digits = digits[:len(digits)+shift]
	default:
		return "", false
	}
	if digits = strings.TrimLeft(digits, "0"); sign == "-" {
		digits = sign + digits
	}
	return digits, true
}

// fromTree parses a value of an enum: a name or a number.
func (e *enum) fromTree(tree any) (any, error) {
	switch v := tree.(type) {
	case string:
		if n, ok := e.numbers[v]; ok {
			return int64(n), nil
		}
	case number:
		if whole, ok := wholeNumber(string(v)); ok {
			if n, err := strconv.ParseInt(whole, 10, 32); err == nil {
				return n, nil
			}
		}
	case nil:
		if e.name == nullEnum {
			return int64(0), nil
		}
	}
	return nil, fmt.Errorf("%s is not a value of the enum %s", describe(tree), e.name)
}

// fromBase64 decodes either alphabet, with or without padding.
func fromBase64(s string) ([]byte, bool) {
	alphabet := base64.StdEncoding
	if strings.ContainsAny(s, "-_") {
		alphabet = base64.URLEncoding
	}
	if len(s)%4 != 0 {
		alphabet = alphabet.WithPadding(base64.NoPadding)
	}
	b, err := alphabet.DecodeString(s)
	return b, err == nil
}

var errSyntax = errors.New("not valid JSON")
