package redact

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
)

// HeaderSecrets returns the secrets in a header: its value, the credential after the name of a scheme, and the decoded Basic credential. It returns
// none if the header is not a credential.
func HeaderSecrets(name, value string) []string {
	if !SecretHeader(name) {
		return nil
	}
	found := []string{value}
	scheme, word, ok := strings.Cut(strings.TrimSpace(value), " ")
	if !ok {
		return found
	}
	word = strings.TrimSpace(word)
	found = append(found, word)
	if plain, err := base64.StdEncoding.DecodeString(word); err == nil && strings.EqualFold(scheme, "basic") {
		_, password, _ := strings.Cut(string(plain), ":")
		found = append(found, string(plain), password)
	}
	return found
}

// URLSecrets returns the secrets in a URL: its password, or its user if there is no password, as written and as sent, and secret query values.
func URLSecrets(s string) (found []string) {
	_, rest, ok := strings.Cut(s, "://")
	if !ok {
		rest = s
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	if at := strings.LastIndexByte(rest[:end], '@'); at >= 0 {
		found = append(found, userSecrets(rest[:at])...)
	}
	_, query, _ := strings.Cut(rest, "?")
	query, _, _ = strings.Cut(query, "#")
	for pair := range strings.SplitSeq(query, "&") {
		if name, value, ok := strings.Cut(pair, "="); ok && secretQuery[strings.ToLower(name)] {
			found = append(found, rawAndUnescaped(value, url.QueryUnescape)...)
		}
	}
	return found
}

func userSecrets(info string) []string {
	user, password, ok := strings.Cut(info, ":")
	if !ok {
		user, password = "", user
	}
	found := append(rawAndUnescaped(password, url.PathUnescape), info)
	if name, err := url.PathUnescape(user); err == nil {
		if word, err := url.PathUnescape(password); err == nil {
			found = append(found, base64.StdEncoding.EncodeToString([]byte(name+":"+word)))
		}
	}
	return found
}

// rawAndUnescaped returns a value as written and unescaped.
func rawAndUnescaped(value string, unescape func(string) (string, error)) []string {
	if plain, err := unescape(value); err == nil && plain != value {
		return []string{value, plain}
	}
	return []string{value}
}

// SecretMember reports whether a JSON member or a key:value pair of a request is a credential. Names that only sound alike (max_tokens, session_id)
// are not.
func SecretMember(name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	if secretHeaders[name] || secretQuery[name] && name != "key" {
		return true
	}
	for _, part := range memberParts {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// MemberSecrets returns the strings of the secret members of a JSON value, at any depth.
func MemberSecrets(name string, value json.RawMessage) (found []string) {
	var v any
	if json.Unmarshal(value, &v) != nil {
		return nil
	}
	return members(nil, SecretMember(name), v)
}

func members(found []string, secret bool, v any) []string {
	switch v := v.(type) {
	case string:
		if secret {
			found = append(found, v)
		}
	case []any:
		for _, x := range v {
			found = members(found, secret, x)
		}
	case map[string]any:
		for k, x := range v {
			found = members(found, secret || SecretMember(k), x)
		}
	}
	return found
}

// ArgSecrets returns the secret values of a command line; see Args.
func ArgSecrets(args []string, kinds Kinds) (found []string) {
	eachValue(args, kinds, func(kind ArgKind, value string) string {
		found = append(found, kind.secrets(value)...)
		return value
	})
	return found
}

func (k ArgKind) secrets(v string) (found []string) {
	switch k {
	case Secret:
		return []string{v}
	case HeaderLine:
		var object map[string]any
		if json.Unmarshal([]byte(v), &object) == nil {
			for name, x := range object {
				if text, ok := x.(string); ok {
					found = append(found, HeaderSecrets(name, text)...)
				}
			}
			return found
		}
		name, value, _ := strings.Cut(v, ":")
		return HeaderSecrets(strings.TrimSpace(name), strings.TrimSpace(value))
	case Address:
		for u := range strings.SplitSeq(v, ",") {
			found = append(found, URLSecrets(u)...)
		}
	case Member:
		if strings.HasPrefix(strings.TrimSpace(v), "{") {
			return MemberSecrets("", json.RawMessage(v))
		}
		for _, piece := range extraPieces(v) {
			if name, value, ok := strings.Cut(piece, ":"); ok && SecretMember(name) {
				found = append(found, strings.TrimSpace(value))
			}
		}
	}
	return found
}
