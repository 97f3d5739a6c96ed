package mockserver

import (
	_ "embed"
	"strings"

	"aiperf/internal/base/protobuf"
	"aiperf/internal/wire/grpcwire"
	"aiperf/internal/wire/openinference"
)

// Paths of server reflection (https://github.com/grpc/grpc/blob/master/doc/server-reflection.md), of today and as older clients ask.
const (
	reflectionPath    = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
	oldReflectionPath = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
)

// inferenceFile is the FileDescriptorProto of openinference.proto.
//
//go:embed openinference.binpb
var inferenceFile []byte

// reflect answers a ServerReflectionRequest: it describes the types of the Open Inference Protocol.
func reflect(request []byte) ([]byte, error) {
	var answer protobuf.Message
	code, reason := grpcwire.Unimplemented, "this server describes files and symbols, and lists its services"
	for f, err := range protobuf.Fields(request) {
		if err != nil {
			return nil, err
		}
		name := string(f.Content)
		switch f.ID {
		case 1: // host
			answer.String(1, name)
			continue
		case 3: // file_by_filename
			if name == "openinference.proto" {
				code = grpcwire.OK
			}
		case 4: // file_containing_symbol
			if strings.HasPrefix(name, "inference.") {
				code = grpcwire.OK
			}
		case 7: // list_services
			answer.Message(6, func(m *protobuf.Message) { // list_services_response
				for _, service := range []string{openinference.Service, "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"} {
					m.Message(1, func(m *protobuf.Message) { m.String(1, service) })
				}
			})
			return answer, nil
		default:
			continue
		}
		if code != grpcwire.OK {
			code, reason = grpcwire.NotFound, "not found: "+name
		}
	}
	if code == grpcwire.OK {
		answer.Message(4, func(m *protobuf.Message) { m.Bytes(1, inferenceFile) }) // file_descriptor_response
		return answer, nil
	}
	answer.Message(7, func(m *protobuf.Message) { // error_response
		m.Varint(1, uint64(code))
		m.String(2, reason)
	})
	return answer, nil
}
