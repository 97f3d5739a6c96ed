package jsontext

import (
	"errors"
	"strings"
)

// maxCause is the length of the longest cause that is not shortened.
const maxCause = 100

// ParseFault returns the cause of an error of fastjson alone: "missing closing '"'". The error itself lists every value around the
// fault ("cannot parse object: cannot parse object value: …") and quotes the rest of the text.
func ParseFault(err error) error {
	cause, _, _ := strings.Cut(err.Error(), "; unparsed tail:")
	for strings.HasPrefix(cause, "cannot parse ") {
		_, inner, chained := strings.Cut(cause, ": ")
		if !chained {
			break
		}
		cause = inner
	}
	if r := []rune(cause); len(r) > maxCause { // it may quote the text
		cause = string(r[:maxCause]) + "…"
	}
	return errors.New(cause)
}
