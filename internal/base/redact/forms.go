package redact

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// encodedForms returns patterns of a value in hexadecimal digits and in Base64, for any position within a longer encoded text.
func encodedForms(v string) []pattern {
	if len(v) < minAnywhere {
		return nil // so short forms would match by accident
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

// base64Form returns the pattern of a value in Base64 after a number of other bytes: the characters that depend only on the value. A character at
// either end that also encodes bits of a neighbour belongs to the match.
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
