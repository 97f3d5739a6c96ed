package metric

import (
	"encoding/binary"
	"math"
	"slices"

	"aiperf/internal/base/binenc"
)

// prefixBlockSize is the length of an encoded block of Prefixes, in bytes.
const prefixBlockSize = 12

// Visit encodes what was collected, or decodes it into an empty Prefixes.
func (p *Prefixes) Visit(c *binenc.Coder) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.Bool(&p.stopped)
	c.Int(&p.requests)
	for _, v := range p.sums() {
		c.Float64(v)
		if c.Reading() && !(*v >= 0 && *v <= math.MaxInt64) {
			c.Fail("%v tokens of prompts", *v)
		}
	}
	var packed []byte
	if !c.Reading() {
		packed = p.pack()
	}
	if c.ByteSlice(&packed); c.Reading() {
		p.unpack(c, packed)
	}
}

// pack returns the blocks in binary form.
func (p *Prefixes) pack() []byte {
	packed := make([]byte, 0, prefixBlockSize*len(p.blocks))
	for hash, tokens := range p.blocks {
		packed = binary.LittleEndian.AppendUint64(packed, hash)
		packed = binary.LittleEndian.AppendUint32(packed, math.Float32bits(tokens))
	}
	return packed
}

// unpack fills in the blocks from their binary form.
func (p *Prefixes) unpack(c *binenc.Coder, packed []byte) {
	p.blocks = make(map[uint64]float32, len(packed)/prefixBlockSize)
	for part := range slices.Chunk(packed, prefixBlockSize) {
		if len(part) < prefixBlockSize {
			c.Fail("a part of a prompt has %d bytes", len(part))
			return
		}
		tokens := math.Float32frombits(binary.LittleEndian.Uint32(part[8:]))
		if tokens != repeated && !(tokens >= 0 && tokens <= math.MaxInt32) {
			c.Fail("%v tokens in a part of a prompt", tokens)
			return
		}
		p.blocks[binary.LittleEndian.Uint64(part)] = tokens
	}
}

// sums returns the sums over counted requests. The caller holds the mutex.
func (p *Prefixes) sums() []*float64 {
	return []*float64{&p.tokens, &p.repeated, &p.allowance, &p.reportedOf, &p.reported}
}

// Merge adds what another machine has collected, as if its requests had been added here. o is empty afterwards.
func (p *Prefixes) Merge(o *Prefixes) {
	if p == nil || o == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	from := o.sums()
	for k, v := range p.sums() {
		*v += *from[k]
	}
	p.requests += o.requests
	p.stopped = p.stopped || o.stopped
	if !p.stopped {
		for hash, tokens := range o.blocks {
			p.join(hash, tokens)
		}
		p.stopped = len(p.blocks) > prefixBlocks
	}
	if p.stopped {
		p.blocks = nil
	}
	o.blocks = nil
}

// join adds a block that another machine has counted, once or more often.
func (p *Prefixes) join(hash uint64, tokens float32) {
	before, known := p.blocks[hash]
	if !known {
		p.blocks[hash] = tokens
		return
	}
	for _, once := range []float32{before, tokens} { // the tokens of a repeated block are counted already
		if once != repeated {
			p.repeated += float64(once)
		}
	}
	p.blocks[hash] = repeated
}
