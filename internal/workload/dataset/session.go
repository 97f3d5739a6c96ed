package dataset

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"

	"aiperf/internal/base/rng"
)

// SessionID returns the id of the n-th conversation, for data without ids. If the user gave a seed, it is a counter, so that files of two runs can
// be compared. Otherwise it is a random UUID, version 4, in lower case.
func SessionID(root *rng.Root, n int) string {
	if root.Seeded() {
		var digits [20]byte
		d := strconv.AppendInt(digits[:0], int64(n), 10)
		return "session_" + "000000"[min(len(d), 6):] + string(d)
	}
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], root.Child("dataset.session"))
	binary.BigEndian.PutUint64(b[8:], uint64(n))
	sum := sha256.Sum256(b[:])
	return rng.FormatUUID([16]byte(sum[:16]))
}
