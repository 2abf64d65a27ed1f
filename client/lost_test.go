package client_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/stream"
)

// losing is a stream that routes messages. It loses a session when the peer says so.
type losing struct{ stream.Stream }

func (l losing) Read() ([]byte, error) {
	b, err := l.Stream.Read()
	if session, ok := strings.CutPrefix(string(b), "lost "); ok {
		return nil, &stream.LostError{SessionID: session, Err: errors.New("cut")}
	}
	return b, err
}

func (l losing) Features() *stream.Features {
	return &stream.Features{WriteMessage: func(m stream.Message) error { return l.Stream.Write(m.Data) }}
}

// After a session was lost, its turns fail until it is loaded or resumed.
func TestLostSessionIsOpenedAgain(t *testing.T) {
	for _, method := range []string{acp.MethodSessionLoad, acp.MethodSessionResume} {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leak.Check(t)
				s, peer := rawpeer.Pipe(t)
				c := rawpeer.Start(t, client.New(losing{s}, func(*client.Conn) acp.Client { return &peertest.Client{} }, nil))
				go peer.Initialize(`{"loadSession":true,"sessionCapabilities":{"resume":{}}}`) // ends with the response
				_, err := c.Initialize(t.Context(), nil)
				require.NoError(t, err)

				turn := c.Session("s1").Prompt(t.Context(), acp.Text("hi"))
				peer.Expect("session/prompt")
				peer.Send("lost s1")
				_, err = turn.Wait()
				require.ErrorAs(t, err, new(*stream.LostError))
				_, err = c.Session("s1").Prompt(t.Context(), acp.Text("hi")).Wait()
				require.ErrorAs(t, err, new(*stream.LostError), "nothing is sent")

				go func() { peer.Answer(peer.Expect(method), `{}`) }() // ends with the call
				if method == acp.MethodSessionLoad {
					_, err = c.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: "s1", Cwd: "/"})
				} else {
					_, err = c.ResumeSession(t.Context(), &acp.ResumeSessionRequest{SessionID: "s1", Cwd: "/"})
				}
				require.NoError(t, err)
				turn = c.Session("s1").Prompt(t.Context(), acp.Text("hi"))
				peer.Answer(peer.Expect("session/prompt"), endTurn)
				res, err := turn.Wait()
				require.NoError(t, err)
				assert.Equal(t, acp.StopReasonEndTurn, res.StopReason)
			})
		})
	}
}
