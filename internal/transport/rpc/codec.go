package rpc

import (
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
)

// plain hands messages on as the bytes that they are.
type plain struct{}

var _ encoding.CodecV2 = plain{}

// Marshal implements encoding.CodecV2.
func (plain) Marshal(v any) (mem.BufferSlice, error) {
	b, ok := v.([]byte)
	if !ok {
		return nil, fmt.Errorf("a message of the type %T", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(b)}, nil
}

// Unmarshal implements encoding.CodecV2.
func (plain) Unmarshal(data mem.BufferSlice, v any) error {
	b, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("a message of the type %T", v)
	}
	*b = data.Materialize()
	return nil
}

// Name implements encoding.CodecV2: none, so that the content type is application/grpc.
func (plain) Name() string { return "" }

// codeName is the name of a code as the protocol spells it: INVALID_ARGUMENT.
func codeName(c codes.Code) string {
	if c == codes.Canceled {
		return "CANCELLED"
	}
	var b []byte
	name := c.String()
	for i := range len(name) {
		if upper := name[i] >= 'A' && name[i] <= 'Z'; i > 0 && upper && c != codes.OK {
			b = append(b, '_')
		}
		b = append(b, name[i])
	}
	return strings.ToUpper(string(b))
}
