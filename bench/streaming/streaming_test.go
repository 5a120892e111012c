package streaming

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// TestMain makes the test binary a child where a test has started it as one.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == ChildArgument {
		if err := Child(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		return
	}
	m.Run()
}

// A few MiB go through every server by every method, and what comes back is right.
func TestEveryJob(t *testing.T) {
	for _, mode := range []string{Thriftpack, Fresh, Raw, Bare} {
		for _, method := range []string{EncodeStream, EncodeParts, DecodeParts} {
			for _, payload := range []string{Binary, I64} {
				for _, client := range []string{Lean, Stock} {
					t.Run(mode+"/"+method+"/"+payload+"/"+client, func(t *testing.T) {
						couple, err := Start(t.Context(), ServerSpec{Mode: mode})
						if err != nil {
							t.Fatal(err)
						}
						defer couple.Stop()
						m, err := couple.Run(Job{Method: method, Payload: payload, Client: client, Bytes: 3 << 20, Verify: true}, time.Millisecond)
						if err != nil {
							t.Fatal(err)
						}
						if m.Outcome.Bytes < 2<<20 || m.Outcome.Received < m.Outcome.Bytes || m.Outcome.Replies < 90 {
							t.Errorf("outcome %+v, want all of 3 MiB in chunks of 32 KiB", m.Outcome)
						}
						if m.Server.Idle == 0 || m.Server.Peak < m.Server.End || m.Server.Total() == 0 || m.Client.Total() == 0 || len(m.Samples) < 2 {
							t.Errorf("measurement %+v: something was not measured", m)
						}
					})
				}
			}
		}
	}
}

func TestPairsAndPlateau(t *testing.T) {
	job := Job{Method: EncodeStream, Payload: Binary, Client: Lean, Bytes: 1 << 20, ChunkSize: 256 << 10}
	pairs, err := RunPairs(t.Context(), ServerSpec{Mode: Thriftpack}, ServerSpec{Mode: Raw}, job, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pairs {
		if p.Ratio() <= 0 || p.CPURatio() <= 0 {
			t.Errorf("pair %+v: something was not measured", p)
		}
	}
	p, err := RunPlateau(t.Context(), ServerSpec{Mode: Thriftpack}, job, 1<<20, []int64{1 << 20, 2 << 20}, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Runs) != 2 || p.Runs[1].Outcome.Bytes != 2<<20 || p.Growth() <= 0 || p.Spread() < 0 {
		t.Errorf("plateau %+v", p)
	}
}

// The list payload has exactly the size that it is asked for, and varints of all lengths.
func TestBlock(t *testing.T) {
	for _, size := range []int{64, 100, 4096, 32748} {
		data := block(size)
		if len(data) != size {
			t.Errorf("block(%d) has %d bytes", size, len(data))
		}
		if got := pack(unpack(data)); string(got) != string(data) {
			t.Errorf("block(%d) is not what its values are packed as", size)
		}
		lengths := map[int]int{}
		for _, v := range unpack(data) {
			lengths[protowire.SizeVarint(protowire.EncodeZigZag(v))]++
		}
		if size >= 4096 && len(lengths) < 9 {
			t.Errorf("block(%d) has varints of the lengths %v only", size, lengths)
		}
	}
}

// The messages of parts have the size of the server's chunks, so that an echo carries the same messages.
func TestMessageSizes(t *testing.T) {
	for _, method := range []string{EncodeParts, DecodeParts} {
		for _, payload := range []string{Binary, I64} {
			u, err := newUpload(&Job{Method: method, Payload: payload, Bytes: 2<<30 + 1, MessageSize: 32763})
			if err != nil {
				t.Fatal(err)
			}
			if len(u.body) != 32763 {
				t.Errorf("%s %s: messages of %d bytes, want 32763", method, payload, len(u.body))
			}
			if u.roots != 3 || u.thrift < 2<<30-1<<20 || u.thrift > 2<<30+1<<20 {
				t.Errorf("%s %s: %d roots, %d bytes", method, payload, u.roots, u.thrift)
			}
		}
	}
}
