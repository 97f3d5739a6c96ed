// Package rows reads files with one JSON object per line and extracts fields from them. Errors are recorded with file, line and field, so that the
// user sees up to ten at once.
package rows

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"unicode"

	"aiperf/internal/workload/dataset"
)

// ErrNoRecords reports a file with only blank lines.
var ErrNoRecords = errors.New("no records")

// Line is a line of a file that is not blank.
type Line struct {
	Path   string
	Number int    // number of the line from 1, counting blank lines
	Offset int64  // byte offset of the text in the unpacked file
	Text   []byte // without surrounding white space

	where func(i int) string // not a line but an item of a list, which counts from 0
}

// Where returns the position of a line, "path:line", or of a list item.
func (l Line) Where() string {
	if l.where != nil {
		return l.where(l.Number)
	}
	return fmt.Sprintf("%s:%d", l.Path, l.Number)
}

// Listed calls f for every item of a list as if it were a line, until f returns false. It writes the texts to raw, one per line. where returns the
// position of an item.
func Listed(where func(i int) string, items []json.RawMessage, raw io.Writer, f func(Line) bool) error {
	for i, text := range items {
		_, _ = raw.Write(append(text[:len(text):len(text)], '\n')) // cannot fail: raw is a hash or io.Discard
		if !f(Line{Number: i, Text: text, where: where}) {
			return nil
		}
	}
	return nil
}

// Read calls f for every line that is not blank, until f returns false. It skips a byte order mark and unpacks gzip. A file without such a line is an
// error.
func Read(path string, f func(Line) bool) error { return ReadBytes(path, io.Discard, f) }

// ReadBytes is like Read and also writes the file's bytes to raw as they are on the disk, so that a hash needs no second reading. When it returns, all
// bytes have been written, unless f stopped the reading.
func ReadBytes(path string, raw io.Writer, f func(Line) bool) error {
	source, err := Open(path, raw)
	if err != nil {
		return err
	}
	defer source.Close()
	return read(path, source, f)
}

func read(path string, source io.Reader, f func(Line) bool) error {
	from := &lines{in: bufio.NewReaderSize(source, 1<<16)}
	return from.read(path, 1, 0, func(l Line) bool {
		l.Text = from.copyLine(l.Text)
		return f(l)
	})
}

// readers is a pool of readers for short reads.
var readers = sync.Pool{New: func() any { return &lines{in: bufio.NewReaderSize(nil, 1<<14)} }}

// At reads one line again. It starts at the line with the given number and offset and skips the given number of lines, not counting blank ones.
func (h *RereadableFile) At(number int, offset int64, skip int) (line Line, err error) {
	from := readers.Get().(*lines)
	defer readers.Put(from)
	from.in.Reset(h.From(offset))
	err = from.read(h.Path, number, offset, func(l Line) bool {
		line = l
		skip--
		return skip >= 0
	})
	if err == nil && skip >= 0 {
		err = io.ErrUnexpectedEOF
	}
	line.Text = from.copyLine(line.Text)
	return line, err
}

// lines reads lines.
type lines struct {
	in    *bufio.Reader
	parts [][]byte // parts of a line that is longer than the buffer; the first ones are reused for the next line
	own   bool     // the last line has its own memory
}

// copyLine returns the text of the last line for permanent use. It copies a text that is still in the buffer.
func (r *lines) copyLine(text []byte) []byte {
	if r.own {
		return text
	}
	return bytes.Clone(text)
}

// read calls f for every line until f returns false. number and end are the number and the offset of the first line. The text of a line is valid until
// the next one.
func (r *lines) read(path string, number int, end int64, f func(Line) bool) error {
	found := false
	for ; ; number++ {
		text, err := r.line()
		end += int64(len(text))
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s:%d: %w", path, number, err)
		}
		if number == 1 {
			if why := foreign(text); why != "" {
				return fmt.Errorf("%s:1: %s", path, why)
			}
			text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
		}
		text = bytes.TrimLeftFunc(text, unicode.IsSpace)
		at := end - int64(len(text))
		if text = bytes.TrimSpace(text); len(text) > 0 {
			found = true
			if !f(Line{Path: path, Number: number, Offset: at, Text: text}) {
				return nil
			}
		}
		if err != nil {
			break
		}
	}
	if !found {
		return fmt.Errorf("%s: %w", path, ErrNoRecords)
	}
	return nil
}

// maxLine is the maximum length of a line, in bytes. Lines may contain images and audio, but must have an end.
const maxLine = 256 << 20

// Sizes of the parts in which a long line is read. Each part is twice as long as the previous one, up to the maximum. keptParts is the number of parts
// that are reused.
const (
	firstPart = 128 << 10
	maxPart   = 4 << 20
	keptParts = 5
)

// line reads a line with its line feed. A line longer than the buffer is joined when its length is known, so that it never takes more than twice its
// length.
func (r *lines) line() ([]byte, error) {
	parts, size := r.parts[:0], 0
	for {
		piece, err := r.in.ReadSlice('\n')
		if r.own = size > 0 || errors.Is(err, bufio.ErrBufferFull); !r.own {
			return piece, err // the whole line is in the buffer
		}
		size += len(piece)
		for len(piece) > 0 {
			if len(parts) == 0 || len(parts[len(parts)-1]) == cap(parts[len(parts)-1]) {
				parts = r.another(parts)
			}
			last := &parts[len(parts)-1]
			n := min(len(piece), cap(*last)-len(*last))
			*last, piece = append(*last, piece[:n]...), piece[n:]
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return r.join(parts, size), err
		}
		if size > maxLine {
			return nil, fmt.Errorf("the line is longer than %d MiB", maxLine>>20)
		}
	}
}

// join joins the parts to one text.
func (r *lines) join(parts [][]byte, size int) []byte {
	collect := func() {
		if size >= collected {
			runtime.GC()
		}
	}
	collect()
	text := make([]byte, 0, size)
	for _, p := range parts {
		text = append(text, p...)
	}
	r.parts = parts[:min(len(parts), keptParts)]
	clear(parts[len(r.parts):])
	collect()
	return text
}

// collected is the length from which the garbage of a line is collected at once, in bytes. The collector would otherwise let several times this length
// accumulate. A collection takes a few milliseconds, and reading such a line takes a hundred.
const collected = 16 << 20

// another adds an empty part, and reuses an old one if possible.
func (r *lines) another(parts [][]byte) [][]byte {
	n := len(parts)
	if n < len(r.parts) {
		return append(parts, r.parts[n][:0])
	}
	return append(parts, make([]byte, 0, min(firstPart<<min(n, 10), maxPart)))
}

// Objects calls f for every row of the file. It writes the file's bytes to raw like ReadBytes. Rows that are not JSON objects are recorded as errors
// and skipped.
func Objects(path string, raw io.Writer, faults *dataset.Faults, f func(*Row)) error {
	return ReadBytes(path, raw, Each(faults, f))
}

// Each returns a function that parses lines as rows for f. It records lines that are not JSON objects as errors, and stops after too many errors.
func Each(faults *dataset.Faults, f func(*Row)) func(Line) bool {
	return func(l Line) bool {
		if row := Parse(l.Where(), l.Text, faults); row != nil {
			row.Line = l
			f(row)
		}
		return !faults.Enough()
	}
}
