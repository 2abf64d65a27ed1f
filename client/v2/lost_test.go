package client_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/client/v2"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/stream"
)

// losing is a stream that routes messages, and loses a session when the peer says so.
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

// What is lost of a session fails its turns until the session is resumed.
func TestLostSessionIsResumed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s, peer := rawpeer.Pipe(t)
		c := rawpeer.Start(t, client.New(losing{s}, func(*client.Conn) acp.Client { return &viewer{} }, nil))
		go func() { peer.Answer(peer.Expect("initialize"), initialized(`{"session":{}}`)) }() // ends with the response
		_, err := c.Initialize(t.Context(), nil)
		require.NoError(t, err)

		turn := c.Session("s1").Prompt(t.Context(), acp.Text("hi"))
		peer.Expect("session/prompt")
		peer.Send("lost s1")
		_, err = turn.Wait()
		require.ErrorAs(t, err, new(*stream.LostError))
		_, err = c.Session("s1").Prompt(t.Context(), acp.Text("hi")).Wait()
		require.ErrorAs(t, err, new(*stream.LostError), "nothing is sent")

		go func() { peer.Answer(peer.Expect("session/resume"), `{}`) }() // ends with the call
		_, err = c.ResumeSession(t.Context(), &acp.ResumeSessionRequest{SessionID: "s1", Cwd: "/"})
		require.NoError(t, err)
		turn = c.Session("s1").Prompt(t.Context(), acp.Text("hi"))
		peer.Answer(peer.Expect("session/prompt"), `{"messageId":"m1"}`)
		_, err = turn.Accepted()
		require.NoError(t, err)
	})
}
