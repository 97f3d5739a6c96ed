package cli

import (
	"bytes"
	"io"
	"path/filepath"
)

// localPaths writes the output of a pod line by line, with the paths of its files as they are on this computer.
type localPaths struct {
	out      io.Writer
	from, to []byte // folders, with a slash at the end
	known    []byte // lines that begin so are skipped: their text is known on this computer
	rest     []byte // begin of a line
}

func newLocalPaths(out io.Writer, from, to, known string) *localPaths {
	return &localPaths{out: out, from: []byte(from + "/"), to: []byte(filepath.Clean(to) + "/"), known: []byte(known)}
}

// unknown returns the lines of a text that are not skipped.
func (l *localPaths) unknown(text []byte) (out []byte) {
	for line := range bytes.Lines(text) {
		if len(l.known) == 0 || !bytes.HasPrefix(line, l.known) {
			out = append(out, line...)
		}
	}
	return out
}

// Write implements io.Writer.
func (l *localPaths) Write(b []byte) (int, error) {
	l.rest = append(l.rest, b...)
	end := bytes.LastIndexByte(l.rest, '\n') + 1
	_, err := l.out.Write(l.replaced(l.unknown(l.rest[:end])))
	l.rest = append([]byte(nil), l.rest[end:]...)
	return len(b), err
}

// flush writes the begin of a line that has no end.
func (l *localPaths) flush() error {
	_, err := l.out.Write(l.replaced(l.rest))
	l.rest = nil
	return err
}

// replaced returns a text in which each path below the folder that begins a word is a local one.
func (l *localPaths) replaced(text []byte) (out []byte) {
	for {
		at := bytes.Index(text, l.from)
		if at < 0 {
			return append(out, text...)
		}
		out = append(out, text[:at]...)
		if at == 0 && len(out) == 0 || at > 0 && bytes.IndexByte([]byte(" '\"(\n"), text[at-1]) >= 0 {
			out = append(out, l.to...)
		} else {
			out = append(out, l.from...)
		}
		text = text[at+len(l.from):]
	}
}
