package ends_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	peertest2 "github.com/acpkit/go-sdk/internal/system/peertest/v2"
	"github.com/acpkit/go-sdk/stream"
)

// The authors of both ends read in their log, once for each session, which update belongs to no session that
// is open. Updates of sessions that a request, a response or an update has named are not mentioned.
func TestUpdatesOfUnknownSessionsAreLogged(t *testing.T) {
	for name, connect := range map[string]func(t *testing.T, a, c *slog.Logger) (start func() string, send func(id string) error, announce func(id string) error){
		"version 1": func(t *testing.T, a, c *slog.Logger) (func() string, func(string) error, func(string) error) {
			near, far := stream.Pipe()
			ag := agent.New(near, func(*agent.Conn) acp.Agent {
				return &peertest.Agent{OnNewSession: func(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
					return &acp.NewSessionResponse{SessionID: "s"}, nil
				}}
			}, &agent.Options{Unstable: true, Logger: a})
			cl := client.New(far, func(*client.Conn) acp.Client { return &peertest.Client{} }, &client.Options{Unstable: true, Logger: c})
			startBoth(t, ag, cl)
			return func() string {
					_, err := cl.Initialize(t.Context(), &acp.InitializeRequest{ClientCapabilities: &acp.ClientCapabilities{Subagents: &acp.SubagentCapabilities{}}})
					require.NoError(t, err)
					s, err := cl.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
					require.NoError(t, err)
					return string(s.ID())
				}, func(id string) error { return ag.Session(acp.SessionID(id)).Message(t.Context(), "x") },
				func(id string) error {
					return ag.Session("s").Update(t.Context(), &acp.SubagentUpdate{SessionID: acp.SessionID(id)})
				}
		},
		"version 2": func(t *testing.T, a, c *slog.Logger) (func() string, func(string) error, func(string) error) {
			near, far := stream.Pipe()
			do := func(_ context.Context, method string, _ any) (any, error) {
				if method == acp2.MethodSessionNew {
					return &acp2.NewSessionResponse{SessionID: "s"}, nil
				}
				return nil, nil
			}
			ag := agent2.New(near, func(*agent2.Conn) acp2.Agent { return &peertest2.FullAgent{Do: do} }, &agent2.Options{Unstable: true, Logger: a})
			cl := client2.New(far, func(*client2.Conn) acp2.Client { return &peertest2.FullClient{} }, &client2.Options{Unstable: true, Logger: c})
			startBoth(t, ag, cl)
			return func() string {
					_, err := cl.Initialize(t.Context(), &acp2.InitializeRequest{})
					require.NoError(t, err)
					s, err := cl.StartSession(t.Context(), &acp2.NewSessionRequest{Cwd: "/"})
					require.NoError(t, err)
					return string(s.ID())
				}, func(id string) error { return ag.Session(acp2.SessionID(id)).Message(t.Context(), "m", "x") },
				func(id string) error {
					return ag.Session("s").Update(t.Context(), &acp2.SubagentUpdate{SessionID: acp2.SessionID(id)})
				}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var atAgent, atClient bytes.Buffer
				start, send, announce := connect(t, slog.New(slog.NewTextHandler(&atAgent, nil)), slog.New(slog.NewTextHandler(&atClient, nil)))
				open := start()
				require.NoError(t, announce("sub"))
				for _, id := range []string{open, "sub"} {
					require.NoError(t, send(id))
				}
				synctest.Wait()
				assert.Empty(t, atAgent.String())
				assert.Empty(t, atClient.String())
				for range 2 {
					require.NoError(t, send("nope"))
				}
				synctest.Wait()
				assert.Equal(t, 1, strings.Count(atAgent.String(), `level=WARN msg="acp: sent an update that the client may drop" end=agent error="agent: an update of the session \"nope\", which is not open: `), "%s", &atAgent)
				assert.Equal(t, 1, strings.Count(atClient.String(), `level=WARN msg="acp: received an update of a session that is not open: until it is opened, only Client.SessionUpdate sees its updates" end=client session=nope`), "%s", &atClient)

				// Only so many sessions are remembered; nothing is said wrongly of the others.
				atAgent.Reset()
				for i := range 5000 {
					require.NoError(t, announce(fmt.Sprint("sub", i)))
				}
				for i := range 5000 {
					require.NoError(t, send(fmt.Sprint("sub", i)))
				}
				assert.Empty(t, atAgent.String())
			})
		})
	}
}

// startBoth starts two ends, which end with the test.
func startBoth(t *testing.T, conns ...conn) {
	for _, c := range conns {
		require.NoError(t, c.Start(t.Context()))
		t.Cleanup(func() {
			c.Close()
			c.Wait()
		})
	}
}
