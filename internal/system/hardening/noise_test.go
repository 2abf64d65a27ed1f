package hardening_test

import (
	"bufio"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/stream"
)

// checked hides that the stream can leave the checking to the connection.
type checked struct{ stream.Stream }

// What an agent prints between its messages is reported and never answered, whether
// the stream looks at it or the connection does.
func TestNoise(t *testing.T) {
	noise := []string{
		"banner", "warning: {", "[1,2]", `"text"`, "12", "null", "{", "{}x", "{} {}", `{"jsonrpc":"2.0"`, `{"jsonrpc":"2.0",}`,
		`{"jsonrpc":"2.0","method":"_x"} was sent`, `{"jsonrpc":"2.0","id":7,"method":"_x","params":{"a":01}}`,
		`{'id': 1}`, "{foo bar}", "{\"a\":\"\x01\"}", "{\x00}", `{"a":1e}`, `{"id":1,"result":nul}`, "{" + strings.Repeat("[", 5000),
	}
	wrap := map[string]func(stream.Stream) stream.Stream{
		"the stream checks":     func(s stream.Stream) stream.Stream { return checked{s} },
		"the connection checks": func(s stream.Stream) stream.Stream { return s },
	}
	for name, wrap := range wrap {
		t.Run(name, func(t *testing.T) {
			pairtest.Bubble(t, func(t *testing.T) {
				in, agent := io.Pipe()
				replies, out := io.Pipe()
				var heard []string
				s := stream.Lines(in, out, &stream.LinesOptions{Tolerant: true, OnNoise: func(line string) { heard = append(heard, line) }})
				c := pairtest.StartClient(t, wrap(s), pairtest.Setup{})
				answers := bufio.NewScanner(replies)
				for i, line := range noise {
					_, err := io.WriteString(agent, line+"\n"+`{"jsonrpc":"2.0","id":1,"method":"_extension","params":[1]}`+"\n")
					require.NoError(t, err)
					require.True(t, answers.Scan())
					assert.JSONEq(t, `{"jsonrpc":"2.0","id":1,"result":[1]}`, answers.Text(), "after %q", line)
					require.Len(t, heard, i+1, "after %q", line)
					assert.Equal(t, line[:min(len(line), 4<<10)], heard[i])
				}
				require.NoError(t, c.Close())
			})
		})
	}
	t.Run("a message that is wrong is answered", func(t *testing.T) {
		pairtest.Bubble(t, func(t *testing.T) {
			in, agent := io.Pipe()
			replies, out := io.Pipe()
			s := stream.Lines(in, out, &stream.LinesOptions{Tolerant: true, OnNoise: func(line string) { t.Errorf("%q is no noise", line) }})
			c := pairtest.StartClient(t, s, pairtest.Setup{})
			answers := bufio.NewScanner(replies)
			_, err := io.WriteString(agent, `{"jsonrpc":"2.0","id":1,"method":5}`+"\n")
			require.NoError(t, err)
			require.True(t, answers.Scan())
			assert.Contains(t, answers.Text(), `-32600`)
			require.NoError(t, c.Close())
		})
	})
	t.Run("a hook that panics ends the connection", func(t *testing.T) {
		pairtest.Bubble(t, func(t *testing.T) {
			in, agent := io.Pipe()
			_, out := io.Pipe()
			s := stream.Lines(in, out, &stream.LinesOptions{Tolerant: true, OnNoise: func(string) { panic("in OnNoise") }})
			c := pairtest.StartClient(t, s, pairtest.Setup{})
			_, err := io.WriteString(agent, "{noise}\n")
			require.NoError(t, err)
			assert.ErrorContains(t, c.Wait(), "panic")
			assert.ErrorIs(t, c.Err(), acp.ErrClosed)
		})
	})
}
