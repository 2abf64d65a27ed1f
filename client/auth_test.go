package client_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/rpcerr"
)

func TestAuthenticateAndRetry(t *testing.T) {
	const (
		one      = `[{"id":"key","name":"Key"}]`
		two      = `[{"id":"key","name":"Key"},{"id":"web","name":"Web"}]`
		terminal = `[{"id":"tty","name":"TTY","type":"terminal"}]`
	)
	pick := func(_ context.Context, m []acp.AuthMethod) (acp.AuthMethodID, error) { return "web", nil }
	for _, tt := range []struct {
		name    string
		methods string
		choose  func(context.Context, []acp.AuthMethod) (acp.AuthMethodID, error)
		agent   func(*peertest.Raw)
		want    string // part of the error
		auth    bool   // the error is still ErrAuthRequired
	}{
		{"not needed", one, nil, func(p *peertest.Raw) { p.Answer(p.Expect("session/new"), `{"sessionId":"s"}`) }, "", false},
		{"only method", one, nil, func(p *peertest.Raw) {
			p.Fail(p.Expect("session/new"), -32000, "log in")
			m := p.Expect("authenticate")
			assert.JSONEq(t, `{"methodId":"key"}`, string(m.Params))
			p.Answer(m, `{}`)
			p.Answer(p.Expect("session/new"), `{"sessionId":"s"}`)
		}, "", false},
		{"chosen method", two, pick, func(p *peertest.Raw) {
			p.Fail(p.Expect("session/new"), -32000, "log in")
			m := p.Expect("authenticate")
			assert.JSONEq(t, `{"methodId":"web"}`, string(m.Params))
			p.Answer(m, `{}`)
			p.Answer(p.Expect("session/new"), `{"sessionId":"s"}`)
		}, "", false},
		{"once only", one, nil, func(p *peertest.Raw) {
			p.Fail(p.Expect("session/new"), -32000, "log in")
			p.Answer(p.Expect("authenticate"), `{}`)
			p.Fail(p.Expect("session/new"), -32000, "log in")
		}, "log in", true},
		{"sign-in fails", one, nil, func(p *peertest.Raw) {
			p.Fail(p.Expect("session/new"), -32000, "log in")
			p.Fail(p.Expect("authenticate"), -32603, "no network")
		}, "no network", false},
		{"several", two, nil, func(p *peertest.Raw) { p.Fail(p.Expect("session/new"), -32000, "log in") }, "choose one", true},
		{"terminal only", terminal, nil, func(p *peertest.Raw) { p.Fail(p.Expect("session/new"), -32000, "log in") }, "on a terminal (tty)", true},
		{"none", `[]`, nil, func(p *peertest.Raw) { p.Fail(p.Expect("session/new"), -32000, "log in") }, "no method", true},
		{"another error", one, nil, func(p *peertest.Raw) { p.Fail(p.Expect("session/new"), -32603, "broken") }, "broken", false},
		{"user declines", one, func(context.Context, []acp.AuthMethod) (acp.AuthMethodID, error) {
			return "", errors.New("declined")
		}, func(p *peertest.Raw) { p.Fail(p.Expect("session/new"), -32000, "log in") }, "declined", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, peer := dial(t, &peertest.Client{}, nil)
			done := make(chan struct{})
			go func() { // ends with the script
				defer close(done)
				peer.Answer(peer.Expect("initialize"), `{"protocolVersion":1,"authMethods":`+tt.methods+`}`)
				tt.agent(peer)
			}()
			_, err := c.Initialize(t.Context(), nil)
			require.NoError(t, err)
			var s *client.Session
			err = c.AuthenticateAndRetry(t.Context(), tt.choose, func(ctx context.Context) (err error) {
				s, err = c.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/"})
				return err
			})
			<-done
			assert.Equal(t, tt.auth, errors.Is(err, rpcerr.ErrAuthRequired))
			if tt.want != "" {
				require.ErrorContains(t, err, tt.want)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, acp.SessionID("s"), s.ID())
		})
	}
}
