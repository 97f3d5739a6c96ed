package transport

// tlsHeader is the length of the head of a TLS record: type, version, length of what follows (RFC 8446, section 5.1).
const tlsHeader = 5

// recordCutter finds the ends of TLS records in a stream of ciphertext that arrives in arbitrary pieces. The zero value is at the start of the first
// record.
type recordCutter struct {
	head [tlsHeader]byte
	have int // bytes of the header that were seen
	left int // bytes of the record's content still to come; valid only once the header is complete
}

// take returns how many of the first limit bytes of b belong to the current record, and advances past them.
func (r *recordCutter) take(b []byte, limit int) int {
	b = b[:min(len(b), limit)]
	n := 0
	if r.have < tlsHeader {
		n = copy(r.head[r.have:], b)
		if r.have += n; r.have < tlsHeader {
			return n
		}
		r.left = int(r.head[3])<<8 | int(r.head[4])
	}
	m := min(r.left, len(b)-n)
	if r.left -= m; r.left == 0 {
		r.have = 0
	}
	return n + m
}
