package supportbundle

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/base/lazyregexp"
	"aiperf/internal/base/redact"
)

// Forms of credentials that are recognised without their names: keys of API providers and of code hosts, JSON Web Tokens, credentials after a scheme.
var (
	keyForms = lazyregexp.New(`\b(?:sk-[A-Za-z0-9_-]{12,}|hf_[A-Za-z0-9]{16,}|gh[opsur]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|nvapi-[A-Za-z0-9_-]{16,}|` +
		`xox[abprs]-[A-Za-z0-9-]{10,}|AIza[A-Za-z0-9_-]{30,}|(?:AKIA|ASIA)[A-Z0-9]{16}|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?)`)
	schemeForm = lazyregexp.New(`(?i)\b(bearer|basic)\s+[A-Za-z0-9+/._~-]{8,}=*`)
)

// Ends of a private key in PEM (RFC 7468).
const (
	pemBegin = "-----BEGIN "
	pemKey   = "PRIVATE KEY-----"
	pemEnd   = "-----END "
)

// scrubber removes credentials from the lines of one file, in order.
type scrubber struct {
	secrets *redact.Secrets
	flag    redact.Kinds // of the flags of command lines
	inKey   bool         // within a private key that spans lines
	changed int          // lines with a replacement
}

// line returns a line without credentials.
func (s *scrubber) line(text string) string {
	clean := s.clean(text)
	if clean != text {
		s.changed++
	}
	return clean
}

func (s *scrubber) clean(text string) string {
	if s.inKey {
		if at := strings.Index(text, pemEnd); at >= 0 {
			s.inKey = false
			return redact.Placeholder
		}
		return ""
	}
	if begins, ends := strings.Contains(text, pemBegin) && strings.Contains(text, pemKey), strings.Contains(text, pemEnd); begins {
		s.inKey = !ends
		return redact.Placeholder
	}
	if b := []byte(text); json.Valid(b) {
		return s.json(b)
	}
	return s.free(text)
}

// json cleans one JSON value: secret members, known values, and every string as free text.
func (s *scrubber) json(text []byte) string {
	if slices.ContainsFunc(redact.MemberSecrets("", text), func(v string) bool { return v != "" && v != redact.Placeholder }) {
		lines := bytes.Contains(text, []byte("\n"))
		text = redact.Members("", text)
		if b := new(bytes.Buffer); lines && json.Indent(b, text, "", "  ") == nil {
			text = b.Bytes()
		}
	}
	text = s.secrets.JSON(text)
	var out []byte
	from := 0
	for at := nextQuote(text, 0); at < len(text); {
		end := jsontext.StringEnd(text, at)
		var plain string
		if json.Unmarshal(text[at:end], &plain) == nil {
			if clean := s.free(plain); clean != plain {
				out = append(append(out, text[from:at]...), quoted(clean)...)
				from = end
			}
		}
		at = nextQuote(text, end)
	}
	return string(append(out, text[from:]...))
}

// free cleans text that is not JSON.
func (s *scrubber) free(text string) string {
	text = s.secrets.Text(text)
	text = schemeForm.ReplaceAllString(text, "$1 "+redact.Placeholder)
	return keyForms.ReplaceAllString(text, redact.Placeholder)
}

// nextQuote returns the index of the next quotation mark; the length if there is none.
func nextQuote(text []byte, from int) int {
	if at := bytes.IndexByte(text[from:], '"'); at >= 0 {
		return from + at
	}
	return len(text)
}

// quoted returns a text as a JSON string, with < and > as they are.
func quoted(text string) []byte {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(text) != nil {
		return []byte(`"` + redact.Placeholder + `"`)
	}
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}
