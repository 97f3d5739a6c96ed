package program

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// lineReader reads lines of bounded length. It needs no more memory than the longest line.
type lineReader struct {
	in   *bufio.Reader
	most int
	buf  []byte // beginning of a line that is longer than the buffer of in
}

func newLineReader(r io.Reader, most int) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(r, 64<<10), most: most}
}

// keepBuffer is the size from which the memory of a long line is not kept for the next one.
const keepBuffer = 1 << 20

// next returns the next line without its end. It is valid until the next call. A last line without "\n" is a fault, because a part of it may be missing.
func (l *lineReader) next() ([]byte, error) {
	if l.buf = l.buf[:0]; cap(l.buf) > keepBuffer {
		l.buf = nil
	}
	for {
		piece, err := l.in.ReadSlice('\n')
		if len(l.buf)+len(piece) > l.most+1 || len(l.buf)+len(piece) == l.most+1 && piece[len(piece)-1] != '\n' {
			return nil, &Fault{Found: fmt.Sprintf("a line of more than %s", size(l.most))}
		}
		switch {
		case err == nil && len(l.buf) == 0:
			return trimEnd(piece), nil
		case err == nil:
			l.buf = append(l.buf, piece...)
			return trimEnd(l.buf), nil
		}
		l.buf = append(l.buf, piece...)
		if errors.Is(err, io.EOF) && len(l.buf) > 0 {
			return nil, &Fault{Found: "the output ends within a line: " + quote(string(l.buf[:min(len(l.buf), 1000)]))}
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}

// trimEnd removes "\n" or "\r\n".
func trimEnd(line []byte) []byte {
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r"))
}

func size(n int) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d bytes", n)
}
