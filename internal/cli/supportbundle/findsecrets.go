package supportbundle

import (
	"encoding/json"
	"strings"

	"aiperf/internal/base/redact"
)

// secretNames mark a variable of the environment as a credential if its name contains one of them.
var secretNames = []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH", "COOKIE"}

// EnvironSecrets returns the values of variables whose names sound like credentials, and the credentials in URLs.
func EnvironSecrets(environ []string) (found []string) {
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		if strings.Contains(value, "://") {
			found = append(found, redact.URLSecrets(value)...)
		}
		for _, part := range secretNames {
			if strings.Contains(strings.ToUpper(name), part) && !strings.HasPrefix(value, "/") { // a path of a socket or file is not a credential
				found = append(found, value)
				break
			}
		}
	}
	return found
}

// findSecrets returns the credentials that a line mentions with their names. They may appear in other files without a name.
func findSecrets(text string, flag redact.Kinds) []string {
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		f := finder{flag: flag}
		f.value(v, false)
		return f.found
	}
	return textSecrets(text, flag)
}

// finder collects the credentials of a JSON value.
type finder struct {
	flag  redact.Kinds
	found []string
}

// value adds the credentials of a value at any depth: members with secret names, headers, and command lines. headers = the value holds headers.
func (f *finder) value(v any, headers bool) {
	switch v := v.(type) {
	case string:
		f.found = append(f.found, textSecrets(v, f.flag)...)
	case []any:
		words, ok := texts(v)
		switch {
		case ok && headers && len(words) == 2:
			f.header(words[0], words[1])
		case ok:
			f.found = append(f.found, redact.ArgSecrets(words, f.flag)...)
		}
		for _, x := range v {
			f.value(x, headers)
		}
	case map[string]any:
		f.object(v, headers)
	}
}

// object adds the credentials of an object. It may be a header or a variable itself: {"name": "X-Api-Key", "value": "…"}.
func (f *finder) object(v map[string]any, headers bool) {
	if value, ok := v["value"].(string); ok {
		for _, key := range []string{"name", "key", "header"} {
			if name, ok := v[key].(string); ok {
				f.header(name, value)
			}
		}
	}
	for name, x := range v {
		if redact.SecretMember(name) {
			f.found = append(f.found, redact.MemberSecrets(name, encoded(x))...)
		}
		if text, ok := x.(string); ok && headers {
			f.header(name, text)
		}
		f.value(x, strings.Contains(strings.ToLower(name), "headers"))
	}
}

// header adds the credential of a header. The ids of sessions are not credentials here.
func (f *finder) header(name, value string) {
	if !strings.Contains(strings.ToLower(name), "session") && !strings.Contains(strings.ToLower(name), "tokenizer") {
		f.found = append(f.found, redact.HeaderSecrets(name, value)...)
	}
}

// texts returns the items of a list if all of them are texts.
func texts(list []any) (words []string, ok bool) {
	for _, x := range list {
		text, ok := x.(string)
		if !ok {
			return nil, false
		}
		words = append(words, text)
	}
	return words, len(words) > 0
}

// textSecrets returns the credentials in the command lines and URLs of a text.
func textSecrets(text string, flag redact.Kinds) (found []string) {
	if strings.Contains(text, " --") || strings.HasPrefix(text, "--") {
		var words []string
		for _, w := range strings.Fields(text) {
			words = append(words, strings.Trim(w, `'"`))
		}
		found = redact.ArgSecrets(words, flag)
	}
	for word := range strings.FieldsSeq(text) {
		if strings.Contains(word, "://") {
			found = append(found, redact.URLSecrets(strings.Trim(word, `'",;`))...)
		}
	}
	return found
}

// encoded returns a value as JSON.
func encoded(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}
