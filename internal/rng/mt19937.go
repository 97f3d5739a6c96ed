package rng

// The Mersenne Twister MT19937 of Matsumoto and Nishimura.
const (
	mtN = 624
	mtM = 397
)

type mersenne struct {
	state [mtN]uint32
	next  int
}

// seed fills the state from the 32-bit words of the seed, least significant first, as CPython does for an integer: one word for a
// value below 2^32, else two.
func (m *mersenne) seed(seed uint64) {
	key := []uint32{uint32(seed), uint32(seed >> 32)}
	if key[1] == 0 {
		key = key[:1]
	}
	m.fill(19650218)
	s := &m.state
	i, j := 1, 0
	step := func() {
		if i++; i >= mtN {
			s[0] = s[mtN-1]
			i = 1
		}
	}
	for range mtN {
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1664525) + key[j] + uint32(j)
		step()
		if j++; j >= len(key) {
			j = 0
		}
	}
	for range mtN - 1 {
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1566083941) - uint32(i)
		step()
	}
	s[0] = 1 << 31
}

// fill is the initialisation by one word.
func (m *mersenne) fill(word uint32) {
	m.state[0] = word
	for i := 1; i < mtN; i++ {
		word = 1812433253*(word^word>>30) + uint32(i)
		m.state[i] = word
	}
	m.next = mtN
}

// uint32 returns the next 32 tempered bits.
func (m *mersenne) uint32() uint32 {
	if m.next >= mtN {
		m.twist()
	}
	y := m.state[m.next]
	m.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

func (m *mersenne) twist() {
	s := &m.state
	for i := range mtN {
		y := s[i]&0x80000000 | s[(i+1)%mtN]&0x7fffffff
		v := s[(i+mtM)%mtN] ^ y>>1
		if y&1 != 0 {
			v ^= 0x9908b0df
		}
		s[i] = v
	}
	m.next = 0
}
