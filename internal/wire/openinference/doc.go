// Package openinference holds the messages of the Open Inference Protocol (KServe v2) for gRPC, and their JSON form, which is that of the protocol over
// HTTP. Field numbers are those of openinferencepb/openinference.proto.
package openinference

// Methods of inference.GRPCInferenceService, as paths.
const (
	Service          = "inference.GRPCInferenceService"
	ServerReady      = "/" + Service + "/ServerReady"
	ModelReady       = "/" + Service + "/ModelReady"
	ModelMetadata    = "/" + Service + "/ModelMetadata"
	ModelInfer       = "/" + Service + "/ModelInfer"
	ModelStreamInfer = "/" + Service + "/ModelStreamInfer"
)
