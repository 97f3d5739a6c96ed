package rows

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Child returns the object of a field. If there is none, it adds an error and returns nil.
func (r *Row) Child(field string) *Row {
	raw := r.fields[field]
	if raw == nil {
		r.Fault(field, "missing")
		return nil
	}
	return r.inner(r.prefix+field+".", raw)
}

// Without returns the object without the given keys and keeps the order of the others; nil = no key is left.
func (r *Row) Without(keys ...string) json.RawMessage {
	in := json.NewDecoder(bytes.NewReader(r.whole))
	if _, err := in.Token(); err != nil {
		return nil
	}
	out := []byte{'{'}
	for in.More() {
		key, err := in.Token()
		var value json.RawMessage
		if err != nil || in.Decode(&value) != nil {
			return nil
		}
		name, _ := key.(string)
		if slices.Contains(keys, name) {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		quoted, err := json.Marshal(name)
		if err != nil {
			return nil
		}
		out = append(append(append(out, quoted...), ':'), Compact(value)...)
	}
	if len(out) == 1 {
		return nil
	}
	return append(out, '}')
}

// Int64 returns a 64-bit integer, nil if it is absent or invalid.
func (r *Row) Int64(field string) *int64 {
	raw := r.fields[field]
	if raw == nil {
		return nil
	}
	n, ok := whole(raw)
	if !ok {
		r.Fault(field, "must be an integer of 64 bits, got %s", displayValue(raw))
		return nil
	}
	return &n
}

// Strings returns a list of strings, nil if it is absent or invalid.
func (r *Row) Strings(field string) []string {
	var list []string
	for i, raw := range r.List(field) {
		s := r.text(fmt.Sprintf("%s[%d]", field, i), raw)
		if s == nil {
			return nil
		}
		list = append(list, *s)
	}
	return list
}

// Respell renames a field, unless the new name exists.
func (r *Row) Respell(field, as string) {
	if raw, ok := r.fields[field]; ok && r.fields[as] == nil {
		delete(r.fields, field)
		r.fields[as] = raw
	}
}

// Copy copies a field to a second name and replaces the field of that name.
func (r *Row) Copy(field, as string) { r.fields[as] = r.fields[field] }

// Drop removes a field.
func (r *Row) Drop(field string) { delete(r.fields, field) }
