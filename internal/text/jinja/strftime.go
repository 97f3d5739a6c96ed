package jinja

import (
	"fmt"
	"strings"
	"time"
)

// timeFields maps Python's letters of a time format to Go's layouts, in the C locale.
var timeFields = map[byte]string{
	'Y': "2006", 'y': "06", 'm': "01", 'd': "02", 'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM", 'B': "January", 'b': "Jan",
	'h': "Jan", 'A': "Monday", 'a': "Mon", 'j': "002", 'Z': "MST", 'z': "-0700", 'F': "2006-01-02", 'T': "15:04:05", 'D': "01/02/06",
	'R': "15:04", 'c': "Mon Jan _2 15:04:05 2006", 'x': "01/02/06", 'X': "15:04:05", 'e': "_2",
}

// Strftime formats a time with Python's directives.
func Strftime(t time.Time, format string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if b.Len() > maxString {
			return "", errString
		}
		if format[i] != '%' || i+1 >= len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		trim := format[i] == '-' && i+1 < len(format) // %-d: without a leading zero
		if trim {
			i++
		}
		switch f, ok := timeFields[format[i]]; {
		case format[i] == '%':
			b.WriteByte('%')
		case format[i] == 'f':
			fmt.Fprintf(&b, "%06d", t.Nanosecond()/1000)
		case ok && trim:
			s := strings.TrimLeft(t.Format(f), "0")
			if s == "" {
				s = "0"
			}
			b.WriteString(s)
		case ok:
			b.WriteString(t.Format(f))
		default:
			return "", fmt.Errorf("unsupported time format %%%c", format[i])
		}
	}
	return b.String(), nil
}
