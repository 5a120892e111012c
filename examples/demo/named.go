package main

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
	"github.com/thriftpack/thriftpack/internal/inspect"
	"github.com/thriftpack/thriftpack/internal/schema"
)

// The schema of the demonstration, and a value of its type Tag in canonical JSON.
const (
	tagIDL = `enum Kind { TEXT, WHOLE, FLAG }

struct Tag {
  1: required string key
  2: required Kind kind
  3: optional string text
  6: optional i64 whole
}`
	tagJSON = `{"key":"retries","kind":"WHOLE","whole":"3"}`
)

// byName tells the server a schema, and encodes and decodes JSON by its names.
func (d *demo) byName(ctx context.Context, schemas thriftpackv1.SchemaServiceClient, client thriftpackv1.SerializerServiceClient) error {
	d.title("With a schema: JSON by the names of Thrift IDL")
	files := map[string]string{"tag.thrift": tagIDL}
	created, err := schemas.CreateSchema(ctx, &thriftpackv1.CreateSchemaRequest{Name: "demo", Files: files})
	if err != nil {
		return err
	}
	pushed := created.GetSchema()
	d.say("%s\n\nThe server keeps it as %s@%s, with the types %s.", tagIDL, pushed.GetName(), pushed.GetRevision(), strings.Join(pushed.GetTypes(), ", "))

	tag := &thriftpackv1.TypeRef{Schema: pushed.GetName(), Type: "Tag"}
	encoded, err := client.Encode(ctx, &thriftpackv1.EncodeRequest{Input: &thriftpackv1.EncodeRequest_Json{Json: tagJSON}, Type: tag})
	if err != nil {
		return err
	}
	data := encoded.GetData()
	d.say("\nEncode %s\nto     %s", tagJSON, hex.EncodeToString(data))
	decoded, err := client.Decode(ctx, &thriftpackv1.DecodeRequest{
		Data: data, Type: tag, Options: &thriftpackv1.DecodeOptions{Output: thriftpackv1.Output_OUTPUT_JSON},
	})
	if err != nil {
		return err
	}
	if decoded.GetJson() != tagJSON {
		return errors.New("the decoded JSON differs from the one that was encoded")
	}
	d.say("Decode %s", decoded.GetJson())

	compiled, err := schema.Compile("demo", files, "tag.thrift", schema.DefaultLimits())
	if err != nil {
		return err
	}
	options := inspect.Defaults()
	options.Type, _ = compiled.Type("Tag")
	listing, err := inspect.Inspect(data, options)
	if err != nil {
		return err
	}
	d.say("\nAs `thriftpack inspect` shows it, which needs no server:\n")
	return listing.WriteText(d.out, false)
}
