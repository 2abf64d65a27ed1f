package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/rpcerr"
)

func TestSignInAndRetry(t *testing.T) {
	const (
		one      = `[{"id":"key","name":"Key"}]`
		two      = `[{"id":"key","name":"Key"},{"id":"web","name":"Web"}]`
		terminal = `[{"id":"tty","name":"TTY","type":"terminal"}]`
		unknown  = `[{"id":"env","name":"Key","type":"env_var","vars":[{"name":"KEY"}]}]`
	)
	pick := func(ctx context.Context, c *client.Conn, required error) error {
		assert.ErrorContains(t, required, "log in")
		_, err := c.Authenticate(ctx, &acp.AuthenticateRequest{MethodID: "web"})
		return err
	}
	for _, tt := range []struct {
		name    string
		methods string
		choose  func(context.Context, *client.Conn, error) error
		agent   func(*rawpeer.Peer)
		want    string // part of the error text
		auth    bool   // the error is still ErrAuthRequired
	}{
		{"not needed", one, nil, func(p *rawpeer.Peer) { p.Answer(p.Expect("session/new"), `{"sessionId":"s"}`) }, "", false},
		{"only method", one, nil, func(p *rawpeer.Peer) {
			p.Fail(p.Expect("session/new"), -32000, "log in")
			m := p.Expect("authenticate")
			assert.JSONEq(t, `{"methodId":"key"}`, string(m.Params))
			p.Answer(m, `{}`)
			p.Answer(p.Expect("session/new"), `{"sessionId":"s"}`)
		}, "", false},
		{"chosen method", two, pick, func(p *rawpeer.Peer) {
			p.Fail(p.Expect("session/new"), -32000, "log in")
			m := p.Expect("authenticate")
			assert.JSONEq(t, `{"methodId":"web"}`, string(m.Params))
			p.Answer(m, `{}`)
			p.Answer(p.Expect("session/new"), `{"sessionId":"s"}`)
		}, "", false},
		{"once only", one, nil, func(p *rawpeer.Peer) {
			p.Fail(p.Expect("session/new"), -32000, "log in")
			p.Answer(p.Expect("authenticate"), `{}`)
			p.Fail(p.Expect("session/new"), -32000, "log in")
		}, "log in", true},
		{"sign-in fails", one, nil, func(p *rawpeer.Peer) {
			p.Fail(p.Expect("session/new"), -32000, "log in")
			p.Fail(p.Expect("authenticate"), -32603, "no network")
		}, "no network", false},
		{"several", two, nil, func(p *rawpeer.Peer) { p.Fail(p.Expect("session/new"), -32000, "log in") }, "choose one", true},
		{"terminal only", terminal, nil, func(p *rawpeer.Peer) { p.Fail(p.Expect("session/new"), -32000, "log in") }, "on a terminal (tty)", true},
		{"of unknown kinds", unknown, nil, func(p *rawpeer.Peer) { p.Fail(p.Expect("session/new"), -32000, "log in") }, `"env_var"`, true},
		{"none", `[]`, nil, func(p *rawpeer.Peer) { p.Fail(p.Expect("session/new"), -32000, "log in") }, "no method", true},
		{"another error", one, nil, func(p *rawpeer.Peer) { p.Fail(p.Expect("session/new"), -32603, "broken") }, "broken", false},
		{"user declines", one, func(_ context.Context, _ *client.Conn, required error) error {
			return errors.Join(errors.New("declined"), required)
		}, func(p *rawpeer.Peer) { p.Fail(p.Expect("session/new"), -32000, "log in") }, "declined", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, peer := dial(t, &peertest.Client{}, nil)
			var played sync.WaitGroup
			played.Go(func() { // ends with the script
				peer.Answer(peer.Expect("initialize"), `{"protocolVersion":1,"authMethods":`+tt.methods+`}`)
				tt.agent(peer)
			})
			_, err := c.Initialize(t.Context(), nil)
			require.NoError(t, err)
			var s *client.Session
			var signIn func(context.Context, error) error
			if tt.choose != nil {
				signIn = func(ctx context.Context, required error) error { return tt.choose(ctx, c, required) }
			}
			err = c.SignInAndRetry(t.Context(), signIn, func(ctx context.Context) (err error) {
				s, err = c.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/"})
				return err
			})
			played.Wait()
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

// A prompt that may have had an effect is not sent again.
func TestSignInAndRetryOfPrompts(t *testing.T) {
	read := func(p *rawpeer.Peer, session string) {
		p.Call(`"r"`, "fs/read_text_file", `{"sessionId":"`+session+`","path":"/x"}`)
		p.Recv()
	}
	for _, tt := range []struct {
		name   string
		before func(p *rawpeer.Peer) // sends messages before the response
		again  bool
		opts   *client.Options
	}{
		{"nothing sent", func(*rawpeer.Peer) {}, true, nil},
		{"an update", func(p *rawpeer.Peer) { p.Update("s", "working") }, false, nil},
		{"a request", func(p *rawpeer.Peer) { read(p, "s") }, false, nil},
		{"an extension", func(p *rawpeer.Peer) { p.Call(`"x"`, "_x/run", `{}`); p.Recv() }, false, nil},
		{"a request that nobody handles", func(p *rawpeer.Peer) { p.Call(`"x"`, "terminal/create", `{}`); p.Recv() }, false, nil},
		{"a request with bad params", func(p *rawpeer.Peer) { p.Call(`"x"`, "fs/read_text_file", `{}`); p.Recv() }, false, nil},
		{"an update that is dropped", func(p *rawpeer.Peer) { p.Notify("session/update", `{"sessionId":"s","update":{}}`) }, false, nil},
		{"an update of another session", func(p *rawpeer.Peer) { p.Update("other", "working") }, true, nil},
		{"an update that a middleware keeps", func(p *rawpeer.Peer) { p.Update("s", "working") }, false,
			&client.Options{Receiving: []acp.Middleware{func(acp.Handler) acp.Handler {
				return func(context.Context, string, any) (any, error) { return nil, nil }
			}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, peer := dial(t, &fileReader{}, tt.opts)
			var played sync.WaitGroup
			played.Go(func() { // ends with the script
				peer.Answer(peer.Expect("initialize"), `{"protocolVersion":1,"authMethods":[{"id":"key","name":"Key"}]}`)
				m := peer.Expect("session/prompt")
				tt.before(peer)
				peer.Fail(m, -32000, "log in")
				if tt.again {
					peer.Answer(peer.Expect("authenticate"), `{}`)
					m := peer.Expect("session/prompt")
					peer.Update("s", "the second call may do anything")
					peer.Answer(m, `{"stopReason":"end_turn"}`)
				}
			})
			_, err := c.Initialize(t.Context(), nil)
			require.NoError(t, err)
			calls := 0
			err = c.SignInAndRetry(t.Context(), nil, func(ctx context.Context) error {
				calls++
				_, err := c.Prompt(ctx, &acp.PromptRequest{SessionID: "s", Prompt: []acp.ContentBlock{acp.Text("pay the bill")}})
				return err
			})
			played.Wait()
			if tt.again {
				require.NoError(t, err)
				assert.Equal(t, 2, calls)
				return
			}
			assert.ErrorIs(t, err, rpcerr.ErrAuthRequired)
			assert.Equal(t, 1, calls)
		})
	}
}

// fileReader is a client that reads files and knows extensions.
type fileReader struct{ peertest.Client }

func (*fileReader) ReadTextFile(context.Context, *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	return &acp.ReadTextFileResponse{Content: "x"}, nil
}

func (*fileReader) HandleExtension(context.Context, string, json.RawMessage) (any, error) {
	return struct{}{}, nil
}
