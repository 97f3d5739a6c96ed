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

	// What is looked for behind escapes.
	values      []pattern
	valueBegins [1 << 16 / 64]uint64
	byPair      map[uint16][]pattern // by the first two bytes, longest first
	inValue     [256]bool            // the bytes of all values
}

// pattern is one spelling of a value.
type pattern struct {
	text    string
	bounded uint16 // a byte of this class may not stand beside it; 0 = any may
	name    bool   // it is also looked for in the names of JSON members

	lead, trail int // characters beside it that also hold bits of the value
}

// fewPatterns are looked for one by one: the standard library compares many bytes at once.
const fewPatterns = 20

func newMatcher(values map[string]bool) *matcher {
	m := &matcher{byStart: map[uint32][]pattern{}, byPair: map[uint16][]pattern{}}
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
		p.text = v
		m.values = append(append(m.values, p), encodedForms(v)...)
		m.patterns = append(m.patterns, encodedForms(v)...)
	}
	m.values = sorted(m.values)
	for _, p := range m.values {
		m.valueBegins[pair(p.text)>>6] |= 1 << (pair(p.text) & 63)
		m.byPair[pair(p.text)] = append(m.byPair[pair(p.text)], p)
		for _, c := range []byte(p.text) {
			m.inValue[c] = true
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
	if m.plainIn(text) {
		return true
	}
	at := m.escape(text, 0)
	return at >= 0 && m.escapedIn(string(text), at)
}

// plainIn tells whether a pattern stands in a text as it is.
func (m *matcher) plainIn(text []byte) bool {
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

// escape is the index of the next escape from a place on that spells a byte of a value; -1 = there is none.
func (m *matcher) escape(text []byte, from int) int {
	for ; from < len(text); from++ {
		if classes[text[from]]&escapeByte == 0 || from+1 < len(text) && !m.mayEscape(text[from], text[from+1]) {
			continue
		}
		u := readUnit(string(text[from:min(len(text), from+longestEscape)]))
		if u.length > 1 && (u.size == 0 || m.inValue[u.spelled[0]]) {
			return from
		}
	}
	return -1
}

// mayEscape tells whether two bytes may begin an escape that spells a byte of a value.
func (m *matcher) mayEscape(first, second byte) bool {
	class := classes[second]
	switch {
	case first == '%':
		return class&hexByte != 0
	case first == '&':
		return second == '#' || class&letterByte != 0
	case class&letterByte != 0:
		return escapeDigits[second] > 0
	}
	return second == '\\' || class&hexByte != 0 || m.inValue[second]
}

// escapedIn tells whether a text spells a value by escapes, the first of which stands at a place.
func (m *matcher) escapedIn(text string, at int) bool {
	i := 0
	for at >= 0 {
		for i = max(i, at-longestUnit*len(m.values[0].text)); i <= at && i+minWord <= len(text); i++ {
			for _, p := range m.spelledFrom(text, i) {
				if n, _, _ := spelledLength(text[i:], p.text); n > 0 {
					return true
				}
			}
		}
		at = m.escape([]byte(text), at+1)
	}
	return false
}

// spelledFrom are the values whose first two bytes a text spells at a place.
func (m *matcher) spelledFrom(text string, i int) []pattern {
	if c, d := classes[text[i]], classes[text[i+1]]; (c|d)&escapeByte == 0 {
		n := pair(text[i:])
		if m.valueBegins[n>>6]&(1<<(n&63)) == 0 {
			return nil
		}
		return m.byPair[n]
	}
	u := readUnit(text[i:])
	if u.size == 1 && i+u.length < len(text) {
		next := readUnit(text[i+u.length:])
		u.spelled[1], u.size = next.spelled[0], u.size+next.size
	}
	if n := pair(u.spelled[:]); u.size < 2 || m.valueBegins[n>>6]&(1<<(n&63)) == 0 {
		return nil
	}
	return m.byPair[pair(u.spelled[:])]
}

// match is where a pattern stands in a text.
type match struct{ from, to int }

// replace puts the placeholder in the place of every pattern; name: the text is the name of a JSON member.
func (m *matcher) replace(text string, name bool) string {
	escapes := m.escape([]byte(text), 0) >= 0
	var out strings.Builder
	from := 0
	for i := 0; i+minWord <= len(text); {
		found := m.at(text, i, name)
		if found.to == 0 && escapes {
			found = m.spelledAt(text, i, name)
		}
		if found.to == 0 {
			i++
			continue
		}
		out.WriteString(text[from:max(from, found.from)])
		out.WriteString(Placeholder)
		i, from = found.to, found.to
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
				at := max(0, len(body)-n-p.lead)
				return body[:at] + Placeholder + text[len(body):]
			}
		}
	}
	if at, matched := m.spelledEnd(body); matched >= minPart {
		return body[:at] + Placeholder + text[len(body):]
	}
	return text
}

