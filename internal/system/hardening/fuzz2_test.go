package hardening_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	acp2 "github.com/acpkit/go-sdk/acp/v2"
	agent2 "github.com/acpkit/go-sdk/agent/v2"
	client2 "github.com/acpkit/go-sdk/client/v2"
	peertest2 "github.com/acpkit/go-sdk/internal/endpoint/peertest/v2"
	"github.com/acpkit/go-sdk/stream"
)

// FuzzAgentOfVersion2 is FuzzAgent in version 2. Its prompts are held and worked on one by
// one, and the work is short.
func FuzzAgentOfVersion2(f *testing.F) {
	for _, line := range seedLines(f) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		s, to, from := pipes(t)
		c := agent2.New(s, func(c *agent2.Conn) acp2.Agent {
			return &peertest2.FullAgent{Do: func(ctx context.Context, _ string, params any) (any, error) {
				req, ok := params.(*acp2.PromptRequest)
				if !ok {
					return nil, nil
				}
				s := c.Session(req.SessionID)
				return s.Accept(ctx, req, func(ctx context.Context) (acp2.StopReason, error) {
					return acp2.StopReasonEndTurn, s.Message(ctx, "m", acp2.PlainText(req.Prompt...))
				})
			}}
		}, &agent2.Options{Unstable: true})
		require.NoError(t, c.Start(context.Background()))
		fuzzPeer(t, to, from, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"c","version":"1"}}}`+"\n", input, "")
		require.NoError(t, c.Close())
	})
}

// FuzzClientOfVersion2 is FuzzClient in version 2. The client has a turn in progress as well.
func FuzzClientOfVersion2(f *testing.F) {
	for _, line := range seedLines(f) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		s, to, from := pipes(t)
		c := client2.New(s, func(*client2.Conn) acp2.Client { return &testClient2{} }, &client2.Options{IgnoreCapabilities: true})
		require.NoError(t, c.Start(context.Background()))
		called := make(chan error, 1)
		go func() { // ends with the response
			_, err := c.StartSession(context.Background(), &acp2.NewSessionRequest{Cwd: "/"})
			called <- err
		}()
		_, err := from.Read()
		require.NoError(t, err)
		turn := make(chan *client2.Turn, 1)
		go func() { turn <- c.Session("s").Prompt(context.Background(), acp2.Text("go")) }() // ends when it is sent
		_, err = from.Read()
		require.NoError(t, err)
		fuzzPeer(t, to, from, "", input, `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`+"\n"+
			`{"jsonrpc":"2.0","id":2,"result":{"messageId":"m"}}`+"\n"+
			`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}}}`+"\n")
		checkCall(t, <-called)
		if _, err := (<-turn).Accepted(); err != nil {
			checkCall(t, err)
		}
		require.NoError(t, c.Close())
	})
}

// FuzzAnswerOfVersion2 is FuzzAnswer in version 2.
func FuzzAnswerOfVersion2(f *testing.F) {
	seedAnswers(f, 2)
	ours, theirs := stream.Pipe()
	c := client2.New(ours, func(*client2.Conn) acp2.Client { return &testClient2{} }, &client2.Options{IgnoreCapabilities: true})
	require.NoError(f, c.Start(context.Background()))
	f.Cleanup(func() { c.Close() })
	fuzzAnswer(f, theirs, func() error {
		_, err := c.NewSession(context.Background(), &acp2.NewSessionRequest{Cwd: "/"})
		return err
	})
}
