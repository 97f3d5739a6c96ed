// Package openinference holds the messages of the Open Inference Protocol (KServe v2) for gRPC, generated from openinference.proto by
// protoc-gen-go, and their JSON form, which is that of the protocol over HTTP.
//
//go:generate protoc --go_out=. --go_opt=paths=source_relative openinference.proto
package openinference

// Methods of inference.GRPCInferenceService, as paths.
const (
	ModelReady       = "/inference.GRPCInferenceService/ModelReady"
	ModelMetadata    = "/inference.GRPCInferenceService/ModelMetadata"
	ModelInfer       = "/inference.GRPCInferenceService/ModelInfer"
	ModelStreamInfer = "/inference.GRPCInferenceService/ModelStreamInfer"
)
