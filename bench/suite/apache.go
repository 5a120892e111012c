package suite

import (
	"context"
	"fmt"

	"github.com/apache/thrift/lib/go/thrift"
	"google.golang.org/protobuf/proto"

	"github.com/thriftpack/thriftpack/bench/peers/apachevalue"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// generated is what Apache's compiler makes of a struct.
type generated interface {
	Read(ctx context.Context, protocol thrift.TProtocol) error
	Write(ctx context.Context, protocol thrift.TProtocol) error
}

// apache is Apache's protocol over its memory transport, both of them reused: its fastest set-up.
type apache struct {
	transport *thrift.TMemoryBuffer
	protocol  thrift.TProtocol
}

// apacheConfiguration lifts Apache's limits out of the way of the bulk scenarios.
func apacheConfiguration() *thrift.TConfiguration {
	return &thrift.TConfiguration{MaxMessageSize: 1 << 30, MaxFrameSize: 1 << 30}
}

func newApache(protocol string) apache {
	transport := thrift.NewTMemoryBufferLen(1 << 20)
	if protocol == "bin" {
		return apache{transport, thrift.NewTBinaryProtocolConf(transport, apacheConfiguration())}
	}
	return apache{transport, thrift.NewTCompactProtocolConf(transport, apacheConfiguration())}
}

// writer writes a ready struct.
func (a apache) writer(value generated) func(runs int) error {
	ctx := context.Background()
	return func(runs int) error {
		for range runs {
			a.transport.Reset()
			if err := value.Write(ctx, a.protocol); err != nil {
				return fmt.Errorf("apache write: %w", err)
			}
		}
		return nil
	}
}

// reader reads data into the struct that fresh returns.
func (a apache) reader(data []byte, fresh func() generated) func(runs int) error {
	ctx := context.Background()
	return func(runs int) error {
		for range runs {
			a.transport.Reset()
			a.transport.Write(data) // a memory buffer takes everything
			if err := fresh().Read(ctx, a.protocol); err != nil {
				return fmt.Errorf("apache read: %w", err)
			}
		}
		return nil
	}
}

// fromWire does what a service without ours does: it unmarshals the wire bytes of a Value, and encodes the tree.
func (a apache) fromWire(wire []byte) func(runs int) error {
	ctx := context.Background()
	return func(runs int) error {
		for range runs {
			value := new(thriftpackv1.Value)
			if err := proto.Unmarshal(wire, value); err != nil {
				return fmt.Errorf("apache from wire: %w", err)
			}
			a.transport.Reset()
			if err := apachevalue.Write(ctx, a.protocol, value.GetStruct()); err != nil {
				return fmt.Errorf("apache from wire: %w", err)
			}
		}
		return nil
	}
}

// toWire is the way back: Apache's decoder into a tree, and the tree marshalled.
func (a apache) toWire(data []byte) func(runs int) error {
	ctx := context.Background()
	return func(runs int) error {
		var out []byte
		for range runs {
			a.transport.Reset()
			a.transport.Write(data) // a memory buffer takes everything
			tree, err := apachevalue.Read(ctx, a.protocol)
			if err != nil {
				return fmt.Errorf("apache to wire: %w", err)
			}
			value := &thriftpackv1.Value{Kind: &thriftpackv1.Value_Struct{Struct: tree}}
			if out, err = (proto.MarshalOptions{}).MarshalAppend(out[:0], value); err != nil {
				return fmt.Errorf("apache to wire: %w", err)
			}
		}
		return nil
	}
}
