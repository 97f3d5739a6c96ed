package redact

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unit is one character of a text: its bytes, and the number of bytes of the text that spell it.
type unit struct {
	char   [utf8.UTFMax]byte
	size   int // bytes used of char; 0 = the text ends within an escape
	length int // bytes of the text
}

func literal(c byte) unit { return unit{char: [utf8.UTFMax]byte{c}, size: 1, length: 1} }

func character(r rune, length int) unit {
	u := unit{length: length}
	u.size = utf8.EncodeRune(u.char[:], r)
	return u
}

// escapeBytes begin the escapes of JSON and programs, of URLs, and of HTML.
const escapeBytes = `\%&`

// readUnit reads the character or escape with which a text begins, however often it is escaped. The text is not empty.
func readUnit(text string) unit {
	u := readEscape(text)
	for u.length > 1 && u.length < longestEscape && u.size == 1 && classes[u.char[0]]&escapeByte != 0 { // an escape of what begins an escape
		rest := text[u.length:]
		inner := readEscape(string(u.char[:1]) + rest[:min(len(rest), longestEscape)])
		if inner.length == 1 {
			break
		}
		inner.length += u.length - 1
		u = inner
	}
	return u
}

// longestEscape is how many bytes are read as one escape inside of another, and how many backslashes as those of one escape.
const longestEscape = 64

// readEscape reads one escape, or one byte.
func readEscape(text string) unit {
	switch text[0] {
	case '\\':
		return readBackslash(text)
	case '%':
		return readPercent(text)
	case '&':
		return readEntity(text)
	}
	return literal(text[0])
}

// escapeDigits are the letters that lead to hexadecimal digits, with their number.
var escapeDigits = [256]int{'u': 4, 'x': 2, 'U': 8}

// readBackslash reads \u0053, \x53, \123, \u{53} and \/ behind any number of backslashes.
func readBackslash(text string) unit {
	n := 1
	for n < min(len(text), longestEscape) && text[n] == '\\' {
		n++
	}
	if n == len(text) {
		return unit{length: n}
	}
	if text[n] == '\\' {
		return literal(text[0]) // text is not escaped this often in practice, and decoding it would take quadratic time
	}
	c := text[n]
	if digits := escapeDigits[c]; digits > 0 {
		return readHex(text, n+1, digits)
	}
	if c >= '0' && c <= '7' {
		return readNumber(text, n, n+3, 8)
	}
	if classes[c]&letterByte != 0 || c >= utf8.RuneSelf || c == '8' || c == '9' {
		return literal(text[0]) // a control character, or no escape
	}
	return unit{char: [utf8.UTFMax]byte{c}, size: 1, length: n + 1}
}

// readHex reads hexadecimal digits, in braces too, and the second half of a surrogate pair.
func readHex(text string, from, digits int) unit {
	if from < len(text) && text[from] == '{' {
		end := strings.IndexByte(text[from:], '}')
		if end < 0 || end > escapeDigits['U']+1 {
			return literal(text[0])
		}
		u := readNumber(text, from+1, from+end, 16)
		u.length = from + end + 1
		return u
	}
	u := readNumber(text, from, from+digits, 16)
	if r, _ := utf8.DecodeRune(u.char[:u.size]); r != utf8.RuneError || digits != escapeDigits['u'] || u.size < 3 {
		return u
	}
	first, err := strconv.ParseUint(text[from:from+digits], 16, 32)
	low := text[min(len(text), from+digits):]
	at := strings.IndexByte(low, 'u') + 1
	if err != nil || at == 0 || strings.Trim(low[:at-1], `\`) != "" || len(low) < at+digits {
		return u
	}
	second, err := strconv.ParseUint(low[at:at+digits], 16, 32)
	if pair := utf16.DecodeRune(rune(first), rune(second)); err == nil && pair != utf8.RuneError {
		return character(pair, from+digits+at+digits)
	}
	return u
}

// readNumber reads the digits text[from:to] as the number of a character.
func readNumber(text string, from, to, base int) unit {
	if to > len(text) {
		if _, err := strconv.ParseUint(text[from:]+"0", base, 32); err == nil {
			return unit{length: len(text)}
		}
		return literal(text[0])
	}
	n, err := strconv.ParseUint(text[from:to], base, 32)
	if err != nil {
		return literal(text[0])
	}
	return character(rune(min(n, utf8.MaxRune+1)), to)
}

// readPercent reads %53, and %2553 as what is escaped twice.
func readPercent(text string) unit {
	n := 1
	for n < longestEscape && strings.HasPrefix(text[n:], "25") {
		n += 2
	}
	if n > len(text)-2 {
		if _, err := strconv.ParseUint(text[n:]+"0", 16, 8); err == nil {
			return unit{length: len(text)}
		}
	} else if v, err := strconv.ParseUint(text[n:n+2], 16, 8); err == nil {
		return unit{char: [utf8.UTFMax]byte{byte(v)}, size: 1, length: n + 2}
	}
	if n > 1 {
		return unit{char: [utf8.UTFMax]byte{'%'}, size: 1, length: 3}
	}
	return literal('%')
}

// longestEntity is the length of the longest entity of HTML that spells a character of a credential.
const longestEntity = len("&#x10FFFF;")

// readEntity reads &#83;, &#x53; and &amp;.
func readEntity(text string) unit {
	end := strings.IndexByte(text[:min(len(text), longestEntity)], ';')
	if end < 0 {
		if len(text) < longestEntity && strings.Trim(text[1:], "#abcdefghijklmnopqrstuvwxyzABCDEFX0123456789") == "" {
			return unit{length: len(text)}
		}
		return literal('&')
	}
	plain := html.UnescapeString(text[:end+1])
	if r, size := utf8.DecodeRuneInString(plain); size == len(plain) {
		return character(r, end+1)
	}
	return literal('&')
}

// spelledLength is the length of the beginning of a text that spells a value, in whatever mix of escapes. Where the text ends before the value
// does, cut is true and matched the number of the value's bytes that it spells.
func spelledLength(text, value string) (length, matched int, cut bool) {
	at := 0
	for matched < len(value) {
		if at == len(text) {
			return 0, matched, true
		}
		u := readUnit(text[at:])
		if u.size == 0 {
			return 0, matched, true
		}
		if u.length == 1 || !strings.HasPrefix(value[matched:], string(u.char[:u.size])) {
			u = literal(text[at])
		}
		if value[matched] != u.char[0] || !strings.HasPrefix(value[matched:], string(u.char[:u.size])) {
			return 0, 0, false
		}
		at, matched = at+u.length, matched+u.size
	}
	return at, matched, false
}
