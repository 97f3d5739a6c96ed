package redact

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"aiperf/internal/jsontext"
)

// matcher finds any of many patterns in one pass.
type matcher struct {
	patterns []pattern
	begins   [1 << 16 / 64]uint64 // pairs of bytes with which a pattern begins
	byStart  map[uint32][]pattern // by the first four bytes, longest first
}

// pattern is one spelling of a value.
type pattern struct {
	text    string
	bounded uint8 // a byte of this class may not stand beside it; 0 = any may
	name    bool  // it is also looked for in the names of JSON members
}

// fewPatterns are looked for one by one: the standard library compares many bytes at once.
const fewPatterns = 8

func newMatcher(values map[string]bool) *matcher {
	m := &matcher{byStart: map[uint32][]pattern{}}
	for v := range values {
		p := pattern{name: strings.Trim(strings.ToLower(v), "abcdefghijklmnopqrstuvwxyz_") != ""}
		switch {
		case strings.Trim(v, "0123456789") == "":
			p.bounded = numberByte
		case len(v) < minAnywhere:
			p.bounded = wordByte
		}
		for _, text := range spellings(v) {
			p.text = text
			m.patterns = append(m.patterns, p)
		}
	}
	m.patterns = sorted(m.patterns)
	for _, p := range m.patterns {
		m.begins[pair(p.text)>>6] |= 1 << (pair(p.text) & 63)
		m.byStart[start(p.text)] = append(m.byStart[start(p.text)], p)
	}
	return m
}

// spellings are the ways in which a value may stand in a file: as it is, inside JSON, inside JSON inside JSON, with "/" escaped as some
// encoders do, inside a Go string, a CSV field, a URL, and with what is no UTF-8 replaced.
func spellings(v string) []string {
	once := inJSON(v)
	goQuoted := strconv.Quote(v)
	return []string{
		v, once, inJSON(once), strings.ReplaceAll(once, "/", `\/`), inJSON(strings.ReplaceAll(once, "/", `\/`)),
		goQuoted[1 : len(goQuoted)-1], strings.ReplaceAll(v, `"`, `""`), strings.ReplaceAll(v, "'", "''"),
		url.QueryEscape(v), url.PathEscape(v), url.UserPassword("", v).String()[1:], lowerHex(url.QueryEscape(v)), htmlJSON(v), string([]rune(v)),
	}
}

// inJSON is a text as it stands between the quotation marks of a JSON string.
func inJSON(v string) string {
	b := jsontext.AppendString(nil, v)
	return string(b[1 : len(b)-1])
}

// htmlJSON is inJSON with <, > and & escaped.
func htmlJSON(v string) string {
	b, _ := json.Marshal(v) // a string always encodes
	return string(b[1 : len(b)-1])
}

// lowerHex writes percent escapes with small letters.
func lowerHex(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i:], bytes.ToLower(b[i:i+3]))
		}
	}
	return string(b)
}

func pair[T string | []byte](s T) uint16  { return uint16(s[0])<<8 | uint16(s[1]) }
func start[T string | []byte](s T) uint32 { return uint32(pair(s))<<16 | uint32(pair(s[2:])) }

// in tells whether a text may hold a pattern.
func (m *matcher) in(text []byte) bool {
	if len(m.patterns) <= fewPatterns {
		for i := range m.patterns {
			if bytes.Contains(text, []byte(m.patterns[i].text)) {
				return true
			}
		}
		return false
	}
	for i := 0; i+minWord <= len(text); i++ {
		if n := pair(text[i:]); m.begins[n>>6]&(1<<(n&63)) == 0 {
			continue
		}
		for _, p := range m.byStart[start(text[i:])] {
			if len(text)-i >= len(p.text) && string(text[i:i+len(p.text)]) == p.text {
				return true
			}
		}
	}
	return false
}

// replace puts the placeholder in the place of every pattern; name: the text is the name of a JSON member.
func (m *matcher) replace(text string, name bool) string {
	var out strings.Builder
	from := 0
	for i := 0; i+minWord <= len(text); {
		n := m.at(text, i, name)
		if n == 0 {
			i++
			continue
		}
		out.WriteString(text[from:i])
		out.WriteString(Placeholder)
		i += n
		from = i
	}
	if from == 0 {
		return text
	}
	out.WriteString(text[from:])
	return out.String()
}

// minPart is the length of the beginning of a value that is replaced at the end of a text that was cut.
const minPart = 6

// replaceEnd puts the placeholder in the place of the beginning of a value with which a text ends, an ellipsis behind it or not.
func (m *matcher) replaceEnd(text string) string {
	body := strings.TrimSuffix(text, "…")
	for _, p := range m.patterns {
		for n := min(len(p.text)-1, len(body)); n >= minPart; n-- {
			if strings.HasSuffix(body, p.text[:n]) {
				return body[:len(body)-n] + Placeholder + text[len(body):]
			}
		}
	}
	return text
}

// begun is the length of the longest end of a text that begins a pattern.
func (m *matcher) begun(text string) (most int) {
	for _, p := range m.patterns {
		for n := min(len(p.text)-1, len(text)); n > most; n-- {
			if strings.HasSuffix(text, p.text[:n]) {
				most = n
				break
			}
		}
	}
	return most
}

// at is the length of the pattern that stands at a place; 0 = none does.
func (m *matcher) at(text string, i int, name bool) int {
	if n := pair(text[i:]); m.begins[n>>6]&(1<<(n&63)) == 0 {
		return 0
	}
	for _, p := range m.byStart[start(text[i:])] {
		end := i + len(p.text)
		if !strings.HasPrefix(text[i:], p.text) || name && !p.name {
			continue
		}
		if i > 0 && classes[text[i-1]]&p.bounded != 0 || end < len(text) && classes[text[end]]&p.bounded != 0 {
			continue
		}
		return len(p.text)
	}
	return 0
}

// jsonString is a JSON string with the patterns replaced in what it says.
func (m *matcher) jsonString(quoted []byte, name bool) (shown []byte, changed bool) {
	var text string
	if !m.in(quoted) || json.Unmarshal(quoted, &text) != nil {
		return quoted, false
	}
	clean := m.replace(text, name)
	if clean == text {
		return quoted, false
	}
	return []byte(`"` + inJSON(clean) + `"`), true
}
