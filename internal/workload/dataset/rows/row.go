package rows

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/workload/dataset"
)

// Row is one JSON object. For a field of the wrong type, its methods record an error and return nothing. null counts as absent.
type Row struct {
	Where  string // path:line
	Line   Line   // the line of the row; zero for a nested object
	prefix string // path of the object inside its row: "turns[0]."
	whole  []byte // the object itself
	fields map[string]json.RawMessage
	faults *dataset.Faults
}

// Parse parses a JSON object. If the text is none, it records an error and returns nil.
func Parse(where string, text []byte, faults *dataset.Faults) *Row {
	return parse(where, "", text, faults)
}

// ParseItem parses a JSON object nested in another value. field is its path there: "data[3]".
func ParseItem(where, field string, text []byte, faults *dataset.Faults) *Row {
	return parse(where, field+".", text, faults)
}

func parse(where, prefix string, text []byte, faults *dataset.Faults) *Row {
	if fields, ok := members(text); ok && utf8.Valid(text) && halfCharacter(text) < 0 {
		return &Row{Where: where, prefix: prefix, whole: text, faults: faults, fields: fields}
	}
	field := strings.TrimSuffix(prefix, ".")
	if why := invalid(text); why != "" {
		faults.Add(where, field, "invalid JSON: %s", why)
		return nil
	}
	if kind := Kind(text); kind != "object" {
		hint := ""
		if kind == "array" && field == "" && !strings.HasSuffix(where, "]") { // a line of a file
			hint = "; a JSONL file has one object per line; convert it with: jq -c '.[]' FILE"
		}
		faults.Add(where, field, "must be a JSON object, got %s%s", kind, hint)
		return nil
	}
	r := &Row{Where: where, prefix: prefix, whole: text, faults: faults}
	if err := json.Unmarshal(text, &r.fields); err != nil {
		faults.Add(where, field, "invalid JSON: %v", err)
		return nil
	}
	maps.DeleteFunc(r.fields, func(_ string, v json.RawMessage) bool { return bytes.Equal(v, []byte("null")) })
	return r
}

// inner returns an object inside a row whose text is known to be valid.
func (r *Row) inner(prefix string, text []byte) *Row {
	if fields, ok := members(text); ok {
		return &Row{Where: r.Where, prefix: prefix, whole: text, faults: r.faults, fields: fields}
	}
	return parse(r.Where, prefix, text, r.faults)
}

// members splits an object into its fields without copying, and leaves out fields that are null. It returns false if the text is not an object, is
// malformed, or nested too deep.
func members(text []byte) (map[string]json.RawMessage, bool) {
	s := &jsontext.Scanner{Doc: text}
	if !s.Open('{') {
		return nil, false
	}
	fields := map[string]json.RawMessage{}
	for first := true; s.Next('}', first); first = false {
		key := string(s.Key())
		if raw := s.Raw(); bytes.Equal(raw, []byte("null")) {
			delete(fields, key) // of two equal keys the last one counts
		} else {
			fields[key] = raw[:len(raw):len(raw)]
		}
	}
	return fields, s.Done()
}

// elements splits a list into its items without copying. It returns false if the text is not a list, or nested too deep.
func elements(text []byte) ([]json.RawMessage, bool) {
	s := &jsontext.Scanner{Doc: text}
	if !s.Open('[') {
		return nil, false
	}
	items := []json.RawMessage{}
	for first := true; s.Next(']', first); first = false {
		raw := s.Raw()
		items = append(items, raw[:len(raw):len(raw)])
	}
	return items, s.Done()
}

