// Package rows reads files of one JSON object a line and takes fields out of them. What is wrong is noted with file, line and field, so
// that the user sees up to ten faults at once.
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

	"aiperf/internal/dataset"
)

// ErrNoRecords is what is wrong with a file that holds nothing but blank lines.
var ErrNoRecords = errors.New("no records")

// Line is one line of a file that is not blank.
type Line struct {
	Path   string
	Number int    // counts from 1 over all lines, blank ones included
	Offset int64  // of the text in the file, in bytes, where the file is not packed
	Text   []byte // without white space around it

	where func(i int) string // an item of a list, which counts from 0, not a line
}

// Where is the line's place, "path:line", or that of an item of a list.
func (l Line) Where() string {
	if l.where != nil {
		return l.where(l.Number)
	}
	return fmt.Sprintf("%s:%d", l.Path, l.Number)
}

// Listed calls f for every item of a list as if it were a line, until f returns false. Their texts go to raw, one a line. where names the place of an item.
func Listed(where func(i int) string, items []json.RawMessage, raw io.Writer, f func(Line) bool) error {
	for i, text := range items {
		_, _ = raw.Write(append(text[:len(text):len(text)], '\n')) // raw is a hash, or nothing
		if !f(Line{Number: i, Text: text, where: where}) {
			return nil
		}
	}
	return nil
}

// Read calls f for every line of the file that is not blank, until f returns false. A byte order mark is skipped; gzip is
// unpacked. A file without a line is an error.
func Read(path string, f func(Line) bool) error { return ReadBytes(path, io.Discard, f) }

// ReadBytes is Read that also writes the bytes of the file, as they lie on the disk, to raw: who wants their hash need not read them again.
// All of them have been written when it returns, unless f ended it.
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
		l.Text = from.keep(l.Text)
		return f(l)
	})
}

// looks are kept for short looks into files.
var looks = sync.Pool{New: func() any { return &lines{in: bufio.NewReaderSize(nil, 1<<14)} }}

// At reads one line again: the one that stands skip lines, blank ones not counted, behind the line of a number whose text begins at an
// offset.
func (h *Held) At(number int, offset int64, skip int) (line Line, err error) {
	from := looks.Get().(*lines)
	defer looks.Put(from)
	from.in.Reset(h.From(offset))
	err = from.read(h.Path, number, offset, func(l Line) bool {
		line = l
		skip--
		return skip >= 0
	})
	if err == nil && skip >= 0 {
		err = io.ErrUnexpectedEOF
	}
	line.Text = from.keep(line.Text)
	return line, err
}

// lines reads lines.
type lines struct {
	in    *bufio.Reader
	parts [][]byte // of a line that is longer than the buffer, until it is whole; the first ones are kept for the next
	own   bool     // the last line has memory of its own
}

// keep is the text of the last line for good: a copy where it lies in the buffer.
func (r *lines) keep(text []byte) []byte {
	if r.own {
		return text
	}
	return bytes.Clone(text)
}

// read calls f for every line from one of the given number on, which begins at an offset of the file. The text of a line is there until the next.
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

// maxLine is the length of the longest line, in bytes: pictures and sounds stand in lines, but a line without end is none.
const maxLine = 256 << 20

// The sizes of the parts that a long line is read in: each is twice as long as the one before it, up to the longest; and how many are kept.
const (
	firstPart = 128 << 10
	mostPart  = 4 << 20
	keptParts = 5
)

// line reads up to and with the next line feed. A line that is longer than the buffer is put together when its length is known, so that it takes
// no more than twice its length meanwhile.
func (r *lines) line() ([]byte, error) {
	parts, size := r.parts[:0], 0
	for {
		piece, err := r.in.ReadSlice('\n')
		if r.own = size > 0 || errors.Is(err, bufio.ErrBufferFull); !r.own {
			return piece, err // it lies in the buffer whole
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

// join makes one text of the parts.
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

// collected is how long a line is whose garbage is collected at once, in bytes: the collector would let a few of its length pile up, and needs a few
// milliseconds where reading the line took a hundred.
const collected = 16 << 20

// another adds an empty part, one that was kept if there is one.
func (r *lines) another(parts [][]byte) [][]byte {
	n := len(parts)
	if n < len(r.parts) {
		return append(parts, r.parts[n][:0])
	}
	return append(parts, make([]byte, 0, min(firstPart<<min(n, 10), mostPart)))
}

// Objects calls f for every row of the file, whose bytes go to raw as ReadBytes says. Rows that are no JSON object are noted as faults and left out.
func Objects(path string, raw io.Writer, faults *dataset.Faults, f func(*Row)) error {
	return ReadBytes(path, raw, Each(faults, f))
}

// Each makes rows of lines for f. Those that are no JSON object are noted as faults; of a file with too many faults no more is read.
func Each(faults *dataset.Faults, f func(*Row)) func(Line) bool {
	return func(l Line) bool {
		if row := Parse(l.Where(), l.Text, faults); row != nil {
			row.Line = l
			f(row)
		}
		return !faults.Enough()
	}
}
