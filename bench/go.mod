module github.com/thriftpack/thriftpack/bench

go 1.26.0

require github.com/apache/thrift v0.25.0

require (
	github.com/HdrHistogram/hdrhistogram-go v1.4.0
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/spf13/cobra v1.10.2
	github.com/spf13/pflag v1.0.10 // indirect
	github.com/thriftpack/thriftpack v0.0.0
	golang.org/x/net v0.60.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/text v0.42.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20261110000943-09e21b237f2c // indirect
	google.golang.org/grpc v1.85.0
	google.golang.org/protobuf v1.36.12
)

replace github.com/thriftpack/thriftpack => ../
