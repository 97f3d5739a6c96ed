package redact

import (
	"slices"
	"strings"
)

// scanner copies a text word by word with the credentials replaced. Its work is linear in the length, whatever a server sends, because error bodies
// are scanned while requests are measured.
type scanner struct {
	in   string
	out  []byte
	from int // first byte of in that was not copied to out yet
}

// Classes of bytes.
const (
	wordByte   = 1 << iota // part of a key: letters, digits, "_" and "-"
	schemeByte             // part of the scheme of a URL, after its first letter
	letterByte
	numberByte // part of a number, or allowed next to one
	blankByte
	authStop // ends a value of Authorization
	pairStop // ends the value of a pair
	urlStop
	escapeByte // begins an escape
	base64Byte
	hexByte
)

var classes = func() (c [256]uint16) {
	mark := func(class uint16, bytes string) {
		for i := range len(bytes) {
			c[bytes[i]] |= class
		}
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	const blanks = " \t\n\f\r"
	mark(letterByte, letters)
	mark(wordByte, letters+"0123456789_-")
	mark(schemeByte, letters+"0123456789+.-")
	mark(numberByte, letters+"0123456789_.,")
	mark(blankByte, blanks)
	mark(authStop, blanks+`"',;<>`)
	mark(pairStop, blanks+`"',;&<>`)
	mark(urlStop, blanks+`"'<>`)
	mark(escapeByte, escapeBytes)
	mark(hexByte, "0123456789abcdefABCDEF")
	mark(base64Byte, letters+"0123456789+/_-")
	return c
}()

// pairKeys are the words before "=" or ":" that introduce a credential, in lower case; longestKey is the length of the longest.
var (
	pairKeys   = set(slices.Concat(textKeys, headerNames())...)
	longestKey = func() (n int) {
		for k := range pairKeys {
			n = max(n, len(k))
		}
		return n
	}()
)

// authSchemes may appear between Authorization and the credential.
var authSchemes = set("bearer", "basic", "digest", "token", "negotiate")

// text redacts pairs and Authorization values and, if urls is set, URLs.
func (s *scanner) text(urls bool) string {
	for i := 0; i < len(s.in); {
		switch c := s.in[i]; {
		case classes[c]&wordByte != 0:
			end := s.run(i, wordByte)
			i = s.word(i, end)
		case urls && c == ':' && s.scheme(i):
			i = s.url(i)
		default:
			i++
		}
	}
	if s.out == nil {
		return s.in
	}
	return string(append(s.out, s.in[s.from:]...))
}

// run returns the end of the run of bytes of a class that starts at i.
func (s *scanner) run(i int, class uint16) int {
	for i < len(s.in) && classes[s.in[i]]&class != 0 {
		i++
	}
	return i
}

// value returns the index of the first byte from i on that belongs to a class.
func (s *scanner) value(i int, stop uint16) int {
	for i < len(s.in) && classes[s.in[i]]&stop == 0 {
		i++
	}
	return i
}

// replace replaces in[from:to] by by and returns to.
func (s *scanner) replace(from, to int, by string) int {
	s.out = append(append(s.out, s.in[s.from:from]...), by...)
	s.from = to
	return to
}

// word handles the word in[i:end] and the value after it, and returns the index at which to continue.
func (s *scanner) word(i, end int) int {
	if s.authWord(i, end) {
		return s.authorized(end)
	}
	if s.queryKey(i, end) {
		if to := s.value(end+1, pairStop); to > end+1 {
			return s.replace(end+1, to, Placeholder)
		}
		return end
	}
	if end-i > longestKey || !s.key(i, end) {
		return end
	}
	at := s.blanks(s.quoteMark(end))
	if at == len(s.in) || s.in[at] != ':' && s.in[at] != '=' {
		return end
	}
	from := at + 1
	at = s.quoteMark(s.blanks(from))
	if at > from && s.sentence(at) {
		return at
	}
	if s.authWord(at, s.run(at, wordByte)) {
		return at
	}
	if to := s.value(at, pairStop); to > at {
		return s.replace(at, to, Placeholder)
	}
	return at
}

const authorization = "authorization"

// sentence reports whether two lower-case words begin at i. Then the text explains a key and does not contain its value.
func (s *scanner) sentence(i int) bool {
	small := func(i int) int {
		for i < len(s.in) && s.in[i] >= 'a' && s.in[i] <= 'z' {
			i++
		}
		return i
	}
	end := small(i)
	return end > i && i > 0 && classes[s.in[i-1]]&blankByte != 0 && end+1 < len(s.in) && s.in[end] == ' ' && small(end+1) > end+1
}

// authWord reports whether a word is Authorization, or ends with it after a dash.
func (s *scanner) authWord(i, end int) bool {
	from := end - len(authorization)
	return from >= i && (from == i || s.in[from-1] == '-') && strings.EqualFold(s.in[from:end], authorization)
}

// key reports whether a word is one of pairKeys, in any case.
func (s *scanner) key(i, end int) bool {
	var low [64]byte
	return pairKeys[string(s.lower(&low, i, end))]
}

// queryKey reports whether a word is the name of a secret query parameter. It serves paths, and URLs without a scheme.
func (s *scanner) queryKey(i, end int) bool {
	if i == 0 || end == len(s.in) || s.in[end] != '=' || !strings.ContainsRune("?&;", rune(s.in[i-1])) {
		return false
	}
	var low [64]byte
	return secretQuery[string(s.lower(&low, i, end))]
}

// lower returns the beginning of a word in lower case.
func (s *scanner) lower(low *[64]byte, i, end int) []byte {
	n := copy(low[:], s.in[i:end])
	for k, c := range low[:n] {
		if c >= 'A' && c <= 'Z' {
			low[k] = c | 0x20
		}
	}
	return low[:n]
}

// authorized replaces the credential after the word Authorization, which a colon, an equals sign or the name of a scheme introduces.
func (s *scanner) authorized(end int) int {
	at := s.blanks(s.quoteMark(end))
	given := at < len(s.in) && (s.in[at] == ':' || s.in[at] == '=')
	if given {
		at++
	}
	at = s.quoteMark(s.blanks(at))
	to := s.value(at, authStop)
	if to == at {
		return at
	}
	if authSchemes[strings.ToLower(s.in[at:min(to, at+16)])] {
		next := s.blanks(to)
		if strings.HasPrefix(s.in[next:], Placeholder) { // redacted before
			return next
		}
		if last := s.value(next, authStop); next > to && last > next && (given || !lowerLetters(s.in[next:last])) {
			return s.replace(next, last, Placeholder)
		}
	}
	if !given || s.sentence(at) {
		return at
	}
	return s.replace(at, to, Placeholder)
}

func (s *scanner) blanks(i int) int { return s.run(i, blankByte) }

// quoteMark skips one quotation mark, if there is one.
func (s *scanner) quoteMark(i int) int {
	if i < len(s.in) && (s.in[i] == '"' || s.in[i] == '\'') {
		return i + 1
	}
	return i
}

// scheme reports whether the colon at i ends the scheme of a URL.
func (s *scanner) scheme(i int) bool {
	if !strings.HasPrefix(s.in[i:], "://") {
		return false
	}
	for k := i - 1; k >= s.from && classes[s.in[k]]&schemeByte != 0; k-- {
		if classes[s.in[k]]&letterByte != 0 {
			return true
		}
	}
	return false
}

// url redacts the URL whose scheme ends at i.
func (s *scanner) url(i int) int {
	to := s.value(i, urlStop)
	was := s.in[i:to]
	inner := scanner{in: URL(was)}
	if now := inner.text(false); now != was {
		s.replace(i, to, now)
	}
	return to
}
