package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	thriftpackv1 "github.com/thriftpack/thriftpack/api/thriftpack/v1"
)

// wireFormat is --protocol and --framing, which encode and decode share.
type wireFormat struct {
	protocol, framing choice
}

func (f *wireFormat) addFlags(cmd *cobra.Command) {
	f.protocol = newChoice("compact", "binary")
	f.framing = newChoice("none", "framed")
	addChoice(cmd, &f.protocol, "protocol", "Thrift protocol")
	addChoice(cmd, &f.framing, "framing", "whether a 4-byte length comes first")
}

func (f *wireFormat) protocolValue() thriftpackv1.Protocol {
	if f.protocol.value == "binary" {
		return thriftpackv1.Protocol_PROTOCOL_BINARY
	}
	return thriftpackv1.Protocol_PROTOCOL_COMPACT
}

func (f *wireFormat) framingValue() thriftpackv1.Framing {
	if f.framing.value == "framed" {
		return thriftpackv1.Framing_FRAMING_FRAMED
	}
	return thriftpackv1.Framing_FRAMING_NONE
}

// envelope is the Thrift RPC message that encode wraps a struct in.
type envelope struct {
	name  string
	kind  choice
	seqid int32
}

func (e *envelope) addFlags(cmd *cobra.Command) {
	e.kind = newChoice("call", "reply", "exception", "oneway")
	cmd.Flags().StringVar(&e.name, "message", "", "wrap the struct in an RPC message for the method `NAME`")
	addChoice(cmd, &e.kind, "message-type", "type of that message")
	cmd.Flags().Int32Var(&e.seqid, "seqid", 0, "sequence id `N` of that message")
}

var errEnvelope = errors.New("--message-type and --seqid need --message NAME")

// header returns the envelope, or nil where none was asked for.
func (e *envelope) header(cmd *cobra.Command) (*thriftpackv1.MessageHeader, error) {
	flags := cmd.Flags()
	if !flags.Changed("message") {
		if flags.Changed("message-type") || flags.Changed("seqid") {
			return nil, errEnvelope
		}
		return nil, nil //nolint:nilnil // no envelope is not an error
	}
	kind, ok := thriftpackv1.MessageType_value["MESSAGE_TYPE_"+strings.ToUpper(e.kind.value)]
	if !ok {
		return nil, fmt.Errorf("message type %q does not exist", e.kind.value)
	}
	return &thriftpackv1.MessageHeader{Name: e.name, Type: thriftpackv1.MessageType(kind), Seqid: e.seqid}, nil
}

// describeHeader is an envelope in words: "message getUser, call, seqid 7".
func describeHeader(h *thriftpackv1.MessageHeader) string {
	kind := strings.ToLower(strings.TrimPrefix(h.GetType().String(), "MESSAGE_TYPE_"))
	return fmt.Sprintf("message %q, %s, seqid %d", h.GetName(), kind, h.GetSeqid())
}

// typeNames are the words of --root-type: every type but TYPE_UNSPECIFIED, struct first.
func typeNames() []string {
	names := []string{"struct"}
	values := thriftpackv1.Type_TYPE_UNSPECIFIED.Descriptor().Values()
	for i := range values.Len() {
		name := strings.ToLower(strings.TrimPrefix(string(values.Get(i).Name()), "TYPE_"))
		if name != "struct" && name != "unspecified" {
			names = append(names, name)
		}
	}
	return names
}

// typeOf is the type of one of the typeNames.
func typeOf(name string) thriftpackv1.Type {
	return thriftpackv1.Type(thriftpackv1.Type_value["TYPE_"+strings.ToUpper(name)])
}
