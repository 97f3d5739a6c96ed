// Package rng holds named, deterministic streams of random numbers.
//
// Every consumer of randomness owns one stream, named by an identifier such as "dataset.prompt.length". The stream's seed is derived
// from the root seed and that name alone, so a new consumer never shifts another one, and the same root seed gives the same work on
// any machine with any number of cores. The generators are those of the Python tool (CPython's random.Random for scalars, numpy's
// default Generator for arrays), so that the same seed also gives the same texts and lengths as there.
package rng

import (
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"strconv"
)

// Root is the seed of one run, from which the streams are derived. It is an integer >= 0 of any size: only its decimal digits count
// (spec: synthetic, section 9.2).
type Root struct {
	digits string // without leading zeros
	seeded bool
}

// New returns the root for the seed that the user gave; nil takes a fresh one from the operating system.
func New(seed *uint64) *Root {
	if seed != nil {
		return NewDecimal(strconv.FormatUint(*seed, 10))
	}
	var b [8]byte
	_, _ = crand.Read(b[:]) // never fails: crypto/rand crashes the program where the system has no entropy
	return &Root{digits: strconv.FormatUint(binary.BigEndian.Uint64(b[:]), 10)}
}

// NewDecimal returns the root for a seed of the user's in decimal digits, without sign and leading zeros.
func NewDecimal(digits string) *Root { return &Root{digits: digits, seeded: true} }

// Seed is the root seed in use in decimal digits, the user's or the one drawn.
func (r *Root) Seed() string { return r.digits }

// Seeded tells whether the user gave the seed.
func (r *Root) Seeded() bool { return r.seeded }

// Stream returns a new stream for the identifier, at its beginning. The caller owns it: a stream is not safe for concurrent use.
func (r *Root) Stream(identifier string) *Stream {
	return NewStream(r.Child(identifier))
}

// Child derives the seed of a stream of the root.
func (r *Root) Child(identifier string) uint64 { return childSeed([]byte(r.digits), identifier) }

// Variation returns the root of one variation of a sweep.
func (r *Root) Variation(label string) *Root {
	return &Root{digits: strconv.FormatUint(r.Child("variation:"+label)&(1<<63-1), 10), seeded: r.seeded}
}

// ChildSeed derives the seed of a stream: the first eight bytes, big-endian, of the SHA-256 of "<seed>:<identifier>".
func ChildSeed(seed uint64, identifier string) uint64 {
	return childSeed(strconv.AppendUint(make([]byte, 0, 21+len(identifier)), seed, 10), identifier)
}

func childSeed(digits []byte, identifier string) uint64 {
	sum := sha256.Sum256(append(append(digits, ':'), identifier...))
	return binary.BigEndian.Uint64(sum[:8])
}

// Stream is one named sequence of draws. Its scalar draws come from the embedded Python generator; Numpy has the array draws. The two
// engines start from the same seed and do not move each other.
type Stream struct {
	Python
	seed  uint64
	numpy *Numpy
}

// NewStream returns the stream of a child seed.
func NewStream(seed uint64) *Stream {
	s := &Stream{seed: seed}
	s.Python.mt.seed(seed)
	return s
}

// Reset makes the stream that of another child seed, at its beginning, in the memory that it has.
func (s *Stream) Reset(seed uint64) {
	s.seed, s.numpy = seed, nil
	s.spare, s.held = 0, false
	s.mt.seed(seed)
}

// Seed is the stream's own seed, from which further seeds can be derived.
func (s *Stream) Seed() uint64 { return s.seed }

// Numpy returns the stream's array generator.
func (s *Stream) Numpy() *Numpy {
	if s.numpy == nil {
		s.numpy = NewNumpy(s.seed)
	}
	return s.numpy
}
