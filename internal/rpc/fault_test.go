package rpc_test

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/stream"
)

// turn is what a peer sends in one conversation: each entry when it has read one
// more line.
var turn = []string{
	`{"jsonrpc":"2.0","id":1,"result":{"n":1}}` + "\n",
	`{"jsonrpc":"2.0","method":"t/note","params":{"n":1}}` + "\n" +
		`{"jsonrpc":"2.0","method":"t/note","params":{"n":2,"text":"` + strings.Repeat("é", 100) + `"}}` + "\n" +
		`{"jsonrpc":"2.0","id":"p","method":"t/ask","params":{"n":3}}` + "\n",
	`{"jsonrpc":"2.0","method":"t/note","params":{"n":3}}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"result":{"n":2}}` + "\n",
	`{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"no"}}` + "\n",
}

// The peer dies at every byte of the conversation: every call returns, what was
// read whole reaches its handler or caller, and nothing is left behind.
func TestPeerDiesAnywhere(t *testing.T) {
	total := len(strings.Join(turn, ""))
	for cut := range total + 1 {
		bubble(t, func(t *testing.T) {
			in, peerOut := io.Pipe()
			peerIn, out := io.Pipe()
			go func() { // the peer; ends at the cut
				defer peerOut.Close()
				defer peerIn.Close()
				left := cut
				lines := bufio.NewReader(peerIn)
				for _, say := range turn {
					if _, err := lines.ReadString('\n'); err != nil {
						return
					}
					n, _ := io.WriteString(peerOut, say[:min(left, len(say))])
					if left -= n; left == 0 {
						return
					}
				}
				_, _ = lines.ReadString('\n') // lives until the other end closes
			}()
			var notes []int
			c := startOn(t, rpc.Config{Stream: stream.Lines(in, out, nil), Entries: []*rpc.Entry{
				on(mNote, func(_ context.Context, m *msg) (*msg, error) {
					time.Sleep(time.Millisecond)
					notes = append(notes, m.N)
					return nil, nil
				}),
				echo(mAsk),
			}})
			whole := strings.Join(turn, "")[:cut]
			for id, m := range []*wire.Method{mEcho, mPrompt, mEcho} {
				_, err := c.Call(t.Context(), m, &msg{N: id}, nil)
				arrived := [...]string{`"id":1,"result":{"n":1}}`, `"id":2,"result":{"n":2}}`, `"message":"no"}}`}[id]
				switch {
				case !strings.Contains(whole, arrived):
					require.ErrorIs(t, err, wire.ErrClosed, "call %d, %d bytes", id+1, cut)
				case id == 2:
					require.ErrorContains(t, err, "no")
				default:
					require.NoError(t, err, "call %d, %d bytes", id+1, cut)
				}
			}
			if cut == total {
				require.NoError(t, c.Close())
			}
			if err := c.Wait(); err != nil { // the peer may die while we write
				require.ErrorIs(t, err, wire.ErrClosed)
			}
			for i, n := range notes {
				assert.Equal(t, i+1, n)
			}
			if strings.Contains(whole, `"id":2,"result":{"n":2}}`) {
				assert.Len(t, notes, 3)
			}
		})
	}
}
