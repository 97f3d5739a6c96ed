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

	"aiperf/internal/workload/dataset/rows"
)

// maxScanned is the maximum size of a file that is scanned whole before its first row is used, in bytes. Such a scan takes a second or two.
var maxScanned int64 = 1 << 30

// fileScan is the result of a quick scan of a file, without parsing its rows.
type fileScan struct {
	namespace string // namespace of its hash ids
	sessions  bool   // some row may have a session_id
	unordered bool   // some row may be earlier than the row before it
}

// namespaceOf returns the namespace of a file's hash ids: the first 16 hexadecimal digits of the SHA-256 of its bytes.
func namespaceOf(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil))[:16] }

// scanFile scans a file. timeIn finds the time in a line, nil = as in JSON rows. A file above the limit is not scanned. Its namespace is then derived
// from its size and from the first and last 16 MiB, so that its first request need not wait for the last row.
func scanFile(path string, timeIn func() func(line []byte) (at float64, ok bool)) (fileScan, error) {
	find := jsonTime
	if timeIn != nil {
		find = timeIn()
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fileScan{}, err
	case !info.Mode().IsRegular():
		return scanContent(path, maxScanned/unpackedCost, find)
	case rows.Packed(path) && info.Size() <= maxScanned/unpackedCost:
		return scanContent(path, math.MaxInt64, find)
	}
	file, err := os.Open(path)
	if err != nil {
		return fileScan{}, err
	}
	defer file.Close()
	sum := sha256.New()
	if size := info.Size(); size > maxScanned {
		const end = 16 << 20
		_ = binary.Write(sum, binary.BigEndian, size) // writing to a hash cannot fail
		for _, from := range []int64{0, max(0, size-end)} {
			if _, err := io.Copy(sum, io.NewSectionReader(file, from, end)); err != nil {
				return fileScan{}, err
			}
		}
		return fileScan{namespace: namespaceOf(sum)}, nil
	}
	if rows.Packed(path) {
		_, err := io.Copy(sum, file)
		return fileScan{namespace: namespaceOf(sum)}, err
	}
	o, err := scanLines(io.TeeReader(file, sum), find)
	o.namespace = namespaceOf(sum)
	return o, err
}

// unpackedCost is how much longer a compressed byte takes than a plain one.
const unpackedCost = 8

// scanContent scans at most the first most unpacked bytes of a compressed file or a stream.
func scanContent(path string, most int64, find func(line []byte) (at float64, ok bool)) (fileScan, error) {
	sum := sha256.New()
	file, err := rows.Open(path, sum)
	if err != nil {
		return fileScan{}, err
	}
	defer file.Close()
	o, err := scanLines(io.LimitReader(file, most), find)
	o.namespace = namespaceOf(sum)
	return o, err
}

// scanLines scans lines.
func scanLines(from io.Reader, find func(line []byte) (at float64, ok bool)) (o fileScan, err error) {
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

// jsonTime returns the number after the first key "timestamp" of a line.
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
