package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
)

// The servers of the tests are those of grpc-go, as a second witness of the protocol.

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

// presetSecurity tells the library that the connection is already encrypted, or is meant to be plain.
type presetSecurity struct{ tls bool }

var _ credentials.TransportCredentials = presetSecurity{}

type presetSecurityInfo struct{ credentials.CommonAuthInfo }

// AuthType implements credentials.AuthInfo.
func (presetSecurityInfo) AuthType() string { return "transport" }

// ClientHandshake implements credentials.TransportCredentials: the line has already completed the handshake.
func (s presetSecurity) ClientHandshake(_ context.Context, _ string, c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return c, presetSecurityInfo{}, nil
}

// ServerHandshake implements credentials.TransportCredentials.
func (s presetSecurity) ServerHandshake(net.Conn) (net.Conn, credentials.AuthInfo, error) {
	return nil, nil, errors.New("this is a client")
}

// Info implements credentials.TransportCredentials.
func (s presetSecurity) Info() credentials.ProtocolInfo {
	if s.tls {
		return credentials.ProtocolInfo{SecurityProtocol: "tls"}
	}
	return credentials.ProtocolInfo{SecurityProtocol: "insecure"}
}

// Clone implements credentials.TransportCredentials.
func (s presetSecurity) Clone() credentials.TransportCredentials { return s }

// OverrideServerName implements credentials.TransportCredentials.
func (s presetSecurity) OverrideServerName(string) error { return nil }
