package jsontext

import "slices"

// AppendCompact writes the next value of s in the form of request bodies: no blanks, strings by AppendString, floats in the shortest form that still
// reads as a float. If two members have the same name, the last value takes the place of the first.
func AppendCompact(dst []byte, s *Scanner) []byte {
	switch s.Kind() {
	case '"':
		return appendText(dst, s.Text())
	case '[':
		if s.depth++; s.depth > maxDepth {
			s.Fail()
			return dst
		}
		s.Open('[')
		dst = append(dst, '[')
		for first := true; s.Next(']', first); first = false {
			if !first {
				dst = append(dst, ',')
			}
			dst = AppendCompact(dst, s)
		}
		s.depth--
		return append(dst, ']')
	case '{':
		if s.depth++; s.depth > maxDepth {
			s.Fail()
			return dst
		}
		dst = appendObject(dst, s)
		s.depth--
		return dst
	case 't', 'f', 'n':
		return append(dst, s.Raw()...)
	}
	return appendNumber(dst, s.Raw())
}

// member locates a member within a buffer: its name (with quotes) and its value.
type member struct{ key, colon, end int }

// appendObject writes an object straight to dst. It rearranges the members only if a name occurs twice.
func appendObject(dst []byte, s *Scanner) []byte {
	var room [16]member
	list, twice := room[:0], false
	var index map[string]int // index of the members, once there are many
	s.Open('{')
	start := len(dst)
	dst = append(dst, '{')
	for first := true; s.Next('}', first); first = false {
		if !first {
			dst = append(dst, ',')
		}
		m := member{key: len(dst)}
		dst = AppendString(dst, string(s.Key()))
		m.colon = len(dst)
		dst = append(dst, ':')
		dst = AppendCompact(dst, s)
		m.end = len(dst)
		name := dst[m.key:m.colon]
		at := -1
		if index != nil {
			if i, ok := index[string(name)]; ok {
				at = i
			}
		} else {
			at = slices.IndexFunc(list, func(o member) bool { return string(dst[o.key:o.colon]) == string(name) })
		}
		if at >= 0 {
			list[at], twice = m, true
			continue
		}
		list = append(list, m)
		switch {
		case index != nil:
			index[string(name)] = len(list) - 1
		case len(list) == len(room):
			index = make(map[string]int, 4*len(room))
			for i, o := range list {
				index[string(dst[o.key:o.colon])] = i
			}
		}
	}
	if !twice {
		return append(dst, '}')
	}
	old := slices.Clone(dst[start:])
	dst = append(dst[:start], '{')
	for i, m := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, old[m.key-start:m.end-start]...)
	}
	return append(dst, '}')
}

func appendText(dst []byte, t Text) []byte {
	if !t.Escaped {
		dst = append(dst, '"')
		dst = AppendUTF8(dst, t.Raw)
		return append(dst, '"')
	}
	return AppendString(dst, t.String())
}
