package record

// Body is the bytes of a request body: ranges in order. Ranges may be shared with other requests and are never changed.
type Body struct{ ranges [][]byte }

// Plain is a body of ranges, one as a rule.
func Plain(ranges ...[]byte) Body { return Body{ranges} }

// Ranges are the pieces of the body.
func (b Body) Ranges() [][]byte { return b.ranges }

// Len is the number of bytes.
func (b Body) Len() (n int) {
	for _, r := range b.ranges {
		n += len(r)
	}
	return n
}

// Bytes gives the body in one piece: its only range itself, or a copy.
func (b Body) Bytes() []byte {
	switch len(b.ranges) {
	case 0:
		return nil
	case 1:
		return b.ranges[0]
	}
	all := make([]byte, 0, b.Len())
	for _, r := range b.ranges {
		all = append(all, r...)
	}
	return all
}
