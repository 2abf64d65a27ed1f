package streamtest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/acpkit/go-sdk/stream"
)

// envelopes tests that WriteMessage and ReadMessage carry the same messages as Write and Read.
func envelopes(t *testing.T, a, b stream.Stream) {
	write, read := stream.FeaturesOf(a).WriteMessage, stream.FeaturesOf(b).ReadMessage
	if write == nil && read == nil {
		t.Skip("the stream has neither WriteMessage nor ReadMessage: they are optional")
	}
	sent := make(chan error, 1)
	go func() { // ends when b has read all or is closed
		sent <- func() error {
			for i, size := range someSizes {
				var err error
				if msg := message(i, size); write != nil {
					err = write(stream.ParseMessage(msg))
					clear(msg)
				} else {
					err = a.Write(msg)
				}
				if err != nil {
					return fmt.Errorf("message %d: %w", i, err)
				}
			}
			return nil
		}()
	}()
	for i, size := range someSizes {
		if read == nil {
			expect(t, b, message(i, size))
			continue
		}
		m, err := await(t, read)
		expectOK(t, "ReadMessage", err)
		if want := stream.ParseMessage(message(i, size)); !same(m, want) {
			t.Fatalf("ReadMessage: got %.200v, want %.200v", m, want)
		}
	}
	wait(t, sent, "writing")
}

// same compares the exported fields of two messages. Only ParseMessage sets the others.
func same(a, b stream.Message) bool {
	return bytes.Equal(a.Data, b.Data) && a.Kind == b.Kind && bytes.Equal(a.ID, b.ID) && a.Method == b.Method &&
		a.SessionID == b.SessionID && bytes.Equal(a.CancelID, b.CancelID)
}
