package server

import (
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
	reflectionpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionalphapb "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// registerReflection registers reflection of the files that the services need, and of the details of errors. gRPC's default is every file
// that is linked into the process, most of which belong to libraries.
func registerReflection(server *grpc.Server) error {
	files := new(protoregistry.Files)
	for _, file := range []protoreflect.FileDescriptor{
		thriftpackv1.File_thriftpack_v1_serializer_proto, thriftpackv1.File_thriftpack_v1_schema_proto, thriftpackv1.File_thriftpack_v1_value_proto,
		healthpb.File_grpc_health_v1_health_proto, reflectionpb.File_grpc_reflection_v1_reflection_proto,
		reflectionalphapb.File_grpc_reflection_v1alpha_reflection_proto, errdetails.File_google_rpc_error_details_proto,
	} {
		if err := addFile(files, file); err != nil {
			return err
		}
	}
	opts := reflection.ServerOptions{Services: server, DescriptorResolver: files, ExtensionResolver: new(protoregistry.Types)}
	reflectionpb.RegisterServerReflectionServer(server, reflection.NewServerV1(opts))
	reflectionalphapb.RegisterServerReflectionServer(server, reflection.NewServer(opts))
	return nil
}

// addFile adds a file and those that it imports.
func addFile(files *protoregistry.Files, file protoreflect.FileDescriptor) error {
	if _, err := files.FindFileByPath(file.Path()); err == nil {
		return nil
	}
	imports := file.Imports()
	for i := range imports.Len() {
		if err := addFile(files, imports.Get(i).FileDescriptor); err != nil {
			return err
		}
	}
	return files.RegisterFile(file)
}
