package custom

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"math"
	"os"
	"strconv"

	"aiperf/internal/dataset/rows"
)

// overlooked is the size of the largest file all of whose bytes are looked at before its first row is used, in bytes: that takes a second or two.
var overlooked int64 = 1 << 30

// overview is what a quick look over a file of rows tells; no row is read for it.
type overview struct {
	namespace string // of its hash ids
	sessions  bool   // some row may have a session_id
	unordered bool   // some row may stand before an earlier one
}

// namespaceOf is the namespace of a file's hash ids: the first 16 hexadecimal digits of the SHA-256 of its bytes.
func namespaceOf(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil))[:16] }

// overlook looks over a file. timeIn finds the time in a line, nil = as rows of JSON have it. One above the limit is not looked at but for its namespace, which is then that of its size and its ends: its
// first request does not wait for the bytes of the last row.
func overlook(path string, timeIn func() func(line []byte) (at float64, ok bool)) (overview, error) {
	find := jsonTime
	if timeIn != nil {
		find = timeIn()
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return overview{}, err
	case !info.Mode().IsRegular():
		return overlookContent(path, overlooked/unpackedCost, find)
	case rows.Packed(path) && info.Size() <= overlooked/unpackedCost:
		return overlookContent(path, math.MaxInt64, find)
	}
	file, err := os.Open(path)
	if err != nil {
		return overview{}, err
	}
	defer file.Close()
	sum := sha256.New()
	if size := info.Size(); size > overlooked {
		const end = 16 << 20
		_ = binary.Write(sum, binary.BigEndian, size) // a hash takes everything
		for _, from := range []int64{0, max(0, size-end)} {
			if _, err := io.Copy(sum, io.NewSectionReader(file, from, end)); err != nil {
				return overview{}, err
			}
		}
		return overview{namespace: namespaceOf(sum)}, nil
	}
	if rows.Packed(path) {
		_, err := io.Copy(sum, file)
		return overview{namespace: namespaceOf(sum)}, err
	}
	o, err := overlookLines(io.TeeReader(file, sum), find)
	o.namespace = namespaceOf(sum)
	return o, err
}

// unpackedCost is how many times as long bytes take that must be unpacked.
const unpackedCost = 8

// overlookContent looks over what a packed file or a stream holds, so many bytes of it at the most.
func overlookContent(path string, most int64, find func(line []byte) (at float64, ok bool)) (overview, error) {
	sum := sha256.New()
	file, err := rows.Open(path, sum)
	if err != nil {
		return overview{}, err
	}
	defer file.Close()
	o, err := overlookLines(io.LimitReader(file, most), find)
	o.namespace = namespaceOf(sum)
	return o, err
}

// overlookLines looks over lines.
func overlookLines(from io.Reader, find func(line []byte) (at float64, ok bool)) (o overview, err error) {
	in := bufio.NewReaderSize(from, 1<<20)
	last, timed := 0.0, false
	for {
		line, err := in.ReadSlice('\n') // a longer line comes in parts, which is good enough to find words
		o.sessions = o.sessions || bytes.Contains(line, []byte(`"session_id"`))
		if at, ok := find(line); ok {
			o.unordered = o.unordered || timed && at < last
			last, timed = at, true
		}
		switch {
		case errors.Is(err, io.EOF):
			return o, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return o, err
		}
	}
}

// jsonTime finds the number behind the first key "timestamp" of a line.
func jsonTime(line []byte) (at float64, ok bool) {
	_, rest, ok := bytes.Cut(line, []byte(`"timestamp"`))
	if !ok {
		return 0, false
	}
	rest = bytes.TrimLeft(rest, " \t:")
	n := 0
	for n < len(rest) && bytes.IndexByte([]byte("+-.0123456789eE"), rest[n]) >= 0 {
		n++
	}
	at, err := strconv.ParseFloat(string(rest[:n]), 64)
	return at, err == nil
}
