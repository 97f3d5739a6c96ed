// Package redact removes credentials from everything that leaves the program: headers, URLs, error texts, recorded command lines (spec: transport,
// section 4). Its functions have no side effects. Request and response bodies are never altered.
package redact

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Placeholder replaces a credential.
const Placeholder = "<redacted>"

// SecretHeader reports whether the value of a header is a credential. It remembers the names that it has seen.
func SecretHeader(name string) bool { return seenHeaders.get(name, secretHeader) }

// seenHeaders stores which names SecretHeader was asked for, because every request has the same.
var seenHeaders nameCache

func secretHeader(name string) bool {
	name = strings.ToLower(name)
	if secretHeaders[name] {
		return true
	}
	for _, part := range secretParts {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// Header returns the redacted value of a header. A value that is not a credential goes through Text, because a Location may contain a key.
func Header(name, value string) string {
	if SecretHeader(name) {
		return Placeholder
	}
	return Text(value)
}

// HeaderItem redacts one item of --header: "Name: value", or a JSON object of several.
func HeaderItem(item string) string {
	if strings.HasPrefix(strings.TrimSpace(item), "{") {
		return headerObject(item)
	}
	name, _, ok := strings.Cut(item, ":")
	if !ok || !SecretHeader(strings.TrimSpace(name)) {
		return item
	}
	return name + ":" + Placeholder
}

// headerObject redacts the credentials among the members of a JSON object. It hides all of a text that is not an object.
func headerObject(item string) string {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(item), &members) != nil {
		return Placeholder
	}
	hidden := false
	for name := range members {
		if SecretHeader(name) {
			members[name], hidden = json.RawMessage(`"`+Placeholder+`"`), true
		}
	}
	if !hidden {
		return item
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(members) != nil {
		return Placeholder
	}
	return strings.TrimSpace(b.String())
}

// Text redacts free text such as error messages: Authorization values, key=value and key: value pairs with a secret key, credential headers, and
// URLs. It scans the text once.
func Text(s string) string {
	t := scanner{in: s}
	return t.text(true)
}
