package accuracy

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
)

// document is a JSON value with ordered members: *members, []any, json.Number, string, bool or nil.
type document = any

// members are the ordered members of an object.
type members struct {
	keys []string
	at   map[string]document
}

func (m *members) set(key string, v document) {
	if _, known := m.at[key]; !known {
		m.keys = append(m.keys, key)
	}
	m.at[key] = v
}

func (m *members) remove(key string) {
	delete(m.at, key)
	for i, k := range m.keys {
		if k == key {
			m.keys = append(m.keys[:i], m.keys[i+1:]...)
			return
		}
	}
}

// readDocument parses a JSON text.
func readDocument(text string) (document, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	v, err := readNext(d)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = fmt.Errorf("text after the value")
		}
	}
	return v, err
}

func readNext(d *json.Decoder) (document, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		m := &members{at: map[string]document{}}
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			v, err := readNext(d)
			if err != nil {
				return nil, err
			}
			name, _ := key.(string) // a key is always a string
			m.set(name, v)
		}
		_, err = d.Token()
		return m, err
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := readNext(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	}
	return t, nil
}

// pythonJSON writes a document like Python's json.dumps, in ASCII. indent is the number of spaces per level, -1 = all in one line.
func pythonJSON(b *strings.Builder, v document, indent, level int) {
	line := func(level int) {
		if indent >= 0 {
			b.WriteString("\n" + strings.Repeat(" ", indent*level))
		}
	}
	comma := ","
	if indent < 0 {
		comma = ", "
	}
	switch v := v.(type) {
	case *members:
		b.WriteByte('{')
		for i, k := range v.keys {
			if i > 0 {
				b.WriteString(comma)
			}
			line(level + 1)
			pythonString(b, k)
			b.WriteString(": ")
			pythonJSON(b, v.at[k], indent, level+1)
		}
		if len(v.keys) > 0 {
			line(level)
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, x := range v {
			if i > 0 {
				b.WriteString(comma)
			}
			line(level + 1)
			pythonJSON(b, x, indent, level+1)
		}
		if len(v) > 0 {
			line(level)
		}
		b.WriteByte(']')
	case json.Number:
		b.WriteString(pythonNumber(v.String()))
	case string:
		pythonString(b, v)
	case bool:
		b.WriteString(strconv.FormatBool(v))
	default:
		b.WriteString("null")
	}
}

// pythonNumber returns a number as Python writes it after parsing.
func pythonNumber(text string) string {
	if !strings.ContainsAny(text, ".eE") {
		return text
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text
	}
	if a := max(f, -f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func pythonString(b *strings.Builder, s string) {
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\b':
			b.WriteString(`\b`)
		case r == '\f':
			b.WriteString(`\f`)
		case r >= ' ' && r <= '~':
			b.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
}
