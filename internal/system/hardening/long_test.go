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
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	pairtest2 "github.com/acpkit/go-sdk/internal/system/hardening/pairtest/v2"
	peertest2 "github.com/acpkit/go-sdk/internal/system/peertest/v2"
)

// longText is the text of a long message.
func longText() string { return strings.Repeat("0123456789abcde\n", 4<<20/16) }

// An idle connection keeps nothing of a long message of any kind, at either end.
func TestLongMessagesAreNotKept(t *testing.T) {
	for version, connect := range map[string]func(*testing.T) (sends map[string]func() error, idle func() error){
		"version 1": longMessages, "version 2": longMessages2,
	} {
		sends, idle := connect(t)
		for name, send := range sends {
			t.Run(version+", "+name, func(t *testing.T) {
				require.NoError(t, send()) // what is allocated once
				kept := grown(func() {
					for range 4 {
						require.NoError(t, send())
					}
					// What has just arrived may not be let go yet by the goroutine that wrote it.
					for range 2 {
						require.NoError(t, idle())
					}
				})
				assert.Less(t, kept, 1.0, "MiB")
			})
		}
	}
}

// longMessages connects two ends, and returns how they send long messages.
func longMessages(t *testing.T) (sends map[string]func() error, idle func() error) {
	do := func(_ context.Context, method string, params any) (any, error) {
		switch {
		case method == acp.MethodFSReadTextFile:
			return &acp.ReadTextFileResponse{Content: longText()}, nil
		case method == acp.MethodSessionSetMode:
			return &acp.SetSessionModeResponse{Meta: acp.Meta{"long": longText()}}, nil
		}
		return nil, nil
	}
	p := pairtest.Connect(t, pairtest.Setup{
		Agent:  func(*agent.Conn) acp.Agent { return &peertest.FullAgent{Do: do} },
		Client: func(*client.Conn) acp.Client { return &peertest.FullClient{Do: do} },
	})
	ctx := t.Context()
	return map[string]func() error{
		"a call": func() error {
			return pairtest.Err(p.Client.Prompt(ctx, &acp.PromptRequest{SessionID: "s", Prompt: []acp.ContentBlock{acp.Text(longText())}}))
		},
		"an answer to the agent": func() error {
			return pairtest.Err(p.Agent.ReadTextFile(ctx, &acp.ReadTextFileRequest{SessionID: "s", Path: "/f"}))
		},
		"an answer to the client": func() error {
			return pairtest.Err(p.Client.SetSessionMode(ctx, &acp.SetSessionModeRequest{SessionID: "s", ModeID: "m"}))
		},
		"a notification": func() error {
			if err := p.Agent.SessionUpdate(ctx, &acp.SessionNotification{SessionID: "s", Update: acp.AgentText(longText())}); err != nil {
				return err
			}
			_, err := p.Client.SetSessionMode(ctx, &acp.SetSessionModeRequest{SessionID: "s", ModeID: "m"}) // behind it
			return err
		},
		"an extension": func() error {
			return p.Client.Call(ctx, "_x", map[string]string{"long": longText()}, nil)
		},
	}, func() error { return p.Client.Call(ctx, "_x", "", nil) }
}

// longMessages2 is longMessages in version 2.
func longMessages2(t *testing.T) (sends map[string]func() error, idle func() error) {
	do := func(_ context.Context, method string, params any) (any, error) {
		switch method {
		case acp2.MethodSessionRequestPermission:
			return &acp2.RequestPermissionResponse{Outcome: &acp2.CancelledPermissionOutcome{}, Meta: acp2.Meta{"long": longText()}}, nil
		case acp2.MethodSessionSetTitle:
			return &acp2.SetSessionTitleResponse{Meta: acp2.Meta{"long": longText()}}, nil
		}
		return nil, nil
	}
	p := pairtest2.Connect(t, pairtest2.Setup{
		Agent: func(c *agent2.Conn) acp2.Agent {
			return &peertest2.FullAgent{Do: func(ctx context.Context, method string, params any) (any, error) {
				if req, ok := params.(*acp2.PromptRequest); ok { // the prompt comes back as a message
					return c.Session(req.SessionID).Accept(ctx, req, func(context.Context) (acp2.StopReason, error) { return "", nil })
				}
				return do(ctx, method, params)
			}}
		},
		Client: func(*client2.Conn) acp2.Client { return &peertest2.FullClient{Do: do} },
	})
	ctx := t.Context()
	s, err := p.Client.StartSession(ctx, &acp2.NewSessionRequest{Cwd: "/"})
	require.NoError(t, err)
	title := func() error {
		return pairtest.Err(p.Client.SetSessionTitle(ctx, &acp2.SetSessionTitleRequest{SessionID: "s", Title: "t"}))
	}
	return map[string]func() error{
		"a turn": func() error { return pairtest.Err(s.Prompt(ctx, acp2.Text(longText())).Wait()) },
		"an answer to the agent": func() error {
			return pairtest.Err(p.Agent.RequestPermission(ctx, &acp2.RequestPermissionRequest{SessionID: "s", Title: "t", Options: []acp2.PermissionOption{{OptionID: "o", Name: "n", Kind: acp2.PermissionOptionKindAllowOnce}}}))
		},
		"an answer to the client": title,
		"a notification": func() error {
			if err := p.Agent.Session("s").Message(ctx, "m", longText()); err != nil {
				return err
			}
			return title() // behind it
		},
		"an extension": func() error {
			return p.Client.Call(ctx, "_x", map[string]string{"long": longText()}, nil)
		},
	}, func() error { return p.Client.Call(ctx, "_x", "", nil) }
}
