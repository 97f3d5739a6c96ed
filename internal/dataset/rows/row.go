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

	"aiperf/internal/dataset"
	"aiperf/internal/jsontext"
)

// Row is one JSON object. Its methods note a fault and return nothing for a field that is not what it must be; null counts as absent.
type Row struct {
	Where  string // path:line
	Line   Line   // that it fills; zero for an object that stands inside another
	prefix string // path of the object inside its row: "turns[0]."
	whole  []byte // the object itself
	fields map[string]json.RawMessage
	faults *dataset.Faults
}

// Parse reads a JSON object; nil, with the fault noted, if it is none.
func Parse(where string, text []byte, faults *dataset.Faults) *Row {
	return parse(where, "", text, faults)
}

// ParseItem reads a JSON object that stands inside another value; field is its path there: "data[3]".
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
		faults.Add(where, field, "must be a JSON object, got %s", kind)
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

// inner is an object of a row, whose text is known to be right.
func (r *Row) inner(prefix string, text []byte) *Row {
	if fields, ok := members(text); ok {
		return &Row{Where: r.Where, prefix: prefix, whole: text, faults: r.faults, fields: fields}
	}
	return parse(r.Where, prefix, text, r.faults)
}

// members cuts an object into its fields, without those that are null, and copies none; false = it is no object, wrong, or nested very deep.
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

// elements cuts a list into its items and copies none; false = it is no list, or nested very deep.
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

// Kind names what a JSON value is, the way an error message says it.
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

// article puts "a" or "an" before a kind.
func article(kind string) string {
	switch kind {
	case "object", "array":
		return "an " + kind
	case "null", "nothing":
		return kind
	}
	return "a " + kind
}

// Fault notes a fault of a field; "" is the whole row.
func (r *Row) Fault(field, reason string, args ...any) {
	r.faults.Add(r.Where, strings.TrimSuffix(r.prefix+field, "."), reason, args...)
}

// Path is where a field of the object stands in its row: "turns[0].text".
func (r *Row) Path(field string) string { return r.prefix + field }

// Faults is how many faults were noted so far, with those of other rows.
func (r *Row) Faults() int { return r.faults.Count() }

// Has tells whether a field is there and not null.
func (r *Row) Has(field string) bool { return r.fields[field] != nil }

// Keys lists the keys of the row in alphabetical order.
func (r *Row) Keys() []string { return slices.Sorted(r.Names()) }

// Names are the fields that are not null, in no order.
func (r *Row) Names() iter.Seq[string] { return maps.Keys(r.fields) }

// Raw returns a field as it was written, nil if it is absent.
func (r *Row) Raw(field string) json.RawMessage { return r.fields[field] }

// String returns a text field, nil if it is absent or wrong.
func (r *Row) String(field string) *string {
	raw := r.fields[field]
	if raw == nil {
		return nil
	}
	return r.text(field, raw)
}

// sharedText is how long a text is that is part of its row: shorter ones are copied, so that they do not keep their row in memory.
const sharedText = 64 << 10

func (r *Row) text(field string, raw json.RawMessage) *string {
	if Kind(raw) == "string" && bytes.IndexByte(raw, '\\') < 0 {
		plain := raw[1 : len(raw)-1]
		if len(plain) >= sharedText {
			s := unsafe.String(&plain[0], len(plain)) // nobody writes to a row
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

// Number returns a number, nil if it is absent or wrong. A number written as a string counts.
func (r *Row) Number(field string) *float64 {
	raw := r.fields[field]
	if raw == nil {
		return nil
	}
	f, ok := number(raw)
	if !ok {
		r.Fault(field, "must be a number, got %s", shown(raw))
		return nil
	}
	return &f
}

// Duration returns a number that is not negative, nil if it is absent or wrong.
func (r *Row) Duration(field string) *float64 {
	f := r.Number(field)
	if f != nil && *f < 0 {
		r.Fault(field, "must not be negative, got %s", r.fields[field])
		return nil
	}
	return f
}

// Int returns a whole number of at least low, nil if it is absent or wrong. 12.0 and "12" count.
func (r *Row) Int(field string, low int) *int {
	raw := r.fields[field]
	if raw == nil {
		return nil
	}
	n, ok := whole(raw)
	switch {
	case !ok:
		r.Fault(field, "must be an integer, got %s", shown(raw))
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

// Ints returns a list of whole numbers of 64 bits, nil if it is absent or wrong.
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
			r.Fault(field+"["+strconv.Itoa(i)+"]", "must be an integer of 64 bits, got %s", shown(raw))
			return nil
		}
		out = append(out, n)
	}
	return out
}

// plainInts reads a list of whole numbers that are written as such, of at most 18 digits; false = it is not that. Hash ids are most of what
// traces hold.
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
		switch raw[i] { // it is valid JSON, so it ends with a bracket
		case ',':
			i++
		case ']':
			return list, true
		default:
			return nil, false
		}
	}
}

// blank is the next place that holds no white space.
func blank(raw []byte, i int) int {
	for raw[i] == ' ' || raw[i] == '\t' || raw[i] == '\n' || raw[i] == '\r' {
		i++
	}
	return i
}

// List returns the items of a list, nil if it is absent or wrong.
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

// Object returns an object field without white space, nil if it is absent or wrong.
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

// Compact takes the white space out of JSON; keys keep their order and numbers their spelling.
func Compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	b.Grow(len(raw))
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// Item returns the object at place i of a list, nil, with the fault noted, if it is none.
func (r *Row) Item(field string, i int, raw json.RawMessage) *Row {
	return r.inner(r.prefix+field+"["+strconv.Itoa(i)+"].", raw)
}

// number reads a JSON number, or a string that holds one.
func number(raw json.RawMessage) (float64, bool) {
	f, err := strconv.ParseFloat(digits(raw), 64)
	return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
}

// whole reads an integer of 64 bits: 12, 12.0, 1e2, "12", "12.0".
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

// digits is the text of a number, "" where the value is none.
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

// shown is a value as an error message shows it: numbers, strings and booleans themselves, cut, of others the kind.
func shown(raw json.RawMessage) string {
	switch Kind(raw) {
	case "object", "array":
		return article(Kind(raw))
	}
	if len(raw) > 40 {
		return string(raw[:40]) + "…"
	}
	return string(raw)
}
