package transport

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
)

// gzipMembers reads the members of gzip data one by one. It returns the content of a member before it looks for the next one: a server may have sent its
// last data long before the body ends, and data must not wait for the end.
type gzipMembers struct {
	from  io.Reader
	z     *gzip.Reader
	ended bool // the member has ended
}

func openGzip(from io.Reader) (io.Reader, error) {
	if _, ok := from.(io.ByteReader); !ok {
		from = bufio.NewReader(from) // the buffer is shared: what one member's reader reads ahead belongs to the next member
	}
	z, err := gzip.NewReader(from)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &gzipMembers{from: from, z: z}, nil
}

// Read returns decompressed bytes; io.EOF = the compressed data ended with a member.
func (m *gzipMembers) Read(p []byte) (int, error) {
	for {
		if m.ended {
			if err := m.z.Reset(m.from); err != nil {
				return 0, err
			}
			m.z.Multistream(false)
			m.ended = false
		}
		n, err := m.z.Read(p)
		if errors.Is(err, io.EOF) {
			m.ended, err = true, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}
