package record

// Body holds the bytes of a request body: ranges in order. Requests may share ranges, which are never changed.
type Body struct{ ranges [][]byte }

// Plain returns a body of the given ranges, usually one.
func Plain(ranges ...[]byte) Body { return Body{ranges} }

// Ranges returns the parts of the body.
func (b Body) Ranges() [][]byte { return b.ranges }

// Len returns the number of bytes.
func (b Body) Len() (n int) {
	for _, r := range b.ranges {
		n += len(r)
	}
	return n
}

// Bytes returns the body as one slice: its only range, or a copy.
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
