package rpc

import (
	"fmt"
	"strconv"

	"github.com/thriftpack/thriftpack/internal/encoder"
	"github.com/thriftpack/thriftpack/internal/fixture"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// The servers that answer what grows: the same as without Growing, with limits that let messages of 16 MiB of Thrift pass.
const (
	ThriftpackGrowing = Thriftpack + growing
	FloorGrowing      = Floor + growing
	growing           = "-growing"
)

// mostGrowing is the limit of a message of these servers and of the client, in bytes.
const mostGrowing = 64 << 20

// elementSize is about how many bytes of Thrift a struct of the list has, and block how many of them differ.
const (
	elementSize = 37
	block       = 1000
)

// Growing are encodings of a list<struct> of more and more bytes: in one call each up to 16 MiB, and from there on as streams of a
// record of 1 MiB, up to 1 GiB. No two have requests of one length.
func Growing() ([]Workload, error) {
	sizes := []int64{40, 1 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20}
	counts := []int{16, 128, 1024}
	workloads := make([]Workload, 0, len(sizes)+len(counts))
	structs := fixture.ListStruct(block).GetList().GetStructs()
	for _, size := range sizes {
		m, err := growingMessages(structs, max(int(size/elementSize), 1))
		if err != nil {
			return nil, fmt.Errorf("growing to %d bytes: %w", size, err)
		}
		w, err := workload(Unary, fmt.Sprintf("encode/%d", m.size()), thriftpackv1.SerializerService_Encode_FullMethodName, 1, m.size(), m.encodeRequest, m.encodeResponse)
		if err != nil {
			return nil, fmt.Errorf("growing to %d bytes: %w", size, err)
		}
		workloads = append(workloads, w)
	}
	for i, count := range counts {
		m, err := growingMessages(structs, 1<<20/elementSize+1+i) // the floor tells requests apart by their length
		if err != nil {
			return nil, fmt.Errorf("growing to %d MiB: %w", count, err)
		}
		w, err := m.stream(strconv.Itoa(count<<20), count)
		if err != nil {
			return nil, fmt.Errorf("growing to %d MiB: %w", count, err)
		}
		workloads = append(workloads, w)
	}
	return workloads, nil
}

// growingMessages are those about encoding a list of some elements.
func growingMessages(structs []*thriftpackv1.Struct, elements int) (*messages, error) {
	all := make([]*thriftpackv1.Struct, elements)
	for i := range all {
		all[i] = structs[i%len(structs)]
	}
	value := structOf(&thriftpackv1.Value{Kind: &thriftpackv1.Value_List{List: &thriftpackv1.List{Structs: all}}})
	compact, err := new(encoder.Encoder).Append(nil, fixture.Wire(value), &encoder.Options{Limits: encoderLimits})
	if err != nil {
		return nil, err
	}
	return &messages{
		encodeRequest:  &thriftpackv1.EncodeRequest{Input: &thriftpackv1.EncodeRequest_Value{Value: value}},
		encodeResponse: &thriftpackv1.EncodeResponse{Data: compact},
		decodeRequest:  &thriftpackv1.DecodeRequest{Data: compact},
	}, nil
}
