// Package protojson converts messages between the wire format of Protocol Buffers and their JSON form (https://protobuf.dev/programming-guides/json),
// by the descriptors of a file that protoc wrote or of a server's reflection. Extensions and MessageSet are not supported.
package protojson
