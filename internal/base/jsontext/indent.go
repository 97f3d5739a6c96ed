package jsontext

import "bytes"

// AppendIndented formats a valid JSON text, with two blanks per level, for a place in a document whose lines begin with prefix there. It does what
// json.Indent does, without checking the text.
func AppendIndented(dst, text []byte, prefix string) []byte {
	depth, fresh := 0, false // fresh = an object or array has just begun
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '}', ']':
			if depth--; !fresh {
				dst = appendLine(dst, prefix, depth)
			}
			dst, fresh = append(dst, c), false
			continue
		}
		if fresh {
			dst, fresh = appendLine(dst, prefix, depth), false
		}
		switch c {
		case '"':
			end := stringEnd(text, i)
			dst = append(dst, text[i:end]...)
			i = end - 1
		case '{', '[':
			dst, fresh = append(dst, c), true
			depth++
		case ',':
			dst = appendLine(append(dst, c), prefix, depth)
		case ':':
			dst = append(dst, ':', ' ')
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// appendLine begins a line.
func appendLine(dst []byte, prefix string, depth int) []byte {
	dst = append(append(dst, '\n'), prefix...)
	for range depth {
		dst = append(dst, "  "...)
	}
	return dst
}

// stringEnd returns the offset behind the string that begins at an offset.
func stringEnd(text []byte, from int) int {
	for at := from + 1; ; {
		n := bytes.IndexByte(text[at:], '"')
		if n < 0 {
			return len(text)
		}
		end, escapes := at+n, 0
		for text[end-1-escapes] == '\\' {
			escapes++
		}
		if at = end + 1; escapes%2 == 0 {
			return at
		}
	}
}
