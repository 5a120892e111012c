// Command go is a small client of thriftpack: it encodes a struct and prints the bytes in hexadecimal, then does so once more
// by the names of a type that it has told the server.
//
//	go run ./examples/go [ADDRESS]
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

func main() {
	address := "127.0.0.1:50051"
	if len(os.Args) > 1 {
		address = os.Args[1]
	}
	if err := run(context.Background(), address, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, address string, out io.Writer) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return fmt.Errorf("address %s: %w", address, err)
	}
	defer conn.Close() //nolint:errcheck // the reply is there, or the error says why not

	client := thriftpackv1.NewSerializerServiceClient(conn)
	reply, err := client.Encode(ctx, thriftpackv1.EncodeRequestOf(thriftpackv1.StructValue(
		thriftpackv1.I64Field(1, 42),
		thriftpackv1.StringField(2, "tea"),
		thriftpackv1.ListField(3, thriftpackv1.I32List(1, -1, 300)),
	)))
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "% x\n", reply.GetData()); err != nil { // 16 54 18 03 74 65 61 19 35 02 01 d8 04 00
		return err
	}
	return byName(ctx, conn, out)
}

// order is Thrift IDL: what the numbers of the fields above stand for.
const order = `struct Order { 1: i64 id, 2: string item, 3: list<i32> amounts }`

// byName encodes the same struct as JSON. The server keeps the schema, so other programs need to name it only; pushing the same
// one again changes nothing.
func byName(ctx context.Context, conn *grpc.ClientConn, out io.Writer) error {
	_, err := thriftpackv1.NewSchemaServiceClient(conn).CreateSchema(ctx, &thriftpackv1.CreateSchemaRequest{
		Name: "example-orders", Files: map[string]string{"orders.thrift": order},
	})
	if err != nil {
		return err
	}
	reply, err := thriftpackv1.NewSerializerServiceClient(conn).Encode(ctx, &thriftpackv1.EncodeRequest{
		Input: &thriftpackv1.EncodeRequest_Json{Json: `{"id": "42", "item": "tea", "amounts": [1, -1, 300]}`},
		Type:  &thriftpackv1.TypeRef{Schema: "example-orders", Type: "Order"},
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "% x\n", reply.GetData()) // the same bytes
	return err
}
