package jinja

import (
	"fmt"
	"strconv"
	"strings"
)

// escaped are Python's one-letter escapes.
var escaped = map[byte]string{'n': "\n", 't': "\t", 'r': "\r", '\\': `\`, '\'': "'", '"': `"`, 'a': "\a", 'b': "\b", 'f': "\f", 'v': "\v", '\n': ""}

// unescape resolves the escapes of a Python string.
func unescape(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 >= len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		c := s[i]
		if e, ok := escaped[c]; ok {
			b.WriteString(e)
			continue
		}
		if n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]; n > 0 {
			if i+n >= len(s) {
				return "", fmt.Errorf(`the escape \%c wants %d hexadecimal digits`, c, n)
			}
			v, err := strconv.ParseUint(s[i+1:i+1+n], 16, 32)
			if err != nil || v > 0x10FFFF {
				return "", fmt.Errorf(`\%c%s is not a code point`, c, s[i+1:i+1+n])
			}
			b.WriteRune(rune(v))
			i += n
			continue
		}
		if c >= '0' && c <= '7' {
			n := 1
			for n < 3 && i+n < len(s) && s[i+n] >= '0' && s[i+n] <= '7' {
				n++
			}
			v, err := strconv.ParseUint(s[i:i+n], 8, 32)
			if err != nil {
				return "", err
			}
			b.WriteRune(rune(v))
			i += n - 1
			continue
		}
		b.WriteByte('\\')
		b.WriteByte(c)
	}
	return b.String(), nil
}
