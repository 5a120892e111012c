package encoder

import (
	"encoding/hex"
	"testing"

	"github.com/thriftpack/thriftpack/internal/fixture"
)

func TestFixtures(t *testing.T) {
	t.Parallel()
	var e Encoder
	got, err := e.Append(nil, fixture.Wire(fixture.OneOfEach()), &Options{Limits: testLimits})
	if hex.EncodeToString(got) != fixture.OneOfEachCompact || err != nil {
		t.Errorf("Append(OneOfEach) = %x, %v, want %s", got, err, fixture.OneOfEachCompact)
	}
	got, err = e.Append(nil, fixture.Wire(fixture.OneOfEach()), &Options{Limits: testLimits, Protocol: Binary})
	if len(got) != fixture.OneOfEachBinarySize || err != nil {
		t.Errorf("Append(OneOfEach, binary) = %d bytes, %v, want %d", len(got), err, fixture.OneOfEachBinarySize)
	}
	got, err = e.Append(nil, fixture.Wire(fixture.Nested4()), &Options{Limits: testLimits})
	if len(got) != fixture.Nested4CompactSize || err != nil {
		t.Errorf("Append(Nested4) = %d bytes, %v, want %d", len(got), err, fixture.Nested4CompactSize)
	}
}
