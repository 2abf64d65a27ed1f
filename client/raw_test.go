package client_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
)

// Real agents send members that are not in the schema, such as models.
func TestRawResult(t *testing.T) {
	const result = `{"sessionId":"s1","models":{"currentModelId":"m", "availableModels":[]}}`
	own := func(next acp.Handler) acp.Handler {
		return func(ctx context.Context, method string, params any) (any, error) {
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
		}
	}
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
			s, err := c.StartSession(client.WithRawResult(t.Context(), &raw), &acp.NewSessionRequest{Cwd: "/"})
			require.NoError(t, err)
			assert.Equal(t, acp.SessionID("s1"), s.ID())
			assert.Equal(t, result, string(raw))

			require.Error(t, s.Close(client.WithRawResult(t.Context(), &raw)))
			assert.Nil(t, raw, "the call failed")
			if opts != nil {
				raw = json.RawMessage(`1`)
				_, err = c.ListSessions(client.WithRawResult(t.Context(), &raw), nil)
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
				raw, ok := client.RawParams(ctx)
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
	_, ok := client.RawParams(t.Context())
	assert.False(t, ok)
}
