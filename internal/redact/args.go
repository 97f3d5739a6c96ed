package redact

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Args redacts a command line for the record. Flags are given as "--flag value", "--flag=value", "-x value" or "-x=value"; a flag may take
// several values, up to the next item that starts with a dash.
func Args(args []string, kinds Kinds) []string {
	return eachValue(args, kinds, ArgKind.redact)
}

// eachValue is a command line with every value, known by the flag before it, replaced by what show makes of it.
func eachValue(args []string, kinds Kinds, show func(kind ArgKind, value string) string) []string {
	out := make([]string, len(args))
	kind := Open
	for i, a := range args {
		if !strings.HasPrefix(a, "-") || len(a) == 1 || negative(a) {
			out[i] = show(kind, a)
			continue
		}
		name, value, inline := strings.Cut(a, "=")
		kind = kinds.of(name)
		out[i] = a
		if inline {
			out[i] = name + "=" + show(kind, value)
		}
	}
	return out
}

// ArgKind says what the values of a flag are.
type ArgKind int

// The kinds of values.
const (
	Open       ArgKind = iota // nothing is hidden
	Secret                    // all of it is
	HeaderLine                // "Name: value": the value, where the name says so
	Address                   // user and query of a URL; several have commas between them
	Member                    // "key:value" or JSON: the values, where the key says so
)

func (k ArgKind) redact(v string) string {
	switch k {
	case Secret:
		return Placeholder
	case HeaderLine:
		return HeaderItem(v)
	case Address:
		return urls(v)
	case Member:
		return extras(v)
	}
	return v
}

// urls redacts a list of URLs with commas between them.
func urls(v string) string {
	list := strings.Split(v, ",")
	for i, u := range list {
		list[i] = URL(u)
	}
	return strings.Join(list, ",")
}

// extras redacts one item of extra inputs: key:value pairs with commas between them, a JSON object, or a JSON array of pairs.
func extras(v string) string {
	if strings.HasPrefix(strings.TrimSpace(v), "{") {
		return string(Members("", json.RawMessage(v)))
	}
	for _, piece := range extraPieces(v) {
		name, value, ok := strings.Cut(piece, ":")
		if value = strings.TrimSpace(value); ok && value != "" && SecretMember(name) {
			v = strings.ReplaceAll(v, value, Placeholder)
		}
	}
	return v
}

// extraPieces are the key:value pairs of an item of extra inputs that is no JSON object.
func extraPieces(v string) []string {
	var list []string
	if json.Unmarshal([]byte(v), &list) != nil {
		list = []string{v}
	}
	var pieces []string
	for _, item := range list {
		pieces = append(pieces, strings.Split(item, ",")...)
	}
	return pieces
}

// Members is a JSON value with the texts replaced that its members give away; of what is no JSON nothing is shown. It is the argument if
// there is nothing to hide.
func Members(name string, value json.RawMessage) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return json.RawMessage(`"` + Placeholder + `"`)
	}
	if len(MemberSecrets(name, value)) == 0 {
		return value
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(hide(SecretMember(name), v)) != nil {
		return json.RawMessage(`"` + Placeholder + `"`)
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// hide replaces texts below a telling name.
func hide(secret bool, v any) any {
	switch v := v.(type) {
	case string:
		if secret {
			return Placeholder
		}
	case []any:
		for i := range v {
			v[i] = hide(secret, v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = hide(secret || SecretMember(k), v[k])
		}
	}
	return v
}

// Kinds tells what the values of a flag are; false of a flag that it does not know.
type Kinds func(flag string) (ArgKind, bool)

// of is the kind of a flag. One that nobody knows is a secret if its name says so: who misspells a flag has given the key away all the same.
func (kinds Kinds) of(flag string) ArgKind {
	flag = strings.ReplaceAll(flag, "_", "-")
	if k, ok := kinds(flag); ok {
		return k
	}
	for _, part := range secretFlags {
		if strings.Contains(flag, part) {
			return Secret
		}
	}
	return Open
}

// negative tells whether a dash begins a number rather than a flag.
func negative(a string) bool { return a[1] >= '0' && a[1] <= '9' || a[1] == '.' }
