package main

import (
	"strings"
	"testing"
)

// TestRun tells the whole story with a short stream. The steps check what they show; this looks at what is told.
func TestRun(t *testing.T) {
	var b strings.Builder
	if err := run(t.Context(), &b, 8<<20); err != nil {
		t.Fatalf("%v\n%s", err, &b)
	}
	for _, want := range []string{
		"It serves gRPC on 127.0.0.1:", "bytes of Thrift:\n1112", "and the value is the one that was sent",
		"getUser(1: 42), call 7: 0000001b8001000100000007676574557365720000000708000100000" + "02a00",
		"demo@", "{\"key\":\"retries\",\"kind\":\"WHOLE\",\"whole\":\"3\"}", "18077265747269657315024606" + "00", "WHOLE = 1",
		"value.struct.fields[0].i16", "reason INT_RANGE of thriftpack.dev", "as the server computed it", "ended with exit code 0",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the demonstration does not say %q:\n%s", want, &b)
		}
	}
}
