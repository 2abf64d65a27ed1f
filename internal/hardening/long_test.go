package hardening_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/hardening/pairtest"
)

// What was long goes with the message: an idle connection keeps nothing of it, on
// either end, whatever kind of message it was.
func TestLongMessagesAreNotKept(t *testing.T) {
	const size = 4 << 20
	long := func() string { return strings.Repeat("0123456789abcde\n", size/16) }
	do := func(_ context.Context, method string, params any) (any, error) {
		switch {
		case method == acp.MethodFSReadTextFile:
			return &acp.ReadTextFileResponse{Content: long()}, nil
		case method == acp.MethodSessionSetMode:
			return &acp.SetSessionModeResponse{Meta: acp.Meta{"long": long()}}, nil
		}
		return nil, nil
	}
	p := pairtest.Connect(t, pairtest.Setup{
		Agent:  func(*agent.Conn) acp.Agent { return &peertest.FullAgent{Do: do} },
		Client: func(*client.Conn) acp.Client { return &peertest.FullClient{Do: do} },
	})
	ctx := t.Context()
	for name, send := range map[string]func() error{
		"a call": func() error {
			_, err := p.Client.Prompt(ctx, &acp.PromptRequest{SessionID: "s", Prompt: []acp.ContentBlock{acp.Text(long())}})
			return err
		},
		"an answer to the agent": func() error {
			_, err := p.Agent.ReadTextFile(ctx, &acp.ReadTextFileRequest{SessionID: "s", Path: "/f"})
			return err
		},
		"an answer to the client": func() error {
			_, err := p.Client.SetSessionMode(ctx, &acp.SetSessionModeRequest{SessionID: "s", ModeID: "m"})
			return err
		},
		"a notification": func() error {
			if err := p.Agent.SessionUpdate(ctx, &acp.SessionNotification{SessionID: "s", Update: acp.AgentText(long())}); err != nil {
				return err
			}
			_, err := p.Client.SetSessionMode(ctx, &acp.SetSessionModeRequest{SessionID: "s", ModeID: "m"}) // behind it
			return err
		},
		"an extension": func() error {
			return p.Client.Call(ctx, "_x", map[string]string{"long": long()}, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, send()) // what is allocated once
			kept := grown(func() {
				for range 4 {
					require.NoError(t, send())
				}
				// What has just arrived may not be let go yet by the goroutine that wrote it.
				for range 2 {
					require.NoError(t, p.Client.Call(ctx, "_x", "", nil))
				}
			})
			assert.Less(t, kept, 1.0, "MiB")
		})
	}
}
