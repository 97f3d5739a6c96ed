package redact

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"aiperf/internal/base/jsontext"
)

// matcher finds any of many patterns in one pass.
type matcher struct {
	patterns []pattern
	begins   [1 << 16 / 64]uint64 // first two bytes of the patterns
	byStart  map[uint32][]pattern // patterns by their first four bytes, longest first
	window   int                  // length of the shortest pattern
	skips    [1 << 16]uint8       // how far the window may move, by the last two bytes in it

	// Values that may be spelled with escapes.
	values      []pattern
	valueBegins [1 << 16 / 64]uint64
	byPair      map[uint16][]pattern // values by their first two bytes, longest first
	inValue     [256]bool            // the bytes of all values
	reach       int                  // how far before its first escape such a value may begin
}

// pattern is one spelling of a value.
type pattern struct {
	text    string
	bounded uint16 // class of bytes that may not be next to the pattern; 0 = any may
	name    bool   // the names of JSON members are searched for it too

	lead, trail int // neighbouring characters that also encode bits of the value
}

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
	m.fillSkips()
	m.reach = len(m.values[0].text) + longestUnit
	return m
}

// spellings returns the ways in which a value may appear in a file: plain, inside JSON, inside JSON within JSON, with "/" escaped as some encoders
// do, inside a Go string, a CSV field or a URL, and with invalid UTF-8 replaced.
func spellings(v string) []string {
	once := inJSON(v)
	goQuoted := strconv.Quote(v)
	return []string{
		v, once, inJSON(once), strings.ReplaceAll(once, "/", `\/`), inJSON(strings.ReplaceAll(once, "/", `\/`)),
		goQuoted[1 : len(goQuoted)-1], strings.ReplaceAll(v, `"`, `""`), strings.ReplaceAll(v, "'", "''"),
		url.QueryEscape(v), url.PathEscape(v), url.UserPassword("", v).String()[1:], lowerHex(url.QueryEscape(v)), htmlJSON(v), string([]rune(v)),
	}
}

// inJSON returns a text as it appears between the quotation marks of a JSON string.
func inJSON(v string) string {
	b := jsontext.AppendString(nil, v)
	return string(b[1 : len(b)-1])
}

// htmlJSON is inJSON with <, > and & escaped.
func htmlJSON(v string) string {
	b, _ := json.Marshal(v) // encoding a string never fails
	return string(b[1 : len(b)-1])
}

// lowerHex writes percent escapes in lower case.
func lowerHex(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i:], bytes.ToLower(b[i:i+3]))
		}
	}
	return string(b)
}

func pair[T text](s T) uint16  { return uint16(s[0])<<8 | uint16(s[1]) }
func start[T text](s T) uint32 { return uint32(pair(s))<<16 | uint32(pair(s[2:])) }

// match is the position of a match in a text.
type match struct{ from, to int }

// replace replaces every match by the placeholder. name means that the text is the name of a JSON member.
func (m *matcher) replace(text string, name bool) string {
	var out strings.Builder
	from := 0
	places := placesOf(m, text)
	for i := places.next(0); i >= 0; {
		found := m.at(text, i, name)
		if found.to == 0 && places.escaped() {
			found = m.spelledAt(text, i, name)
		}
		if found.to == 0 {
			i = places.next(i + 1)
			continue
		}
		out.WriteString(text[from:max(from, found.from)])
		out.WriteString(Placeholder)
		i, from = places.next(found.to), found.to
	}
	if from == 0 {
		return text
	}
	out.WriteString(text[from:])
	return out.String()
}

// minPart is the minimum length of the beginning of a value that is replaced at the end of a truncated text.
const minPart = 6

// replaceEnd replaces the beginning of a value by the placeholder at the end of a text, which may be followed by an ellipsis.
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

// partialLength returns the length of the longest end of a text that may be the beginning of a value. The result includes all of any earlier value that
// overlaps this end.
func (m *matcher) partialLength(text string) (most int) {
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

// wholeBefore moves a cut of a text to the front of the values that it would split. It repeats this because the end of one value may be the beginning
// of another.
func (m *matcher) wholeBefore(text string, cut int) int {
	for moved := true; moved; {
		moved = false
		for _, p := range m.patterns {
			from := max(cut-len(p.text)+1, 0)
			if i := strings.Index(text[from:min(cut+len(p.text)-1, len(text))], p.text); i >= 0 {
				cut, moved = from+i, true
			}
		}
		if at := m.spelledBefore(text, cut); at < cut {
			cut, moved = at, true
		}
	}
	return cut
}

// spelledBefore moves a cut of a text to the front of a value that contains escapes and that the cut would split.
func (m *matcher) spelledBefore(text string, cut int) int {
	if len(m.values) == 0 {
		return cut
	}
	from := max(0, cut-longestUnit*len(m.values[0].text)) // values are sorted, longest first
	if !strings.ContainsAny(text[from:], escapeBytes) {
		return cut
	}
	for i := from; i < cut && i+minWord <= len(text); i++ {
		if found := m.spelledAt(text, i, false); found.to > cut {
			return found.from
		}
	}
	return cut
}

// longestUnit is the maximum length of an escape, in bytes, for each byte of a value: more than \\\\u0053.
const longestUnit = 12

// spelledEnd finds the longest end of a text that spells the beginning of a value with escapes. It returns the index, and the number of bytes of the
// value that are spelled.
func (m *matcher) spelledEnd(text string) (at, matched int) {
	if len(m.values) == 0 {
		return len(text), 0
	}
	tail := max(0, len(text)-longestUnit*len(m.values[0].text)) // values are sorted, longest first
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

// at returns the match of a plain pattern at an index; match.to is 0 if there is none.
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

// spelledAt returns the match of a value spelled with escapes at an index; match.to is 0 if there is none.
func (m *matcher) spelledAt(text string, i int, name bool) match {
	for _, p := range m.spelledFrom(text, i) {
		if n, _, _ := spelledLength(text[i:], p.text); n > 0 && p.fits(text, i, i+n, name) {
			return p.match(text, i, i+n)
		}
	}
	return match{}
}

// fits reports whether text[from:to] may be a match, given its neighbours and whether the text is a name.
func (p pattern) fits(text string, from, to int, name bool) bool {
	return (!name || p.name) && (from == 0 || classes[text[from-1]]&p.bounded == 0) && (to == len(text) || classes[text[to]]&p.bounded == 0)
}

// match returns text[from:to] extended by the neighbouring characters that encode bits of the value.
func (p pattern) match(text string, from, to int) match {
	if p.lead > 0 && from > 0 && classes[text[from-1]]&base64Byte != 0 {
		from--
	}
	if p.trail > 0 && to < len(text) && classes[text[to]]&base64Byte != 0 {
		to++
	}
	return match{from, to}
}

// jsonString returns a JSON string with the patterns replaced in its decoded content.
func (m *matcher) jsonString(quoted []byte, name bool) (shown []byte, changed bool) {
	var text string
	if !mayContain(m, quoted) || json.Unmarshal(quoted, &text) != nil {
		return quoted, false
	}
	clean := m.replace(text, name)
	if clean == text {
		return quoted, false
	}
	return []byte(`"` + inJSON(clean) + `"`), true
}
