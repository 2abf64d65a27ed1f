package ends_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	agent2 "github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	peertest2 "github.com/acpkit/go-sdk/internal/system/peertest/v2"
	"github.com/acpkit/go-sdk/stream"
)

// With Options.CheckIDs, requests fail that name a session, a mode or an option which the agent has
// not sent to the client.
func TestCheckIDs(t *testing.T) {
	const (
		modes   = `"modes":{"currentModeId":"a","availableModes":[{"id":"a","name":"A"}]},`
		options = `"configOptions":[
			{"id":"model","configId":"model","name":"M","type":"select","currentValue":"big","options":[{"value":"big","name":"B"}]},
			{"id":"web","configId":"web","name":"W","type":"boolean","currentValue":true}]`
	)
	for name, start := range map[string]func(s stream.Stream) (conn, map[string]string){
		"version 1": func(s stream.Stream) (conn, map[string]string) {
			a := &peertest.FullAgent{}
			c := agent.New(s, func(*agent.Conn) acp.Agent { return a }, &agent.Options{CheckIDs: true, Unstable: true})
			a.Do = func(ctx context.Context, method string, params any) (any, error) {
				switch method {
				case "session/new":
					return decoded[acp.NewSessionResponse](t, `{"sessionId":"s",`+modes+options+`}`), nil
				case "session/load":
					return decoded[acp.LoadSessionResponse](t, `{`+modes+options+`}`), nil
				case "session/set_config_option":
					return decoded[acp.SetSessionConfigOptionResponse](t, `{`+options+`}`), nil
				case "session/prompt":
					return nil, c.Session("s").SetConfigOptions(ctx)
				}
				return nil, nil
			}
			return c, peertest.Params
		},
		"version 2": func(s stream.Stream) (conn, map[string]string) {
			a := &peertest2.FullAgent{}
			c := agent2.New(s, func(*agent2.Conn) acp2.Agent { return a }, &agent2.Options{CheckIDs: true, Unstable: true})
			a.Do = func(ctx context.Context, method string, params any) (any, error) {
				switch method {
				case "session/new":
					return decoded[acp2.NewSessionResponse](t, `{"sessionId":"s",`+options+`}`), nil
				case "session/resume":
					return decoded[acp2.ResumeSessionResponse](t, `{`+options+`}`), nil
				case "session/set_config_option":
					return decoded[acp2.SetSessionConfigOptionResponse](t, `{`+options+`}`), nil
				case "session/prompt":
					return nil, c.Session("s").SetConfigOptions(ctx)
				}
				return nil, nil
			}
			return c, peertest2.Params
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				near, peer := rawpeer.Pipe(t)
				c, params := start(near)
				rawpeer.Start(t, c)
				call := func(method, params, want string) {
					t.Helper()
					peer.Call("1", method, params)
					m := peer.Next()
					for m.Method == "session/update" {
						m = peer.Next()
					}
					got := ""
					if m.Error != nil {
						got = m.Error.Message
					}
					if got != want {
						t.Errorf("%s %s: %q; want %q", method, params, got, want)
					}
				}
				value := `"value":"big"`
				if name == "version 2" {
					value = `"type":"id",` + value
				}
				set := func(session, option, value, want string) {
					t.Helper()
					call("session/set_config_option", `{"sessionId":"`+session+`","configId":"`+option+`",`+value+`}`, want)
				}
				call("initialize", params["initialize"], "")
				call("session/prompt", params["session/prompt"], "Session not found: s")
				set("s", "model", value, "Session not found: s")
				call("session/new", params["session/new"], "")
				set("other", "model", value, "Session not found: other")
				set("s", "model", value, "")
				set("s", "other", value, `Invalid params: unknown config option "other"`)
				call("session/prompt", params["session/prompt"], "") // lists no options
				set("s", "model", value, `Invalid params: unknown config option "model"`)
				opening := "session/resume"
				if name == "version 1" {
					opening = "session/load"
				}
				for _, end := range []string{"session/close", "session/delete"} {
					call(end, params[end], "")
					call("session/prompt", params["session/prompt"], "Session not found: s")
					call(opening, params[opening], "")
				}
				if name == "version 1" {
					call("session/set_mode", `{"sessionId":"other","modeId":"a"}`, "Session not found: other")
					call("session/set_mode", `{"sessionId":"s","modeId":"a"}`, "")
					call("session/set_mode", `{"sessionId":"s","modeId":"b"}`, `Invalid params: unknown mode "b"`)
				}
			})
		})
	}
}

