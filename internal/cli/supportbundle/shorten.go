package supportbundle

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
)

// shortened reads the lines of a file and keeps at most a number of bytes: the beginning and the end of a longer file. left counts the lines that were
// excluded. It needs little more memory than it keeps.
func shortened(file string, most int64) (lines []string, left int64, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	var head, tail []string
	var headSize, tailSize int64
	whole := true // every line so far belongs to the head
	err = eachLine(f, func(line []byte, complete bool) {
		size := int64(len(line)) + 1
		switch {
		case !complete:
			left++
			return
		case whole && headSize+size <= most/2:
			head, headSize = append(head, string(line)), headSize+size
			return
		}
		whole = false
		tail, tailSize = append(tail, string(line)), tailSize+size
		for tailSize > most-headSize && len(tail) > 0 {
			tailSize -= int64(len(tail[0])) + 1
			tail, left = tail[1:], left+1
		}
	})
	return append(head, tail...), left, err
}

// eachLine calls a function with each line without its end; complete is false for a line that is too long.
func eachLine(r io.Reader, each func(line []byte, complete bool)) error {
	in := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			each(nil, false)
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = in.ReadSlice('\n')
			}
		} else if len(line) > 0 {
			each(bytes.TrimSuffix(line, []byte("\n")), true)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
