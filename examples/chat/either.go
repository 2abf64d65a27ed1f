package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/signin"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/draft2/connect"
)

// This file has the differences between the versions of the protocol.

// offer returns what chat offers in each version. In version 1 the host serves files and terminals.
// In version 2 the agent has its own and only asks.
func (c *chat) offer() *connect.Options {
	var terminal *acp2.ClientAuthCapabilities
	if c.settings.url == "" && c.console.tty != nil {
		terminal = &acp2.ClientAuthCapabilities{Terminal: &acp2.TerminalAuthCapabilities{}}
	}
	return &connect.Options{
		Only: map[string]int{"": 1, "1": 1, "2": 2}[c.settings.protocol],
		V1:   c.host.Client,
		InitializeV1: func(served acp.Client) *acp.InitializeRequest {
			caps := c.host.Capabilities(served)
			caps.Session = &acp.ClientSessionCapabilities{Notices: &acp.NoticeCapabilities{}} // no method implies it
			return &acp.InitializeRequest{ClientInfo: &acp.Implementation{Name: "acpkit-chat", Title: "Chat", Version: "1.0.0"}, ClientCapabilities: caps}
		},
		InitializeV2: func(acp2.Client) *acp2.InitializeRequest {
			return &acp2.InitializeRequest{
				Info:         acp2.Implementation{Name: "acpkit-chat", Title: "Chat", Version: "1.0.0"},
				Capabilities: &acp2.ClientCapabilities{Auth: terminal},
			}
		},
		Permission:   c.host.Policy(),
		ConnV1:       &client.Options{Receiving: []acp.Middleware{c.drawing}},
		ConnV2:       &client2.Options{Receiving: []acp2.Middleware{c.drawing}},
		StartTimeout: -1, // an agent may have to be downloaded first
		Logger:       slog.New(slog.NewTextHandler(c.console.err, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
}

// drawing is a middleware that draws after each update, when the thread has it.
func (c *chat) drawing(next acp.Handler) acp.Handler {
	return func(ctx context.Context, method string, params any) (any, error) {
		result, err := next(ctx, method, params)
		id := ""
		switch p := params.(type) {
		case *acp.SessionNotification:
			id = string(p.SessionID)
		case *acp2.UpdateSessionNotification:
			id = string(p.SessionID)
		}
		if v := c.view.Load(); v != nil && v.id == id {
			v.draw()
		}
		return result, err
	}
}

func (c *chat) v1() *client.Conn {
	if c.conn == nil {
		return nil
	}
	return c.conn.V1()
}

// signedIn makes a call, and signs the user in if the agent requires it.
func (c *chat) signedIn(ctx context.Context, call func(context.Context) error) error {
	if conn := c.conn.V1(); conn != nil {
		return c.host.SignIn(ctx, conn, call)
	}
	return c.conn.V2().SignInAndRetry(ctx, func(ctx context.Context, required error) error {
		signed, err := signin.Do(ctx, c.conn, required, c.signIn())
		switch {
		case errors.Is(err, signin.ErrNoWay):
			return errors.Join(err, required)
		case err != nil:
			return err
		case signed.Reconnect:
			return &host.RestartError{Way: signed.Way, Env: signed.Env, Err: required}
		}
		return nil
	}, call)
}
