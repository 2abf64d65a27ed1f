package remote_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/stream"
)

// Whatever an end is given to send, and over whatever transport, no byte that leaves it ends a line for a program
// that passes messages on in lines.
func TestMessagesAreOneLine(t *testing.T) {
	const (
		raw  = "{\r\n\"jsonrpc\":\"2.0\",\"method\":\"_m\",\n\"params\":{\"a\u2028\":\"\u2029b\u0085\"}}"
		sent = `{  "jsonrpc":"2.0","method":"_m", "params":{"a\u2028":"\u2029b\u0085"}}`
	)
	got := make(chan string, 1) // what an agent has read
	_, s := startServing(t, func(_ context.Context, s stream.Stream) error {
		for _, answer := range []string{initialized, raw} {
			msg, err := s.Read()
			if err != nil {
				return err
			}
			got <- string(msg)
			if err := s.Write([]byte(answer)); err != nil {
				return err
			}
		}
		_, err := s.Read()
		return err
	}, nil, nil)
	overBoth(t, s, func(t *testing.T, url string) {
		c := dial(t, url, nil)
		defer c.Close()
		assert.Equal(t, initialize, <-got)
		require.NoError(t, c.Write([]byte(raw)))
		assert.Equal(t, sent, <-got)
		answer, err := c.Read()
		require.NoError(t, err)
		assert.Equal(t, sent, string(answer))
	})
}
