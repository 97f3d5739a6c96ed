package custom

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"aiperf/internal/workload/dataset/rows"
)

// outline walks through the keys of JSON objects. It skips values without checking or storing them, so that a file can be identified whatever the size
// of its values.
type outline struct {
	*bufio.Reader
	io.Closer
}

func openOutline(path string) (*outline, error) {
	file, err := rows.Open(path, io.Discard)
	if err != nil {
		return nil, err
	}
	o := &outline{bufio.NewReaderSize(file, 1<<16), file}
	if mark, _ := o.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = o.Discard(3) // the bytes are in the buffer, so this cannot fail
	}
	return o, nil
}

// errNoJSON reports malformed JSON.
var errNoJSON = errors.New("no JSON")

// next returns the next byte that is not white space.
func (o *outline) next() (byte, error) {
	for {
		b, err := o.ReadByte()
		if err != nil || b != ' ' && b != '\t' && b != '\r' && b != '\n' {
			return b, err
		}
	}
}

// enter reads the bracket that opens an object or a list. It returns false if something else follows.
func (o *outline) enter(bracket byte) bool {
	b, err := o.next()
	return err == nil && b == bracket
}

// key moves to the value of the next key in the current object. It returns false if there is none. The previous value must have been skipped.
func (o *outline) key() (string, bool) {
	b, err := o.next()
	if err == nil && b == ',' {
		b, err = o.next()
	}
	if err != nil || b != '"' {
		return "", false
	}
	name, err := o.text(true)
	if err != nil || !o.enter(':') {
		return "", false
	}
	return name, true
}

// find moves to the value of a key in the current object. It returns false if the key is missing or the JSON is malformed.
func (o *outline) find(key string) bool {
	for {
		name, ok := o.key()
		if !ok || name == key {
			return ok
		}
		if o.skip() != nil {
			return false
		}
	}
}

// longestKey is the number of bytes of a key that are stored. The keys to find are shorter.
const longestKey = 64

// text reads the rest of a string after its opening quote. With keep it returns the string, without decoding escapes.
func (o *outline) text(keep bool) (string, error) {
	var out []byte
	for {
		part, err := o.ReadSlice('"')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return "", err
		}
		if keep && len(out) < longestKey {
			out = append(out, part[:min(len(part), longestKey)]...)
		}
		before := bytes.TrimSuffix(part, []byte(`"`))
		escaped := (len(before)-len(bytes.TrimRight(before, `\`)))%2 != 0
		switch {
		case err == nil && !escaped:
			return string(bytes.TrimSuffix(out, []byte(`"`))), nil
		case err != nil && escaped: // the escaped byte is in the next part
			if _, err := o.Discard(1); err != nil {
				return "", err
			}
		}
	}
}

// skip skips a value.
func (o *outline) skip() error {
	b, err := o.next()
	for depth := 0; err == nil; b, err = o.next() {
		switch b {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return errNoJSON
			}
		case '"':
			if _, err := o.text(false); err != nil {
				return err
			}
		case ',', ':':
			if depth == 0 {
				return o.UnreadByte()
			}
			continue
		default:
			if depth == 0 {
				return o.word()
			}
			continue
		}
		if depth == 0 {
			return nil
		}
	}
	return err
}

// word skips the rest of a number, true, false or null.
func (o *outline) word() error {
	for {
		b, err := o.ReadByte()
		if err != nil {
			return err
		}
		if bytes.IndexByte([]byte(" \t\r\n,:]}"), b) >= 0 {
			return o.UnreadByte()
		}
	}
}
