package redact

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// encodedForms are the patterns of a value in hexadecimal digits and in Base64, wherever in a longer text it begins there.
func encodedForms(v string) []pattern {
	if len(v) < minAnywhere {
		return nil // its forms are too short to be no accident
	}
	digits := hex.EncodeToString([]byte(v))
	list := []pattern{{text: digits}, {text: strings.ToUpper(digits)}}
	for before := range 3 {
		for _, alphabet := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			list = append(list, base64Form(alphabet, v, before))
		}
	}
	return list
}

// base64Form is the pattern of a value in Base64 behind a number of other bytes: its characters that only the value decides. A character at
// either end that also holds bits of a neighbour belongs to the match.
func base64Form(alphabet *base64.Encoding, v string, before int) pattern {
	const bitsOfCharacter, bitsOfByte = 6, 8
	text := alphabet.EncodeToString([]byte(strings.Repeat("\x00", before) + v))
	first := (before*bitsOfByte + bitsOfCharacter - 1) / bitsOfCharacter
	bits := (before + len(v)) * bitsOfByte
	p := pattern{text: text[first : bits/bitsOfCharacter]}
	if before > 0 {
		p.lead = 1
	}
	if bits%bitsOfCharacter > 0 {
		p.trail = 1
	}
	return p
}