// begun is the length of the longest end of a text that begins a pattern, and of the whole value that such an end would divide.
func (m *matcher) begun(text string) (most int) {
	for _, p := range m.patterns {
		for n := min(len(p.text)-1, len(text)); n > most; n-- {
			if strings.HasSuffix(text, p.text[:n]) {
				most = n
				break
			}
		}
	}
	at, _ := m.spelledEnd(text)
	return len(text) - m.wholeBefore(text, min(len(text)-most, at))
}

// wholeBefore moves a cut of a text to the front of the values that it would divide: the end of one value may be the beginning of another.
func (m *matcher) wholeBefore(text string, cut int) int {
	for moved := true; moved; {
		moved = false
		for _, p := range m.patterns {
			from := max(cut-len(p.text)+1, 0)
			if i := strings.Index(text[from:min(cut+len(p.text)-1, len(text))], p.text); i >= 0 {
				cut, moved = from+i, true
			}
		}
	}
	return cut
}

// longestUnit is how many bytes an escape may have for each byte of a value: more than \\\\u0053.
const longestUnit = 12

// spelledEnd finds the longest end of a text that spells the beginning of a value by escapes, and how many bytes of the value that are.
func (m *matcher) spelledEnd(text string) (at, matched int) {
	if len(m.values) == 0 {
		return len(text), 0
	}
	tail := max(0, len(text)-longestUnit*len(m.values[0].text)) // the longest is the first
	if !strings.ContainsAny(text[tail:], escapeBytes) {
		return len(text), 0
	}
	for i := tail; i < len(text); i++ {
		for _, p := range m.values {
			if _, n, cut := spelledLength(text[i:], p.text); cut {
				return i, n
			}
		}
	}
	return len(text), 0
}

// at is the pattern that stands at a place as it is; its end is 0 when none does.
func (m *matcher) at(text string, i int, name bool) match {
	if n := pair(text[i:]); m.begins[n>>6]&(1<<(n&63)) == 0 {
		return match{}
	}
	for _, p := range m.byStart[start(text[i:])] {
		if strings.HasPrefix(text[i:], p.text) && p.fits(text, i, i+len(p.text), name) {
			return p.match(text, i, i+len(p.text))
		}
	}
	return match{}
}

// spelledAt is the value that a text spells by escapes at a place; its end is 0 when there is none.
func (m *matcher) spelledAt(text string, i int, name bool) match {
	for _, p := range m.spelledFrom(text, i) {
		if n, _, _ := spelledLength(text[i:], p.text); n > 0 && p.fits(text, i, i+n, name) {
			return p.match(text, i, i+n)
		}
	}
	return match{}
}

// fits tells whether a pattern may stand in text[from:to].
func (p pattern) fits(text string, from, to int, name bool) bool {
	return (!name || p.name) && (from == 0 || classes[text[from-1]]&p.bounded == 0) && (to == len(text) || classes[text[to]]&p.bounded == 0)
}

// match is text[from:to] and the characters beside it that hold bits of the value.
func (p pattern) match(text string, from, to int) match {
	if p.lead > 0 && from > 0 && classes[text[from-1]]&base64Byte != 0 {
		from--
	}
	if p.trail > 0 && to < len(text) && classes[text[to]]&base64Byte != 0 {
		to++
	}
	return match{from, to}
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
