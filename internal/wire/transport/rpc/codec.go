package rpc

import (
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
)

// rawCodec passes messages on as raw bytes.
type rawCodec struct{}

var _ encoding.CodecV2 = rawCodec{}

// Marshal implements encoding.CodecV2.
func (rawCodec) Marshal(v any) (mem.BufferSlice, error) {
	b, ok := v.([]byte)
	if !ok {
		return nil, fmt.Errorf("a message of the type %T", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(b)}, nil
}

// Unmarshal implements encoding.CodecV2.
func (rawCodec) Unmarshal(data mem.BufferSlice, v any) error {
	b, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("a message of the type %T", v)
	}
	*b = data.Materialize()
	return nil
}

// Name implements encoding.CodecV2. It is empty, so that the content type is application/grpc.
func (rawCodec) Name() string { return "" }

// codeName returns the name of a code as the protocol spells it, for example INVALID_ARGUMENT.
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
