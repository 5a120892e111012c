package stream

import (
	"context"
	"errors"
	"testing"

	"github.com/thriftpack/thriftpack/internal/fault"
)

// Whatever goes wrong, every chunk comes back once, the error stays, and what was not handed over is not counted.
func TestSenderErrors(t *testing.T) {
	broken := errors.New("broken")
	internal := fault.New(fault.Internal, "")
	tests := []struct {
		name string
		send func(message *Message) error
		use  func(sender *Sender, cancel func()) error
		want error
	}{
		{
			name: "send fails after the bytes were taken",
			send: (&receiver{fail: broken}).send,
			use:  func(sender *Sender, _ func()) error { return sendAll(sender, source(10_000)) },
			want: broken,
		},
		{
			name: "send fails before the bytes were taken",
			send: func(*Message) error { return broken },
			use:  func(sender *Sender, _ func()) error { return sendAll(sender, source(10_000)) },
			want: broken,
		},
		{
			name: "send succeeds without taking the bytes",
			send: func(*Message) error { return nil },
			use:  func(sender *Sender, _ func()) error { return sendAll(sender, source(10_000)) },
			want: internal,
		},
		{
			name: "send panics before the bytes were taken",
			send: func(*Message) error { panic(broken) },
			use: func(sender *Sender, _ func()) (err error) {
				defer func() {
					sender.Close()
					if recover() != broken { //nolint:errorlint // the very value that was thrown
						err = errors.New("no panic")
					} else {
						err = internal
					}
				}()
				return sendAll(sender, source(10_000))
			},
			want: internal,
		},
		{
			name: "cancelled before the first chunk",
			send: (&receiver{}).send,
			use: func(sender *Sender, cancel func()) error {
				cancel()
				return sendAll(sender, source(10))
			},
			want: context.Canceled,
		},
		{
			name: "cancelled with a chunk half filled",
			send: (&receiver{}).send,
			use: func(sender *Sender, cancel func()) error {
				if _, err := sender.Next(0); err != nil {
					return err
				}
				cancel()
				_, err := sender.Next(17)
				return err
			},
			want: context.Canceled,
		},
		{
			name: "more filled than lent",
			send: (&receiver{}).send,
			use: func(sender *Sender, _ func()) error {
				room, err := sender.Next(0)
				if err != nil {
					return err
				}
				_, err = sender.Next(len(room) + 1)
				return err
			},
			want: internal,
		},
		{
			name: "filled before anything was lent",
			send: (&receiver{}).send,
			use:  func(sender *Sender, _ func()) error { return sender.Flush(1) },
			want: internal,
		},
		{
			name: "less than nothing filled",
			send: (&receiver{}).send,
			use:  func(sender *Sender, _ func()) error { return sender.Flush(-1) },
			want: internal,
		},
		{
			name: "filled after a flush",
			send: (&receiver{}).send,
			use: func(sender *Sender, _ func()) error {
				if _, err := sender.Next(0); err != nil {
					return err
				}
				return sender.Flush(4097)
			},
			want: internal,
		},
		{
			name: "used after Close",
			send: (&receiver{}).send,
			use: func(sender *Sender, _ func()) error {
				if _, err := sender.Next(0); err != nil {
					return err
				}
				sender.Close()
				return sender.Flush(10)
			},
			want: internal,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pool := NewCheckedPool()
			account := newAccount(pool)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			sender, err := NewSender(ctx, SenderConfig{
				Pool: pool, Account: account, ChunkSize: MinChunkSize, Tag: 0x0a, Send: test.send,
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := test.use(sender, cancel); !errors.Is(err, test.want) {
				t.Errorf("error = %v, want %v", err, test.want)
			}
			if room, err := sender.Next(0); !errors.Is(err, test.want) || room != nil {
				t.Errorf("Next(0) afterwards = %d bytes, %v, want none and %v", len(room), err, test.want)
			}
			if got := sender.Bytes(); got != 0 {
				t.Errorf("Bytes() = %d, want 0", got)
			}
			sender.Close()
			sender.Close()
			checkAllReturned(t, pool)
			if got := account.Owed(); got != 0 {
				t.Errorf("Owed() = %d, want 0", got)
			}
		})
	}
}
