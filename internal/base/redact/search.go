package redact

import (
	"bytes"
	"slices"
	"strings"
)

// text is the type of a searched text. Both types are searched without a copy.
type text interface{ string | []byte }

// longestWindow limits the window, so that every skip fits into a byte.
const longestWindow = 200

// fillSkips prepares the search for many patterns by Wu and Manber (TR-94-17, University of Arizona) with blocks of two bytes. A window of the
// shortest pattern's length moves over the text. The last two bytes in it determine how far it can move without missing a pattern.
func (m *matcher) fillSkips() {
	m.window = longestWindow
	for _, p := range m.patterns {
		m.window = min(m.window, len(p.text))
	}
	for i := range m.skips {
		m.skips[i] = uint8(m.window - 1)
	}
	for _, p := range m.patterns {
		for i := range m.window - 1 {
			n := pair(p.text[i:])
			m.skips[n] = min(m.skips[n], uint8(m.window-2-i))
		}
	}
}

// plain returns the index of the next plain pattern in a text, searched from an index; the length of the text if there is none.
func plain[T text](m *matcher, text T, from int) int {
	most := m.window - 1
	for end := from + m.window - 2; end+1 < len(text); {
		skip := int(m.skips[uint16(text[end])<<8|uint16(text[end+1])])
		if skip == most { // the usual case: the CPU predicts the branch and does not wait for the table
			end += most
			continue
		}
		if skip > 0 {
			end += skip
			continue
		}
		if at := end - m.window + 2; hasPrefix(m, text[at:]) {
			return at
		}
		end++
	}
	return len(text)
}

// hasPrefix reports whether a text begins with a pattern.
func hasPrefix[T text](m *matcher, text T) bool {
	if n := pair(text); m.begins[n>>6]&(1<<(n&63)) == 0 {
		return false
	}
	for _, p := range m.byStart[start(text)] {
		if len(text) >= len(p.text) && string(text[:len(p.text)]) == p.text {
			return true
		}
	}
	return false
}

// valuePositions iterates over the indices of a text at which a value may begin, plain or spelled with escapes.
type valuePositions[T text] struct {
	m      *matcher
	text   T
	plain  int                   // index of the next plain pattern
	escape int                   // index of the next escape that spells a byte of a value
	leads  [len(escapeBytes)]int // index of the next occurrence of each escape byte
}

// unset marks an index that was not searched for yet. If the search finds nothing, the index is the length of the text.
const unset = -1

func placesOf[T text](m *matcher, text T) valuePositions[T] {
	w := valuePositions[T]{m: m, text: text, plain: unset, escape: unset}
	for k := range w.leads {
		w.leads[k] = unset
	}
	return w
}

// next returns the next position from an index on, or -1. The indices passed to one iterator must not decrease.
func (w *valuePositions[T]) next(from int) int {
	if w.plain < from {
		w.plain = plain(w.m, w.text, from)
	}
	if w.escape < from {
		w.escape = w.nextEscape(from)
	}
	at := w.plain
	if w.escape < len(w.text) {
		at = min(at, max(from, w.escape-w.m.reach))
	}
	if at+minWord > len(w.text) {
		return -1
	}
	return at
}

// escaped reports whether an escape ahead spells a byte of a value.
func (w *valuePositions[T]) escaped() bool { return w.escape < len(w.text) }

// nextEscape returns the index of the next escape, from an index on, that spells a byte of a value.
func (w *valuePositions[T]) nextEscape(from int) int {
	for {
		first := len(w.text)
		for k, at := range w.leads {
			if at < from {
				at = indexFrom(w.text, escapeBytes[k], from)
				w.leads[k] = at
			}
			first = min(first, at)
		}
		if first == len(w.text) || escapeAt(w.m, w.text[first:]) {
			return first
		}
		from = first + 1
	}
}

// indexFrom returns the index of the first c in a text from an index on; the length of the text if there is none.
func indexFrom[T text](text T, c byte, from int) int {
	if from < len(text) {
		if i := indexByte(text[from:], c); i >= 0 {
			return from + i
		}
	}
	return len(text)
}

func indexByte[T text](text T, c byte) int {
	switch text := any(text).(type) {
	case string:
		return strings.IndexByte(text, c)
	case []byte:
		return bytes.IndexByte(text, c)
	}
	return -1
}

// escapeAt reports whether a text begins with an escape that spells a byte of a value, or with a part of one. Its first byte must be one of
// escapeBytes.
func escapeAt[T text](m *matcher, text T) bool {
	lead := 1
	for text[0] == '\\' && lead < min(len(text), longestEscape) && text[lead] == '\\' {
		lead++
	}
	if lead < len(text) && lead < longestEscape && !m.mayEscape(text[0], text[lead]) {
		return false
	}
	if text[0] == '&' && len(text) >= longestEntity && indexByte(text[:longestEntity], ';') < 0 {
		return false
	}
	u := readUnit(string(text[:min(len(text), longestEscape)]))
	return u.length > 1 && (u.size == 0 || m.inValue[u.char[0]])
}

// mayEscape reports whether two bytes, of which the first is one of escapeBytes, may begin an escape that spells a byte of a value.
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
	return class&(hexByte|escapeByte) != 0 || m.inValue[second]
}

// mayContain reports whether a text contains a value, regardless of its neighbours.
func mayContain[T text](m *matcher, text T) bool {
	w := placesOf(m, text)
	var spelled string // copy of the text, made at the first escape
	for i := w.next(0); i >= 0; i = w.next(i + 1) {
		if i == w.plain {
			return true
		}
		if spelled == "" {
			spelled = string(text)
		}
		if m.spells(spelled, i) {
			return true
		}
	}
	return false
}

// spells reports whether a text spells a value with escapes at an index.
func (m *matcher) spells(text string, i int) bool {
	return slices.ContainsFunc(m.spelledFrom(text, i), func(p pattern) bool {
		n, _, _ := spelledLength(text[i:], p.text)
		return n > 0
	})
}

// spelledFrom returns the values whose first two bytes a text spells at an index, longest first.
func (m *matcher) spelledFrom(text string, i int) []pattern {
	if c, d := classes[text[i]], classes[text[i+1]]; (c|d)&escapeByte == 0 {
		return m.startingWith(text[i:])
	}
	var found []pattern
	for _, u := range spelledUnits(text[i:]) {
		if u.size >= 2 {
			found = mergePatterns(found, m.startingWith(string(u.char[:])))
			continue
		}
		for _, v := range spelledUnits(text[i+u.length:]) {
			found = mergePatterns(found, m.startingWith(string([]byte{u.char[0], v.char[0]})))
		}
	}
	return found
}

// spelledUnits returns the ways to read the beginning of a text: the character of an escape, and the plain byte, because a value may contain an
// escape byte.
func spelledUnits(text string) []unit {
	if text == "" {
		return nil
	}
	u := readUnit(text)
	if u.length == 1 || u.size == 0 {
		return []unit{literal(text[0])}
	}
	return []unit{u, literal(text[0])}
}

// startingWith returns the values that begin with the first two bytes of a text, longest first.
func (m *matcher) startingWith(text string) []pattern {
	n := pair(text)
	if m.valueBegins[n>>6]&(1<<(n&63)) == 0 {
		return nil
	}
	return m.byPair[n]
}

// mergePatterns merges two lists, longest first.
func mergePatterns(a, b []pattern) []pattern {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	return sorted(slices.Concat(a, b))
}
