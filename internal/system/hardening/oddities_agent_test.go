package hardening_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// dialClient returns a client that has not been initialized, and its peer.
func dialClient(t *testing.T) (*peer, *client.Conn) {
	t.Helper()
	p, in, out := newPeer(t)
	c := client.New(stream.Lines(in, out, nil), func(*client.Conn) acp.Client { return &testClient{} }, nil)
	run(t, c, p)
	return p, c
}

// oddAgent is an agent whose client does as clients in use do.
type oddAgent struct {
	t       *testing.T
	conn    *agent.Conn
	peer    *peer
	log     *pairtest.Log
	prompts chan *acp.PromptRequest
}

// promptedAgent is a full agent that passes its prompts on. The prompt "wait" lasts until
// it is cancelled, the response to session/load is empty, and craft/ is unknown to it.
func promptedAgent(prompts chan<- *acp.PromptRequest) *peertest.FullAgent {
	return &peertest.FullAgent{Do: func(ctx context.Context, method string, params any) (any, error) {
		switch p := params.(type) {
		case *acp.LoadSessionRequest:
			return (*acp.LoadSessionResponse)(nil), nil
		case *acp.PromptRequest:
			prompts <- p
			if text, ok := p.Prompt[0].(*acp.TextContent); ok && text.Text == "wait" {
				<-ctx.Done()
				return nil, ctx.Err()
			}
		case json.RawMessage:
			if strings.HasPrefix(method, "craft/") {
				return nil, rpcerr.MethodNotFound(method)
			}
		}
		return nil, nil
	}}
}

func newOddAgent(t *testing.T) *oddAgent {
	o := &oddAgent{t: t, log: &pairtest.Log{}, prompts: make(chan *acp.PromptRequest, 100)}
	o.conn, o.peer = startAgent(t, promptedAgent(o.prompts), &agent.Options{Unstable: true, Logger: slog.New(slog.NewTextHandler(o.log, nil))}, nil)
	return o
}

func (o *oddAgent) request(id, method, params string) {
	o.t.Helper()
	o.peer.Send(`{"jsonrpc":"2.0","id":%s,"method":"%s","params":%s}`, id, method, params)
}

// ask asks the client for permission, and returns the error.
func (o *oddAgent) ask(play func(m rawpeer.Message)) (*acp.RequestPermissionResponse, error) {
	o.t.Helper()
	var res *acp.RequestPermissionResponse
	err := try(o.t, func() (err error) {
		res, err = o.conn.RequestPermission(o.t.Context(), &acp.RequestPermissionRequest{
			SessionID: "s1", ToolCall: acp.ToolCallUpdate{ToolCallID: "t"},
			Options: []acp.PermissionOption{{OptionID: "yes", Name: "Yes", Kind: acp.PermissionOptionKindAllowOnce}},
		})
		return err
	}, func() { play(o.peer.Expect("session/request_permission")) })
	return res, err
}

const selected = `{"outcome":{"outcome":"selected","optionId":"yes"}}`

