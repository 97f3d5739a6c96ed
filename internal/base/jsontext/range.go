package jsontext

import (
	"bytes"
	"strconv"
)

// OutOfRange returns the first number of a JSON text that is out of range: beyond a double, an integer beyond 64 bits, NaN or Infinity. It returns ""
// if there is none. Apart from such numbers the text must be valid JSON.
func OutOfRange(doc []byte) string {
	for i := 0; i < len(doc); {
		switch c := doc[i]; {
		case c == '"':
			i = afterString(doc, i)
		case c == '-' || c >= '0' && c <= '9' || c == 'N' || c == 'I' || c == 'i' || c == 'n' && i+1 < len(doc) && doc[i+1]|0x20 == 'a':
			n := 1
			for i+n < len(doc) && !endsNumber(doc[i+n]) {
				n++
			}
			if word := doc[i : i+n]; !inRange(word) {
				return string(word)
			}
			i += n
		case c >= 'a' && c <= 'z': // true, false, null
			for i < len(doc) && doc[i] >= 'a' && doc[i] <= 'z' {
				i++
			}
		default:
			i++
		}
	}
	return ""
}

// endsNumber reports whether a byte is the first one after a number.
func endsNumber(c byte) bool {
	return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\t' || c == '\r' || c == '\n'
}

// afterString returns the index after the string that begins at i. It looks for one byte at a time, which is faster than for either of two.
func afterString(doc []byte, i int) int {
	quote := i
	for i++; i < len(doc); {
		if quote < i {
			n := bytes.IndexByte(doc[i:], '"')
			if n < 0 {
				return len(doc)
			}
			quote = i + n
		}
		escape := bytes.IndexByte(doc[i:quote], '\\')
		if escape < 0 {
			return quote + 1
		}
		i += escape + 2
	}
	return len(doc)
}

// inRange reports whether a number can be represented. Short numbers without an exponent always can.
func inRange(word []byte) bool {
	last := word[len(word)-1]
	if len(word) < 19 && last >= '0' && last <= '9' && bytes.IndexByte(word, 'e') < 0 && bytes.IndexByte(word, 'E') < 0 {
		return true
	}
	if _, err := strconv.ParseFloat(string(word), 64); err != nil || last < '0' || last > '9' {
		return false
	}
	if bytes.ContainsAny(word, ".eE") {
		return true
	}
	if word[0] == '-' {
		_, err := strconv.ParseInt(string(word), 10, 64)
		return err == nil
	}
	_, err := strconv.ParseUint(string(word), 10, 64)
	return err == nil
}
