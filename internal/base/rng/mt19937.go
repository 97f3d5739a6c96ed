package rng

// Parameters of the Mersenne Twister MT19937 by Matsumoto and Nishimura.
const (
	mtN = 624
	mtM = 397
)

type mersenne struct {
	state [mtN]uint32
	next  int // index of the next word; each word is generated when it is drawn
}

// seedBase is the initial state, into which seeds are mixed.
var seedBase = func() (m mersenne) {
	m.fill(19650218)
	return m
}()

// seed initialises the state from the 32-bit words of the seed, least significant first. As in CPython, a value below 2^32 has one word, a larger one
// two. Streams are often created for a single draw, so seeding takes most of their time.
func (m *mersenne) seed(seed uint64) {
	key := [2]uint32{uint32(seed), uint32(seed>>32) + 1} // each word plus its index
	if key[1] == 1 {
		key[1] = key[0]
	}
	*m = seedBase
	s := &m.state
	word := s[0]
	for i := 1; i < mtN; i++ {
		word = (s[i] ^ (word^word>>30)*1664525) + key[(i-1)&1]
		s[i] = word
	}
	word = (s[1] ^ (word^word>>30)*1664525) + key[(mtN-1)&1]
	s[1] = word
	for i := 2; i < mtN; i++ {
		word = (s[i] ^ (word^word>>30)*1566083941) - uint32(i)
		s[i] = word
	}
	s[1] = (s[1] ^ (word^word>>30)*1566083941) - 1
	s[0] = 1 << 31
}

// fill initialises the state from one word.
func (m *mersenne) fill(word uint32) {
	m.state[0] = word
	for i := 1; i < mtN; i++ {
		word = 1812433253*(word^word>>30) + uint32(i)
		m.state[i] = word
	}
	m.next = 0
}

// uint32 returns the next 32 tempered bits.
func (m *mersenne) uint32() uint32 {
	s, i := &m.state, m.next
	after, far := i+1, i+mtM
	if after == mtN {
		after = 0
	}
	if far >= mtN {
		far -= mtN
	}
	y := s[i]&0x80000000 | s[after]&0x7fffffff
	y = s[far] ^ y>>1 ^ -(y&1)&0x9908b0df
	s[i] = y
	m.next = after
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}
