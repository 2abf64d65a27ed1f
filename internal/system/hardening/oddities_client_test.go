package hardening_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/rpcerr"
)

// oddClient is a client with a session, whose agent does as agents in use do.
type oddClient struct {
	t       *testing.T
	conn    *client.Conn
	peer    *peer
	handler *testClient
	session *client.Session
	log     *pairtest.Log
	outside []string // updates that arrived while no turn ran
	mu      sync.Mutex
}

func newOddClient(t *testing.T) *oddClient {
	o := &oddClient{t: t, handler: &testClient{}, log: &pairtest.Log{}}
	o.conn, o.peer = startClient(t, o.handler, &client.Options{Logger: slog.New(slog.NewTextHandler(o.log, nil))}, nil)
	o.session = openSession(t, o.conn, o.peer)
	o.session.OnUpdate(func(_ context.Context, u acp.SessionUpdate) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.outside = append(o.outside, textOf(u))
	})
	o.handler.Take()
	return o
}

// update sends an update of session s1.
func (o *oddClient) update(fields string) {
	o.peer.SendLines(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{` + fields + `}}}`)
}

func (o *oddClient) text(text string) {
	o.update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + `"}`)
}

// turn runs a turn that play answers, and returns the types or texts of its updates.
func (o *oddClient) turn(play func(prompt rawpeer.Message)) ([]string, *acp.PromptResponse, error) {
	o.t.Helper()
	turn := o.session.Prompt(o.t.Context(), acp.Text("go"))
	play(o.peer.Expect("session/prompt"))
	var got []string
	for u, err := range turn.Updates() {
		if err != nil {
			return got, nil, err
		}
		got = append(got, textOf(u))
	}
	res, err := turn.Wait()
	return got, res, err
}

// end answers a prompt.
func (o *oddClient) end(prompt rawpeer.Message) { o.peer.Answer(prompt, `{"stopReason":"end_turn"}`) }

// call lists sessions, a call as good as any, and returns its error.
func (o *oddClient) call(play func(m rawpeer.Message)) error {
	o.t.Helper()
	return try(o.t, func() error {
		_, err := o.conn.ListSessions(o.t.Context(), &acp.ListSessionsRequest{})
		return err
	}, func() { play(o.peer.Expect("session/list")) })
}

