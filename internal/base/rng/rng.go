// Package rng provides named, deterministic streams of random numbers.
//
// Every consumer of randomness owns one stream, named by an identifier such as "dataset.prompt.length". The stream's seed depends only on the root
// seed and that name. So a new consumer never changes the numbers of another one, and a root seed gives the same work on any machine with any number
// of cores. The generators are those of the Python tool (CPython's random.Random for scalars, numpy's default Generator for arrays). So the same seed
// gives the same texts and lengths in both tools.
package rng

import (
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"strconv"
)

// Root is the seed of one run, from which the seeds of the streams are derived. It is an integer >= 0 of any size. Derivation uses its decimal digits
// (spec: synthetic, section 9.2).
type Root struct {
	digits string // without leading zeros
	seeded bool
}

// New returns the root for the user's seed; nil draws one from the operating system.
func New(seed *uint64) *Root {
	if seed != nil {
		return NewDecimal(strconv.FormatUint(*seed, 10))
	}
	var b [8]byte
	_, _ = crand.Read(b[:]) // never fails: crypto/rand crashes the program if the system has no entropy
	return &Root{digits: strconv.FormatUint(binary.BigEndian.Uint64(b[:]), 10)}
}

// NewDecimal returns the root for a seed in decimal digits, without sign and leading zeros.
func NewDecimal(digits string) *Root { return &Root{digits: digits, seeded: true} }

// Seed returns the root seed in decimal digits, either the user's or the one drawn.
func (r *Root) Seed() string { return r.digits }

// Seeded reports whether the user gave the seed.
func (r *Root) Seeded() bool { return r.seeded }

// Stream returns a new stream for the identifier, in its initial state. It is not safe for concurrent use.
func (r *Root) Stream(identifier string) *Stream {
	return NewStream(r.Child(identifier))
}

// Child derives the seed of a stream from the root.
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

// Stream is one named sequence of random numbers. The embedded Python generator draws scalars, Numpy draws arrays. Both start from the same seed, and
// neither affects the other.
type Stream struct {
	Python
	seed  uint64
	numpy *Numpy
}

// NewStream returns the stream with a seed from ChildSeed.
func NewStream(seed uint64) *Stream {
	s := &Stream{seed: seed}
	s.Python.mt.seed(seed)
	return s
}

// Reset restarts the stream with another seed, without allocating.
func (s *Stream) Reset(seed uint64) {
	s.seed, s.numpy = seed, nil
	s.spare, s.hasSpare = 0, false
	s.mt.seed(seed)
}

// Seed returns the stream's seed, from which further seeds can be derived.
func (s *Stream) Seed() uint64 { return s.seed }

// Numpy returns the stream's generator for arrays.
func (s *Stream) Numpy() *Numpy {
	if s.numpy == nil {
		s.numpy = NewNumpy(s.seed)
	}
	return s.numpy
}
