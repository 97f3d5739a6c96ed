// Package openinferencepb holds the messages of the Open Inference Protocol (KServe v2) for gRPC, generated from openinference.proto by protoc-gen-go.
// Only tests import it, as a second witness of the messages that package openinference writes by hand.
//
//go:generate protoc --go_out=. --go_opt=paths=source_relative openinference.proto
package openinferencepb