// Unusual messages that existing agents send, and how a client handles them. After each
// the connection still works, and no error was logged.
var agentOddities = map[string]func(t *testing.T, o *oddClient){
	"answer without id": func(t *testing.T, o *oddClient) {
		require.NoError(t, o.call(func(m rawpeer.Message) {
			o.peer.SendLines(`{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"}}`, `{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":null}`, `{"jsonrpc":"2.0","result":{}}`)
			assert.Empty(t, o.peer.echo(), "it is not answered")
			o.peer.Answer(m, `{"sessions":[]}`)
		}), "nor taken for the answer to something else")
	},
	"answer with id 0": func(t *testing.T, o *oddClient) {
		require.NoError(t, o.call(func(m rawpeer.Message) {
			o.peer.SendLines(`{"jsonrpc":"2.0","id":0,"result":{"sessions":[{}]}}`)
			o.peer.Answer(m, `{"sessions":[]}`)
		}))
	},
	"answer with its id in another spelling": func(t *testing.T, o *oddClient) {
		require.NoError(t, o.call(func(m rawpeer.Message) {
			o.peer.Send(`{"jsonrpc":"2.0","id":%s.0,"result":{"sessions":[]}}`, m.ID)
		}))
	},
	"answer twice": func(t *testing.T, o *oddClient) {
		require.NoError(t, o.call(func(m rawpeer.Message) {
			o.peer.Answer(m, `{"sessions":[]}`)
			o.peer.Answer(m, `{"sessions":[{}]}`)
			o.peer.Send(`{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"x"}}`, m.ID)
		}))
	},
	"ids that overlap": func(t *testing.T, o *oddClient) {
		require.NoError(t, o.call(func(m rawpeer.Message) {
			o.peer.Send(`{"jsonrpc":"2.0","id":%s,"method":"_echo","params":1}`, m.ID)
			assert.Equal(t, fmt.Sprintf("ok %s", m.ID), o.peer.Next().String())
			o.peer.Answer(m, `{"sessions":[]}`)
			o.peer.Send(`{"jsonrpc":"2.0","id":%s,"method":"_echo","params":1}`, m.ID)
			assert.Equal(t, fmt.Sprintf("ok %s", m.ID), o.peer.Next().String())
		}))
	},
	"ids of all kinds": func(t *testing.T, o *oddClient) {
		for _, id := range []string{`0`, `-1`, `1.5`, `1e3`, `""`, `"x"`, `null`, `9007199254740993`} {
			o.peer.Send(`{"jsonrpc":"2.0","id":%s,"method":"_echo","params":1}`, id)
			assert.Equal(t, "ok "+id, o.peer.Next().String())
		}
	},
	"update of 600 KB": func(t *testing.T, o *oddClient) {
		skills := strings.TrimSuffix(strings.Repeat(`{"name":"skill","description":"what it is good for, in a sentence or two","path":"/a/b/c"},`, 6700), ",")
		line := `"sessionUpdate":"available_commands_update","availableCommands":[],"_meta":{"availableSkillDetails":[` + skills + `]}`
		require.Greater(t, len(line), 580_000)
		o.update(line)
		o.peer.echo()
		updates := o.handler.Take()
		require.Len(t, updates, 1)
		assert.Len(t, updates[0].(*acp.AvailableCommandsUpdate).Meta["availableSkillDetails"], 6700, "read as deep as it is")
	},
	"update before the answer that introduces its session": func(t *testing.T, o *oddClient) {
		var s *client.Session
		do(t, func() (err error) {
			s, err = o.conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
			return err
		}, func() {
			m := o.peer.Expect("session/new")
			o.peer.SendLines(string(appendUpdate(nil, "s9", "early")))
			o.peer.Answer(m, `{"sessionId":"s9"}`)
		})
		var got []string
		s.OnUpdate(func(_ context.Context, u acp.SessionUpdate) { got = append(got, textOf(u)) })
		assert.Equal(t, []string{"early"}, got)
	},
	"update behind the answer to the prompt": func(t *testing.T, o *oddClient) {
		got, _, err := o.turn(func(m rawpeer.Message) {
			o.text("in")
			o.end(m)
			o.text("late")
			o.update(`"sessionUpdate":"session_info_update","title":"t"`)
		})
		require.NoError(t, err)
		assert.Equal(t, []string{"in"}, got)
		o.peer.echo()
		o.mu.Lock()
		defer o.mu.Unlock()
		assert.Equal(t, []string{"late", "*acp.SessionInfoUpdate"}, o.outside)
	},
	"update of a session nobody knows": func(t *testing.T, o *oddClient) {
		o.peer.SendLines(string(appendUpdate(nil, "nobody", "x")))
		o.peer.echo()
		assert.Len(t, o.handler.Take(), 1)
	},
	"tool_call_update for a call never announced": func(t *testing.T, o *oddClient) {
		got, _, err := o.turn(func(m rawpeer.Message) {
			o.update(`"sessionUpdate":"tool_call_update","toolCallId":"never","status":"completed","content":null,"locations":null`)
			o.end(m)
		})
		require.NoError(t, err)
		assert.Equal(t, []string{"*acp.ToolCallUpdate"}, got)
	},
	"tool call announced twice": func(t *testing.T, o *oddClient) {
		got, _, err := o.turn(func(m rawpeer.Message) {
			o.update(`"sessionUpdate":"tool_call","toolCallId":"t","title":"a"`)
			o.update(`"sessionUpdate":"tool_call","toolCallId":"t","title":"a"`)
			o.end(m)
		})
		require.NoError(t, err)
		assert.Len(t, got, 2)
	},
	"permission for a call never announced": func(t *testing.T, o *oddClient) {
		_, _, err := o.turn(func(m rawpeer.Message) {
			o.peer.SendLines(`{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"never","locations":[{"path":"/x","line":null}]},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"}]}}`)
			answer := o.peer.Next()
			assert.JSONEq(t, `{"outcome":{"outcome":"selected","optionId":"yes"}}`, string(answer.Result))
			o.end(m)
		})
		require.NoError(t, err)
	},
	"error.data of all kinds": func(t *testing.T, o *oddClient) {
		for _, data := range []string{`{"details":"x"}`, `[{"code":"invalid_type","path":["cwd"]}]`, `"text"`, `7`, `true`, `null`} {
			err := o.call(func(m rawpeer.Message) {
				o.peer.Send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"Internal error","data":%s,"more":1}}`, m.ID, data)
			})
			var said *rpcerr.RequestError
			require.ErrorAs(t, err, &said)
			var v any
			if data == "null" {
				assert.Nil(t, said.Data)
				continue
			}
			require.NoError(t, said.DecodeData(&v))
			again, err := json.Marshal(v)
			require.NoError(t, err)
			assert.JSONEq(t, data, string(again))
		}
	},
	"codes of programs in use": func(t *testing.T, o *oddClient) {
		for _, code := range []int{500, -32022, 0, 1, -32000, -32002, -1 << 31, 1<<31 - 1} {
			err := o.call(func(m rawpeer.Message) {
				o.peer.Send(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"x"}}`, m.ID, code)
			})
			got, ok := rpcerr.CodeOf(err)
			assert.True(t, ok)
			assert.Equal(t, rpcerr.Code(code), got)
		}
	},
	"error message of 48 KB": func(t *testing.T, o *oddClient) {
		err := o.call(func(m rawpeer.Message) {
			o.peer.Send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"%s"}}`, m.ID, strings.Repeat("x", 48<<10))
		})
		var said *rpcerr.RequestError
		require.ErrorAs(t, err, &said)
		assert.Len(t, said.Message, 48<<10)
	},
	"null where the schema allows it": func(t *testing.T, o *oddClient) {
		_, res, err := o.turn(func(m rawpeer.Message) {
			o.update(`"sessionUpdate":"available_commands_update","availableCommands":[{"name":"c","description":"d","input":null,"_meta":null}],"_meta":null`)
			o.update(`"sessionUpdate":"tool_call","toolCallId":"t","title":"a","kind":null,"status":null,"content":null,"locations":[{"path":"/x","line":null,"_meta":null}],"rawInput":null`)
			o.update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x","annotations":null,"_meta":null},"messageId":null`)
			o.update(`"sessionUpdate":"session_info_update","title":null,"updatedAt":null`)
			o.peer.Answer(m, `{"stopReason":"end_turn","usage":null,"_meta":null}`)
		})
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonEndTurn, res.StopReason)
		assert.Len(t, o.handler.Take(), 4)
		require.NoError(t, o.call(func(m rawpeer.Message) { o.peer.Answer(m, `{"sessions":[],"nextCursor":null,"_meta":null}`) }))
	},
	"members nobody knows": func(t *testing.T, o *oddClient) {
		got, res, err := o.turn(func(m rawpeer.Message) {
			o.peer.SendLines(`{"jsonrpc":"2.0","trace":{"a":1},"method":"session/update","params":{"x":[],"sessionId":"s1","update":{"timestamp":17,"content":{"text":"x","z":1,"type":"text"},"sessionUpdate":"agent_message_chunk"}}}`)
			o.peer.Answer(m, `{"models":{"availableModels":[]},"stopReason":"end_turn"}`)
		})
		require.NoError(t, err)
		assert.Equal(t, []string{"x"}, got)
		assert.Equal(t, acp.StopReasonEndTurn, res.StopReason)
	},
	"kinds nobody knows": func(t *testing.T, o *oddClient) {
		got, res, err := o.turn(func(m rawpeer.Message) {
			o.update(`"sessionUpdate":"weather_update","sun":true`)
			o.update(`"sessionUpdate":"agent_message_chunk","content":{"type":"hologram","data":"x"}`)
			o.peer.Answer(m, `{"stopReason":"bored"}`)
		})
		require.NoError(t, err)
		assert.Equal(t, "*acp.UnknownSessionUpdate", got[0])
		assert.Len(t, got, 2)
		assert.Equal(t, acp.StopReason("bored"), res.StopReason)
	},
	"end_turn for a cancelled turn": func(t *testing.T, o *oddClient) {
		ctx, cancel := context.WithCancel(t.Context())
		turn := o.session.Prompt(ctx, acp.Text("go"))
		m := o.peer.Expect("session/prompt")
		cancel()
		o.peer.Expect("session/cancel")
		o.end(m)
		res, err := turn.Wait()
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonEndTurn, res.StopReason)
	},
	"extensions without underscore": func(t *testing.T, o *oddClient) {
		got, _, err := o.turn(func(m rawpeer.Message) {
			o.peer.SendLines(`{"jsonrpc":"2.0","id":7,"method":"craft/drainMidTurnQueue","params":{"sessionId":"s1"}}`, `{"jsonrpc":"2.0","method":"qwen/notify/session/prompt-suggestion","params":{"sessionId":"s1"}}`)
			assert.Equal(t, "-32601 7", o.peer.Next().String())
			o.text("the turn goes on")
			o.end(m)
		})
		require.NoError(t, err)
		assert.Equal(t, []string{"the turn goes on"}, got)
	},
	"methods of the other side": func(t *testing.T, o *oddClient) {
		o.peer.SendLines(`{"jsonrpc":"2.0","id":7,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`, `{"jsonrpc":"2.0","id":8,"method":"session/update","params":{}}`, `{"jsonrpc":"2.0","method":"fs/read_text_file","params":{}}`)
		assert.ElementsMatch(t, []string{"-32601 7", "-32601 8"}, brief(o.peer.said(2)))
	},
	"members in any order, CRLF, blank lines": func(t *testing.T, o *oddClient) {
		require.NoError(t, o.call(func(m rawpeer.Message) {
			o.peer.Send("\r\n \r\n{ \"result\" : { \"sessions\" : [ ] } , \"jsonrpc\" : \"2.0\" , \"id\" : %s }\r", m.ID)
		}))
	},
	"null for an empty result": func(t *testing.T, o *oddClient) {
		require.NoError(t, try(t, func() error {
			_, err := o.conn.SetSessionMode(t.Context(), &acp.SetSessionModeRequest{SessionID: "s1", ModeID: "m"})
			return err
		}, func() { o.peer.Answer(o.peer.Expect("session/set_mode"), `null`) }))
	},
}

func TestOdditiesOfAgents(t *testing.T) {
	for name, test := range agentOddities {
		t.Run(name, func(t *testing.T) {
			o := newOddClient(t)
			test(t, o)
			o.peer.echo()
			assert.NotContains(t, o.log.String(), "level=ERROR")
			assert.NoError(t, o.conn.Err())
		})
	}
}

// Answers to initialize that are not ours end in an error that says so.
func TestOddVersionsOfAgents(t *testing.T) {
	for name, answer := range map[string]string{
		"99":           `{"protocolVersion":99}`,
		"0":            `{"protocolVersion":0,"agentCapabilities":{}}`,
		"2, its shape": `{"protocolVersion":2,"info":{"name":"codex","version":"2.6"},"capabilities":{"sessions":{}},"authMethods":[{"methodId":"chatgpt","name":"ChatGPT"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			p, c := dialClient(t)
			err := try(t, func() error {
				_, err := c.Initialize(t.Context(), nil)
				return err
			}, func() { p.Answer(p.Expect("initialize"), answer) })
			var version *acp.VersionError
			require.ErrorAs(t, err, &version, "%v", err)
			assert.ErrorContains(t, err, "this client supports version 1")
			p.echo()
		})
	}
}
