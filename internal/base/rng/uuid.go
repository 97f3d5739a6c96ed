package rng

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
)

// UUID returns a random (version 4) UUID in lower case. It does not depend on a seed: identities differ from run to run.
func UUID() string {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], rand.Uint64())
	binary.LittleEndian.PutUint64(b[8:], rand.Uint64())
	return FormatUUID(b)
}

// FormatUUID returns 16 bytes as a UUID in lower case. It sets the bits that mark version 4.
func FormatUUID(b [16]byte) string {
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	var s [36]byte
	hex.Encode(s[0:8], b[0:4])
	hex.Encode(s[9:13], b[4:6])
	hex.Encode(s[14:18], b[6:8])
	hex.Encode(s[19:23], b[8:10])
	hex.Encode(s[24:36], b[10:16])
	s[8], s[13], s[18], s[23] = '-', '-', '-', '-'
	return string(s[:])
}
