package transport

import (
	"bytes"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"aiperf/internal/base/utf8text"
)

// text converts a body to valid UTF-8 without a byte order mark. An unknown charset counts as UTF-8; invalid bytes are replaced.
func text(body []byte, charset string) []byte {
	if e := encodingOf(charset); e != nil {
		if out, err := e.NewDecoder().Bytes(body); err == nil {
			body = out
		}
	}
	return utf8text.Valid(bytes.TrimPrefix(body, []byte("\uFEFF")))
}

// encodingOf returns the encoding of a single-byte charset or of UTF-16; nil = UTF-8.
func encodingOf(charset string) encoding.Encoding {
	name := strings.ReplaceAll(charset, "_", "-")
	switch name {
	case "", "utf-8", "utf8", "us-ascii", "ascii":
		return nil
	case "latin-1", "latin1", "l1":
		name = "iso-8859-1"
	case "utf-16":
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case "utf-16le":
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case "utf-16be":
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	}
	name = strings.Replace(name, "cp125", "windows-125", 1)
	name = strings.ReplaceAll(name, "-", " ")
	for _, e := range charmap.All {
		if m, ok := e.(*charmap.Charmap); ok && strings.EqualFold(strings.ReplaceAll(m.String(), "-", " "), name) {
			return m
		}
	}
	return nil
}
