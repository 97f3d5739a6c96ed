package sse

import (
	"bytes"
	"strings"
)

// MayFail tells whether a message may report a failure: the cheap test that says what must be read at once. It knows no JSON, only words.
// single tells that the message has one line (Span.Lines == 1). The needles begin with bytes that are rare in answers, which makes the
// search six times as fast as one for the whole words.
func MayFail(raw []byte, single bool) bool {
	if single && len(raw) > 0 && raw[0] == 'd' {
		return bytes.Contains(raw, []byte(`rror"`)) && bytes.Contains(raw, []byte(`"error"`)) || bytes.Contains(raw, []byte(`.failed"`))
	}
	return namesError(raw) || bytes.Contains(raw, []byte(`.failed`))
}

// namesError tells whether the word error occurs, in any case. One of the two letters in its middle stands at an even place.
func namesError(b []byte) bool {
	const word = "error"
	for i := 2; i < len(b); i += 2 {
		if b[i]|0x20 != 'r' {
			continue
		}
		for _, from := range [2]int{i - 1, i - 2} {
			if to := from + len(word); to <= len(b) && strings.EqualFold(string(b[from:to]), word) {
				return true
			}
		}
	}
	return false
}
