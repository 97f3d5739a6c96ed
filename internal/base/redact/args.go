package redact

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Args redacts a recorded command line. Flags have the form "--flag value", "--flag=value", "-x value" or "-x=value". A flag may have several values,
// up to the next item that starts with a dash.
func Args(args []string, kinds Kinds) []string {
	return eachValue(args, kinds, ArgKind.redact)
}

// eachValue returns a command line in which show has replaced every value. The kind of a value comes from the flag before it.
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

// ArgKind says which part of a flag's value is secret.
type ArgKind int

// The kinds of values.
const (
	Open       ArgKind = iota // not secret
	Secret                    // secret as a whole
	HeaderLine                // "Name: value": the value is secret if the name is in the tables
	Address                   // user and query of a URL are secret; commas separate several URLs
	Member                    // "key:value" or JSON: values are secret if their key is in the tables
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

// urls redacts a list of URLs separated by commas.
func urls(v string) string {
	list := strings.Split(v, ",")
	for i, u := range list {
		list[i] = URL(u)
	}
	return strings.Join(list, ",")
}

// extras redacts one item of extra inputs: key:value pairs separated by commas, a JSON object, or a JSON array of pairs.
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

// extraPieces returns the key:value pairs of an item of extra inputs that is not a JSON object.
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

// Members redacts the secret members of a JSON value; it hides all of a text that is not JSON. It returns the argument if nothing is secret.
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
	if enc.Encode(redactMembers(SecretMember(name), v)) != nil {
		return json.RawMessage(`"` + Placeholder + `"`)
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// redactMembers replaces the strings of a value if its name is secret, and those of its secret members.
func redactMembers(secret bool, v any) any {
	switch v := v.(type) {
	case string:
		if secret {
			return Placeholder
		}
	case []any:
		for i := range v {
			v[i] = redactMembers(secret, v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = redactMembers(secret || SecretMember(k), v[k])
		}
	}
	return v
}

// Kinds returns the kind of a flag's values; false for an unknown flag.
type Kinds func(flag string) (ArgKind, bool)

// of returns the kind of a flag. An unknown flag is secret if its name sounds like a credential: a misspelt flag still has the key as its value.
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

// negative reports whether a dash begins a number rather than a flag.
func negative(a string) bool { return a[1] >= '0' && a[1] <= '9' || a[1] == '.' }