// Unusual messages that existing clients send, and how an agent handles them.
var clientOddities = map[string]func(t *testing.T, o *oddAgent){
	"answer without id": func(t *testing.T, o *oddAgent) {
		_, err := o.ask(func(m rawpeer.Message) {
			o.peer.SendLines(`{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"}}`, `{"jsonrpc":"2.0","result":{}}`, `{"jsonrpc":"2.0","id":0,"result":{}}`)
			assert.Empty(t, o.peer.echo())
			o.peer.Answer(m, selected)
		})
		require.NoError(t, err)
	},
	"ids of all kinds": func(t *testing.T, o *oddAgent) {
		for _, id := range []string{`0`, `-1`, `1.5`, `1e3`, `""`, `"x"`, `null`, `9007199254740993`, `"\u00e9"`} {
			o.request(id, "session/list", `{}`)
			assert.Equal(t, "ok "+id, o.peer.Next().String())
		}
	},
	"ids that overlap": func(t *testing.T, o *oddAgent) {
		_, err := o.ask(func(m rawpeer.Message) {
			o.request(string(m.ID), "session/list", `{}`)
			assert.Equal(t, fmt.Sprintf("ok %s", m.ID), o.peer.Next().String())
			o.peer.Answer(m, selected)
		})
		require.NoError(t, err)
	},
	"prompt of 600 KB": func(t *testing.T, o *oddAgent) {
		o.request("1", "session/prompt", `{"sessionId":"s1","prompt":[{"type":"text","text":"`+strings.Repeat(`x\n`, 300_000)+`"}]}`)
		assert.Equal(t, "ok 1", o.peer.Next().String())
		assert.Len(t, (<-o.prompts).Prompt[0].(*acp.TextContent).Text, 600_000)
	},
	"no params": func(t *testing.T, o *oddAgent) {
		o.peer.SendLines(`{"jsonrpc":"2.0","id":1,"method":"session/list"}`)
		assert.Equal(t, "ok 1", o.peer.Next().String())
		o.peer.SendLines(`{"jsonrpc":"2.0","id":2,"method":"session/list","params":null}`)
		assert.Equal(t, "ok 2", o.peer.Next().String())
		o.peer.SendLines(`{"jsonrpc":"2.0","id":3,"method":"session/new"}`)
		assert.Equal(t, "-32602 3", o.peer.Next().String())
	},
	"null where the schema allows it": func(t *testing.T, o *oddAgent) {
		o.request("1", "session/prompt", `{"sessionId":"s1","prompt":[{"type":"resource_link","name":"n","uri":"file:///x","mimeType":null,"description":null,"size":null,"title":null,"annotations":{"audience":null,"priority":null,"lastModified":null,"_meta":null},"_meta":null}],"_meta":null,"messageId":null}`)
		assert.Equal(t, "ok 1", o.peer.Next().String())
		o.request("2", "session/list", `{"cwd":null,"cursor":null,"_meta":null}`)
		assert.Equal(t, "ok 2", o.peer.Next().String())
		res, err := o.ask(func(m rawpeer.Message) {
			o.peer.Answer(m, `{"outcome":{"outcome":"selected","optionId":"yes","_meta":null},"_meta":null}`)
		})
		require.NoError(t, err)
		assert.IsType(t, &acp.SelectedPermissionOutcome{}, res.Outcome)
	},
	"members nobody knows": func(t *testing.T, o *oddAgent) {
		o.peer.SendLines(`{"trace":[1],"jsonrpc":"2.0","id":1,"method":"session/new","params":{"models":{},"mcpServers":[{"x":1,"name":"m","command":"/c","args":[],"env":[{"name":"a","value":"b","secret":true}]}],"cwd":"/"}}`)
		assert.Equal(t, "ok 1", o.peer.Next().String())
	},
	"kinds nobody knows": func(t *testing.T, o *oddAgent) {
		o.request("1", "session/prompt", `{"sessionId":"s1","prompt":[{"type":"hologram","data":"x"}]}`)
		assert.Equal(t, "ok 1", o.peer.Next().String())
		assert.IsType(t, &acp.UnknownContentBlock{}, (<-o.prompts).Prompt[0])
		res, err := o.ask(func(m rawpeer.Message) { o.peer.Answer(m, `{"outcome":{"outcome":"postponed"}}`) })
		require.NoError(t, err)
		assert.IsType(t, &acp.UnknownRequestPermissionOutcome{}, res.Outcome)
	},
	"option that was not offered": func(t *testing.T, o *oddAgent) {
		res, err := o.ask(func(m rawpeer.Message) { o.peer.Answer(m, `{"outcome":{"outcome":"selected","optionId":"made up"}}`) })
		if err == nil {
			assert.Equal(t, acp.PermissionOptionID("made up"), res.Outcome.(*acp.SelectedPermissionOutcome).OptionID)
		}
	},
	"error.data of all kinds": func(t *testing.T, o *oddAgent) {
		for _, data := range []string{`{"details":"x"}`, `[{"code":"x"}]`, `"text"`, `7`} {
			_, err := o.ask(func(m rawpeer.Message) {
				o.peer.Send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"x","data":%s}}`, m.ID, data)
			})
			var said *rpcerr.RequestError
			require.ErrorAs(t, err, &said)
			var v any
			assert.NoError(t, said.DecodeData(&v))
		}
	},
	"extensions without underscore": func(t *testing.T, o *oddAgent) {
		o.request("1", "session/prompt", `{"sessionId":"s1","prompt":[{"type":"text","text":"wait"}]}`)
		<-o.prompts
		o.request("7", "craft/drainMidTurnQueue", `{}`)
		o.peer.SendLines(`{"jsonrpc":"2.0","method":"qwen/notify/x","params":{}}`, `{"jsonrpc":"2.0","method":"foo/note"}`)
		assert.Equal(t, "-32601 7", o.peer.Next().String())
		o.peer.SendLines(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`)
		m := o.peer.Next()
		assert.Equal(t, "ok 1", m.String())
		assert.JSONEq(t, `{"stopReason":"cancelled"}`, string(m.Result))
	},
	"cancel of what does not run": func(t *testing.T, o *oddAgent) {
		o.peer.SendLines(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"nobody"}}`, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":99}}`, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{}}`, `{"jsonrpc":"2.0","method":"$/cancel_request"}`, `{"jsonrpc":"2.0","method":"$/progress","params":{}}`)
		assert.Empty(t, o.peer.echo())
	},
	"initialize twice": func(t *testing.T, o *oddAgent) {
		o.request("1", "initialize", `{"protocolVersion":1}`)
		assert.Equal(t, "ok 1", o.peer.Next().String())
	},
	"methods of the other side": func(t *testing.T, o *oddAgent) {
		o.request("1", "fs/read_text_file", `{"sessionId":"s1","path":"/x"}`)
		o.request("2", "session/cancel", `{"sessionId":"s1"}`)
		o.peer.SendLines(`{"jsonrpc":"2.0","method":"session/update","params":{}}`)
		assert.ElementsMatch(t, []string{"-32601 1", "-32601 2"}, brief(o.peer.said(2)))
	},
	"load answered with nothing": func(t *testing.T, o *oddAgent) {
		o.request("1", "session/load", `{"sessionId":"s","cwd":"C:\\work","mcpServers":[],"sessionId2":null}`)
		m := o.peer.Next()
		assert.JSONEq(t, `{}`, string(m.Result), "%s", m.Raw)
	},
}

func TestOdditiesOfClients(t *testing.T) {
	for name, test := range clientOddities {
		t.Run(name, func(t *testing.T) {
			o := newOddAgent(t)
			test(t, o)
			o.peer.echo()
			assert.NotContains(t, o.log.String(), "level=ERROR")
			assert.NoError(t, o.conn.Err())
		})
	}
}

// Whatever version a client asks for, the agent answers its own, in its own shape.
func TestOddVersionsOfClients(t *testing.T) {
	for name, params := range map[string]string{
		"99":           `{"protocolVersion":99,"clientCapabilities":{}}`,
		"0":            `{"protocolVersion":0}`,
		"65535":        `{"protocolVersion":65535}`,
		"2, its shape": `{"protocolVersion":2,"info":{"name":"editor","version":"1"},"capabilities":{"fs":{}}}`,
		"nulls":        `{"protocolVersion":1,"clientCapabilities":null,"clientInfo":null,"_meta":null}`,
		"bad members":  `{"protocolVersion":1,"clientCapabilities":"all","clientInfo":7}`,
	} {
		t.Run(name, func(t *testing.T) {
			p, in, out := newPeer(t)
			c := agent.New(stream.Lines(in, out, nil), func(*agent.Conn) acp.Agent { return &testAgent{} }, nil)
			run(t, c, p)
			p.SendLines(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":` + params + `}`)
			m := p.Next()
			require.Equal(t, "ok 0", m.String(), m.Raw)
			assert.Contains(t, string(m.Result), `"protocolVersion":1`)
			p.echo()
		})
	}
	t.Run("before it", func(t *testing.T) {
		p, in, out := newPeer(t)
		c := agent.New(stream.Lines(in, out, nil), func(*agent.Conn) acp.Agent { return &testAgent{} }, nil)
		run(t, c, p)
		p.SendLines(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`)
		assert.Equal(t, "-32600 1", p.Next().String())
		p.SendLines(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`)
		assert.Equal(t, "ok 0", p.Next().String())
		assert.Equal(t, "ok 1", p.Next().String())
	})
}
