package custom

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"aiperf/internal/dataset/rows"
)

// outline goes through the keys of JSON objects and passes over their values without checking or keeping them: to tell what a file is, which may
// hold a value of any size.
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
		_, _ = o.Discard(3) // they are in the buffer
	}
	return o, nil
}

// errNoJSON is why an outline ends.
var errNoJSON = errors.New("no JSON")

// next is the next byte that is no white space.
func (o *outline) next() (byte, error) {
	for {
		b, err := o.ReadByte()
		if err != nil || b != ' ' && b != '\t' && b != '\r' && b != '\n' {
			return b, err
		}
	}
}

// enter reads the bracket that opens an object or a list; false = there is something else.
func (o *outline) enter(bracket byte) bool {
	b, err := o.next()
	return err == nil && b == bracket
}

// key goes to the value of the next key of the object that it is in; false = there is none. The values before it must have been passed.
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

// find goes to the value of a key of the object that it is in; false = the object has none, or is broken.
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

// longestKey is how much of a key is kept, in bytes: those that are looked for are short.
const longestKey = 64

// text reads the rest of a string behind its quote. keep = it is wanted, as it is written.
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
		case err != nil && escaped: // what it escapes is in the next part
			if _, err := o.Discard(1); err != nil {
				return "", err
			}
		}
	}
}

// skip passes over a value.
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

// word passes over the rest of a number, or of true, false and null.
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
