package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/wire"
)

var reckless = &client.Options{Unstable: true, IgnoreCapabilities: true, CancelGrace: -1}

// A call ends with its ctx. If ctx ends before the call is sent, nothing is sent. If the call is in
// flight, the agent receives a cancel, and its late response is dropped.
func TestCtxOfEveryCall(t *testing.T) {
	for _, method := range peertest.Requests(t, wire.Agent) {
		t.Run(method, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leak.Check(t)
				cancel := "$/cancel_request"
				if method == "session/prompt" {
					cancel = "session/cancel"
				}
				c, peer := dial(t, &peertest.Client{}, reckless)
				peer.CallEndsWithCtx(c, method, peertest.Params[method], peertest.RawResult(method), cancel)
				synctest.Wait()
			})
		})
	}
}

// Every form of call decodes every type of result.
func TestCallByName(t *testing.T) {
	c, peer := dial(t, &peertest.Client{}, reckless)
	answer := func() { peer.Answer(peer.Expect("session/new"), `{"sessionId":"s1","extra":1}`) }
	for _, params := range []any{
		&acp.NewSessionRequest{Cwd: "/"}, acp.NewSessionRequest{Cwd: "/"},
		json.RawMessage(`{"cwd":"/","mcpServers":[]}`), map[string]any{"cwd": "/", "mcpServers": []any{}},
	} {
		var typed acp.NewSessionResponse
		var raw json.RawMessage
		var loose struct{ SessionID string }
		for _, result := range []any{&typed, &raw, &loose, nil} {
			go answer() // ends with the response
			require.NoError(t, c.Call(t.Context(), "session/new", params, result))
		}
		assert.Equal(t, acp.SessionID("s1"), typed.SessionID)
		assert.Equal(t, `{"sessionId":"s1","extra":1}`, string(raw), "as it came")
		assert.Equal(t, "s1", loose.SessionID)
	}
	go answer() // ends with the response
	var wrong int
	require.ErrorContains(t, c.Call(t.Context(), "session/new", &acp.NewSessionRequest{Cwd: "/"}, &wrong), "decoding result")
	require.ErrorContains(t, c.Call(t.Context(), "session/new", make(chan int), nil), "encoding params")
	require.ErrorContains(t, c.Call(t.Context(), "_x", make(chan int), nil), "_x params")
	var invalid *acp.InvalidError
	require.ErrorAs(t, c.Call(t.Context(), "session/new", map[string]any{"cwd": 5}, nil), &invalid)
}

func TestMiddlewareSeesWhatIsSentAndReceived(t *testing.T) {
	var sent, received []string
	note := func(list *[]string, name string) acp.Middleware {
		return func(next acp.Handler) acp.Handler {
			return func(ctx context.Context, method string, params any) (any, error) {
				*list = append(*list, name+" "+method)
				if method == "_refused" {
					return nil, errors.New("refused")
				}
				return next(ctx, method, params)
			}
		}
	}
	var updates []string
	cl := &peertest.Client{}
	s, peer := session(t, cl, &client.Options{
		Sending:   []acp.Middleware{note(&sent, "outer"), nil, note(&sent, "inner")},
		Receiving: []acp.Middleware{note(&received, "outer"), note(&received, "inner")},
	})
	s.OnUpdate(func(_ context.Context, u acp.SessionUpdate) { updates = append(updates, text(u)) })
	peer.Update("s1", "one")
	turn := s.Prompt(t.Context(), acp.Text("hi"))
	peer.Answer(peer.Expect("session/prompt"), endTurn)
	_, err := turn.Wait()
	require.NoError(t, err)
	assert.Equal(t, []string{"outer initialize", "inner initialize", "outer session/new", "inner session/new",
		"outer session/prompt", "inner session/prompt"}, sent)
	assert.Equal(t, []string{"outer session/update", "inner session/update"}, received)
	assert.Equal(t, []string{"one"}, cl.Texts())
}