// Kind names the type of a JSON value for error messages.
func Kind(raw []byte) string {
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// article puts "a" or "an" before a type name.
func article(kind string) string {
	switch kind {
	case "object", "array":
		return "an " + kind
	case "null", "nothing":
		return kind
	}
	return "a " + kind
}

// Fault records an error in a field; "" = the whole row.
func (r *Row) Fault(field, reason string, args ...any) {
	r.faults.Add(r.Where, strings.TrimSuffix(r.prefix+field, "."), reason, args...)
}

// Path returns the path of a field in its row: "turns[0].text".
func (r *Row) Path(field string) string { return r.prefix + field }

// Faults returns the number of errors recorded so far, in all rows.
func (r *Row) Faults() int { return r.faults.Count() }

// Has reports whether a field exists and is not null.
func (r *Row) Has(field string) bool { return r.fields[field] != nil }

// Keys lists the keys of the row in alphabetical order.
func (r *Row) Keys() []string { return slices.Sorted(r.Names()) }

// Names iterates over the fields that are not null, in no order.
func (r *Row) Names() iter.Seq[string] { return maps.Keys(r.fields) }

// Raw returns the JSON text of a field, nil if it is absent.
func (r *Row) Raw(field string) json.RawMessage { return r.fields[field] }

// String returns a text field, nil if it is absent or invalid.
func (r *Row) String(field string) *string {
	raw := r.fields[field]
	if raw == nil {
		return nil
	}
	return r.text(field, raw)
}

// sharedText is the length from which a text shares the memory of its row. Shorter texts are copied, so that they do not keep the row in memory.
const sharedText = 64 << 10

func (r *Row) text(field string, raw json.RawMessage) *string {
	if Kind(raw) == "string" && bytes.IndexByte(raw, '\\') < 0 {
		plain := raw[1 : len(raw)-1]
		if len(plain) >= sharedText {
			s := unsafe.String(&plain[0], len(plain)) // safe: nobody writes to a row
			return &s
		}
		s := string(plain)
		return &s
	}
	var s string
	if Kind(raw) != "string" || json.Unmarshal(raw, &s) != nil {
		r.Fault(field, "must be a string, got %s", article(Kind(raw)))
		return nil
	}
	return &s
}

// Number returns a number, nil if it is absent or invalid. A number in a string is accepted.
func (r *Row) Number(field string) *float64 {
	raw := r.fields[field]
	if raw == nil {
		return nil
	}
	f, ok := number(raw)
	if !ok {
		r.Fault(field, "must be a number, got %s", displayValue(raw))
		return nil
	}
	return &f
}

// Duration returns a non-negative number, nil if it is absent or invalid.
func (r *Row) Duration(field string) *float64 {
	f := r.Number(field)
	if f != nil && *f < 0 {
		r.Fault(field, "must not be negative, got %s", r.fields[field])
		return nil
	}
	return f
}

// Int returns an integer of at least low, nil if it is absent or invalid. 12.0 and "12" are accepted.
func (r *Row) Int(field string, low int) *int {
	raw := r.fields[field]
	if raw == nil {
		return nil
	}
	n, ok := whole(raw)
	switch {
	case !ok:
		r.Fault(field, "must be an integer, got %s", displayValue(raw))
		return nil
	case n < int64(low):
		r.Fault(field, "must be at least %d, got %s", low, raw)
		return nil
	case n > math.MaxInt32:
		r.Fault(field, "must be at most %d, got %s", math.MaxInt32, raw)
		return nil
	}
	i := int(n)
	return &i
}

// Ints returns a list of 64-bit integers, nil if it is absent or invalid.
func (r *Row) Ints(field string) []int64 {
	if list, plain := plainInts(r.fields[field]); plain {
		return list
	}
	items := r.List(field)
	if items == nil {
		return nil
	}
	out := make([]int64, 0, len(items))
	for i, raw := range items {
		n, ok := whole(raw)
		if !ok {
			r.Fault(field+"["+strconv.Itoa(i)+"]", "must be an integer of 64 bits, got %s", displayValue(raw))
			return nil
		}
		out = append(out, n)
	}
	return out
}

// plainInts parses a list of integers of at most 18 digits, without exponents. It returns false for any other list. It is a fast path, because hash
// ids are most of a trace.
func plainInts(raw json.RawMessage) (list []int64, plain bool) {
	if len(raw) < 2 || raw[0] != '[' {
		return nil, false
	}
	list = make([]int64, 0, bytes.Count(raw, []byte(","))+1)
	for i := 1; ; {
		i = blank(raw, i)
		negative := raw[i] == '-'
		if negative {
			i++
		}
		n, from := int64(0), i
		for ; '0' <= raw[i] && raw[i] <= '9'; i++ {
			n = n*10 + int64(raw[i]-'0')
		}
		if i == from || i-from > 18 {
			return nil, false
		}
		if negative {
			n = -n
		}
		list = append(list, n)
		i = blank(raw, i)
		switch raw[i] { // valid JSON ends with a bracket
		case ',':
			i++
		case ']':
			return list, true
		default:
			return nil, false
		}
	}
}

// blank returns the next index that is not white space.
func blank(raw []byte, i int) int {
	for raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\n' || raw[i] == '\r' {
		i++
	}
	return i
}

// List returns the items of a list, nil if it is absent or invalid.
func (r *Row) List(field string) []json.RawMessage {
	raw := r.fields[field]
	if raw == nil {
		return nil
	}
	if items, ok := elements(raw); ok {
		return items
	}
	items := []json.RawMessage{}
	if Kind(raw) != "array" || json.Unmarshal(raw, &items) != nil {
		r.Fault(field, "must be a list, got %s", article(Kind(raw)))
		return nil
	}
	return items
}

// Object returns an object field without white space, nil if it is absent or invalid.
func (r *Row) Object(field string) json.RawMessage {
	raw := r.fields[field]
	if raw == nil {
		return nil
	}
	if Kind(raw) != "object" {
		r.Fault(field, "must be an object, got %s", article(Kind(raw)))
		return nil
	}
	return Compact(raw)
}

// Compact removes the white space from JSON. It keeps the order of keys and the spelling of numbers.
func Compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	b.Grow(len(raw))
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// Item returns item i of a list as an object. If it is none, it records an error and returns nil.
func (r *Row) Item(field string, i int, raw json.RawMessage) *Row {
	return r.inner(r.prefix+field+"["+strconv.Itoa(i)+"].", raw)
}

// number parses a JSON number, or a string with a number.
func number(raw json.RawMessage) (float64, bool) {
	f, err := strconv.ParseFloat(digits(raw), 64)
	return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
}

// whole parses a 64-bit integer: 12, 12.0, 1e2, "12", "12.0".
func whole(raw json.RawMessage) (int64, bool) {
	s := digits(raw)
	if Kind(raw) == "string" && strings.ContainsAny(s, "eE") {
		return 0, false
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	f, ok := number(raw)
	return int64(f), ok && f == math.Trunc(f) && math.Abs(f) < 1<<53
}

// digits returns the text of a number, "" for other values.
func digits(raw json.RawMessage) string {
	switch Kind(raw) {
	case "number":
		return string(raw)
	case "string":
		var s string
		if json.Unmarshal(raw, &s) == nil && !strings.ContainsAny(s, "xX_pPnN") {
			return strings.TrimSpace(s)
		}
	}
	return ""
}

// displayValue formats a value for an error message. It truncates numbers, strings and booleans. Of other values it shows only the type.
func displayValue(raw json.RawMessage) string {
	switch Kind(raw) {
	case "object", "array":
		return article(Kind(raw))
	}
	if len(raw) > 40 {
		return string(raw[:40]) + "…"
	}
	return string(raw)
}