// With Options.CheckIDs, a session is forked only at a cursor that the agent has sent, and where it allows
// that now.
func TestCheckCursors(t *testing.T) {
	fork, none := acp.Some(acp.CursorCapabilities{Fork: &acp.CursorForkCapabilities{}}), acp.Null[acp.CursorCapabilities]()
	at := &acp.CursorUserMessageAnchor{MessageID: "m", Position: acp.CursorAnchorPositionAfter}
	for name, start := range map[string]func(s stream.Stream) (c conn, send func(acp.CursorUpdate) error, initialize, open string){
		"version 1": func(s stream.Stream) (conn, func(acp.CursorUpdate) error, string, string) {
			c := agent.New(s, func(*agent.Conn) acp.Agent { return &peertest.FullAgent{} }, &agent.Options{CheckIDs: true, Unstable: true})
			return c, func(u acp.CursorUpdate) error { return c.Session("s").Update(t.Context(), &u) }, `{"protocolVersion":1,"clientCapabilities":{"session":{"cursors":{}}}}`, "session/load"
		},
		"version 2": func(s stream.Stream) (conn, func(acp.CursorUpdate) error, string, string) {
			c := agent2.New(s, func(*agent2.Conn) acp2.Agent { return &peertest2.FullAgent{} }, &agent2.Options{CheckIDs: true, Unstable: true})
			return c, func(u acp.CursorUpdate) error {
				return c.Session("s").Update(t.Context(), &acp2.CursorUpdate{CursorID: u.CursorID, Capabilities: u.Capabilities, Anchor: u.Anchor})
			}, `{"protocolVersion":2,"info":{"name":"c","version":"1"}}`, "session/resume"
		},
	} {
		t.Run(name, func(t *testing.T) {
			near, peer := rawpeer.Pipe(t)
			c, send, initialize, open := start(near)
			rawpeer.Start(t, c)
			peer.Call("0", "initialize", initialize)
			peer.Next()
			peer.Call("9", open, `{"sessionId":"s","cwd":"/","mcpServers":[]}`)
			require.Nil(t, peer.Next().Error)
			forks := func(session, cursor string) bool {
				peer.Call("1", "session/fork", `{"sessionId":"`+session+`","cwd":"/","cursorId":"`+cursor+`"}`)
				m := peer.Next()
				return m.Error == nil || !strings.Contains(m.Error.Message, "unknown cursor")
			}
			for _, step := range []struct {
				u    acp.CursorUpdate
				want bool
			}{
				{acp.CursorUpdate{CursorID: "c", Anchor: at}, false},
				{acp.CursorUpdate{CursorID: "c", Capabilities: fork}, true},
				{acp.CursorUpdate{CursorID: "c"}, true},
				{acp.CursorUpdate{CursorID: "other", Anchor: at, Capabilities: fork}, true},
				{acp.CursorUpdate{CursorID: "c", Capabilities: none}, false},
				{acp.CursorUpdate{CursorID: "c", Capabilities: acp.Some(acp.CursorCapabilities{})}, false},
				{acp.CursorUpdate{CursorID: "c", Capabilities: fork}, true},
			} {
				require.NoError(t, send(step.u))
				peer.Next()
				assert.Equal(t, step.want, forks("s", "c"), "%+v", step.u)
			}
			assert.False(t, forks("t", "c"))
			assert.False(t, forks("s", "d"))
		})
	}
}

func decoded[R any](t *testing.T, text string) *R {
	r := new(R)
	if err := json.Unmarshal([]byte(text), r); err != nil {
		t.Error(err)
	}
	return r
}
