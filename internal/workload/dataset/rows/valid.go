package rows

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// invalid returns why a text is not valid JSON, "" if it is.
func invalid(text []byte) string {
	if why := foreign(text); why != "" {
		return why
	}
	if !utf8.Valid(text) {
		return "not UTF-8"
	}
	if json.Valid(text) {
		if at := halfCharacter(text); at >= 0 {
			return fmt.Sprintf("%s is half of a surrogate pair (column %d)", text[at:at+6], at+1)
		}
		return ""
	}
	if why := notALine(text); why != "" {
		return why
	}
	var v json.RawMessage
	err := json.Unmarshal(text, &v)
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		return syntax.Error() + " (column " + strconv.FormatInt(syntax.Offset, 10) + ")"
	}
	return "cannot be read"
}

// foreign names the type of a file whose first bytes cannot be UTF-8 text. None of its lines can be read. "" = no such type.
func foreign(text []byte) string {
	for _, kind := range []struct{ head, what string }{
		{"\xff\xfe", utf16Text}, {"\xfe\xff", utf16Text},
		{"\x28\xb5\x2f\xfd", "the file is compressed with zstd; decompress it with: zstd -d FILE"},
		{"PK\x03\x04", "the file is a ZIP archive; unpack it with: unzip FILE"},
	} {
		if bytes.HasPrefix(text, []byte(kind.head)) {
			return kind.what
		}
	}
	return ""
}

const utf16Text = "the file is UTF-16, not UTF-8; convert it with: iconv -f UTF-16 -t UTF-8 FILE"

// notALine explains a line that would be JSON with other line ends: a value that continues on the next line, or two values in one line. "" = neither.
func notALine(text []byte) string {
	const rule = "; a JSONL file has one object per line"
	in := json.NewDecoder(bytes.NewReader(text))
	var v json.RawMessage
	switch err := in.Decode(&v); {
	case errors.Is(err, io.ErrUnexpectedEOF) && text[0] == '[':
		return "the line ends inside a value" + rule + "; convert it with: jq -c '.[]' FILE"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the line ends inside a value" + rule + "; convert it with: jq -c . FILE"
	case err == nil && in.Decode(&v) == nil:
		return "the line has two values" + rule
	}
	return ""
}

// halfCharacter returns the index of an escaped surrogate without its other half, which no text can contain. -1 = none.
func halfCharacter(text []byte) int {
	for at := 0; ; {
		next := bytes.IndexByte(text[at:], '\\')
		if next < 0 {
			return -1
		}
		at += next
		switch r := escaped(text[at:]); {
		case r < 0:
			at += 2
		case !utf16.IsSurrogate(r):
			at += 6
		case utf16.DecodeRune(r, escaped(text[at+6:])) != utf8.RuneError:
			at += 12
		default:
			return at
		}
	}
}

// escaped returns the code of \uXXXX at the start of a text, -1 if there is none.
func escaped(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}
