package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/relay"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/rpcerr"
)

var reckless = &client.Options{Unstable: true, IgnoreCapabilities: true, CancelGrace: -1}

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
		return peertest.Around(func(ctx context.Context, method string, params any, next acp.Handler) (any, error) {
			*list = append(*list, name+" "+method)
			if method == "_refused" {
				return nil, errors.New("refused")
			}
			return next(ctx, method, params)
		})
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

// Real agents send members that are not in the schema, such as models.
func TestRawResult(t *testing.T) {
	const result = `{"sessionId":"s1","models":{"currentModelId":"m", "availableModels":[]}}`
	own := peertest.Around(func(ctx context.Context, method string, params any, next acp.Handler) (any, error) {
		switch method {
		case acp.MethodSessionNew: // another call with the same ctx stores nothing
			res, err := next(ctx, method, params)
			if err == nil {
				_, err = next(ctx, method, params)
			}
			return res, err
		case acp.MethodSessionList:
			return &acp.ListSessionsResponse{}, nil
		}
		return next(ctx, method, params)
	})
	for name, opts := range map[string]*client.Options{"plain": nil, "middleware": {Sending: []acp.Middleware{own}}} {
		t.Run(name, func(t *testing.T) {
			c, peer := open(t, &peertest.Client{}, `{"sessionCapabilities":{"list":{},"close":{}}}`, opts)
			n := 1
			if opts != nil {
				n = 2
			}
			go func() { // ends with the last response
				for range n {
					peer.Answer(peer.Expect("session/new"), result)
				}
				peer.Fail(peer.Expect("session/close"), -32603, "no")
			}()
			var raw json.RawMessage
			s, err := c.StartSession(relay.WithRawResult(t.Context(), &raw), &acp.NewSessionRequest{Cwd: "/"})
			require.NoError(t, err)
			assert.Equal(t, acp.SessionID("s1"), s.ID())
			assert.Equal(t, result, string(raw))

			require.Error(t, s.Close(relay.WithRawResult(t.Context(), &raw)))
			assert.Nil(t, raw, "the call failed")
			if opts != nil {
				raw = json.RawMessage(`1`)
				_, err = c.ListSessions(relay.WithRawResult(t.Context(), &raw), nil)
				require.NoError(t, err)
				assert.Nil(t, raw, "nothing was sent")
			}
		})
	}
}

func TestRawParams(t *testing.T) {
	const update = `{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}},"extra":[1, 2]}`
	const question = `{"sessionId":"s1","toolCall":{"toolCallId":"c1"},"options":[],"why":"asked"}`
	for name, on := range map[string]bool{"with the option": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			var got []string
			see := func(ctx context.Context) {
				raw, ok := relay.RawParams(ctx)
				assert.Equal(t, on, ok)
				got = append(got, string(raw))
			}
			c := &peertest.Client{
				OnUpdate: func(ctx context.Context, _ *acp.SessionNotification) error { see(ctx); return nil },
				OnPermission: func(ctx context.Context, _ *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
					see(ctx)
					return acp.Cancelled(), nil
				},
			}
			_, peer := open(t, c, `{}`, &client.Options{RawParams: on})
			peer.Notify("session/update", update)
			peer.Call("1", "session/request_permission", question)
			peer.Recv()
			if on {
				assert.Equal(t, []string{update, question}, got)
			} else {
				assert.Equal(t, []string{"", ""}, got)
			}
		})
	}
	_, ok := relay.RawParams(t.Context())
	assert.False(t, ok)
}

// failingReader is a client that cannot read files.
type failingReader struct{ peertest.Client }

func (*failingReader) ReadTextFile(context.Context, *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	return nil, errors.New("canary")
}

// OnError is called once with the error of a request, before it is converted. ExposeErrors sends
// the details of the error.
func TestOnError(t *testing.T) {
	var seen []string
	_, peer := open(t, &failingReader{}, `{}`, &client.Options{
		ExposeErrors: true,
		OnError: func(_ context.Context, where string, err error) error {
			seen = append(seen, where+": "+err.Error())
			return rpcerr.ResourceNotFound("/x").WithCause(err)
		},
	})
	peer.Call("1", "fs/read_text_file", `{"sessionId":"s","path":"/x"}`)
	response, _ := peer.Recv()
	assert.Equal(t, -32002, response.Error.Code)
	assert.JSONEq(t, `{"uri":"/x","details":"canary"}`, string(response.Error.Data))
	assert.Equal(t, []string{"fs/read_text_file: canary"}, seen)
}
