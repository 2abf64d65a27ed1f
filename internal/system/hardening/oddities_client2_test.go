package hardening_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	acp2 "github.com/acpkit/go-sdk/acp/v2"
	client2 "github.com/acpkit/go-sdk/client/v2"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/rpcerr"
)

// oddClient2 is oddClient in version 2.
type oddClient2 struct {
	t       *testing.T
	conn    *client2.Conn
	peer    *peer
	session *client2.Session
	log     *pairtest.Log

	mu      sync.Mutex // guards all below
	all     []acp2.SessionUpdate
	outside []string // updates that arrived outside a turn
}

func newOddClient2(t *testing.T) *oddClient2 {
	o := &oddClient2{t: t, log: &pairtest.Log{}}
	handler := &testClient2{onUpdate: func(u acp2.SessionUpdate) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.all = append(o.all, u)
	}}
	o.conn, o.peer = startClient2(t, handler, &client2.Options{Logger: slog.New(slog.NewTextHandler(o.log, nil))}, nil)
	do(t, func() (err error) {
		o.session, err = o.conn.StartSession(t.Context(), &acp2.NewSessionRequest{Cwd: "/"})
		return err
	}, func() { o.peer.Answer(o.peer.Expect("session/new"), `{"sessionId":"s1"}`) })
	o.session.OnUpdate(func(_ context.Context, u acp2.SessionUpdate) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.outside = append(o.outside, textOf2(u))
	})
	return o
}

// textOf2 is textOf in version 2.
func textOf2(u acp2.SessionUpdate) string {
	switch u := u.(type) {
	case *acp2.AgentMessageChunk:
		return acp2.PlainText(u.Content)
	case *acp2.SessionStateUpdate:
		return fmt.Sprintf("%T", u.StateUpdate)
	}
	return fmt.Sprintf("%T", u)
}

// seen are the updates that the handler has got.
func (o *oddClient2) seen() []acp2.SessionUpdate {
	o.peer.echo()
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.all
}

// update sends an update of session s1.
func (o *oddClient2) update(fields string) {
	o.peer.SendLines(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{` + fields + `}}}`)
}

func (o *oddClient2) text(text string) {
	o.update(`"sessionUpdate":"agent_message_chunk","messageId":"a","content":{"type":"text","text":"` + text + `"}`)
}

// begins and ends are how a turn begins and ends.
func (o *oddClient2) begins(prompt rawpeer.Message) { o.peer.Answer(prompt, `{"messageId":"u"}`) }

func (o *oddClient2) ends() {
	o.update(`"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"`)
}

// turn runs a turn that play plays, and returns the types or texts of its updates.
func (o *oddClient2) turn(play func(prompt rawpeer.Message)) ([]string, *acp2.IdleStateUpdate, error) {
	o.t.Helper()
	turn := o.session.Prompt(o.t.Context(), acp2.Text("go"))
	play(o.peer.Expect("session/prompt"))
	var got []string
	for u, err := range turn.Updates() {
		if err != nil {
			return got, nil, err
		}
		got = append(got, textOf2(u))
	}
	idle, err := turn.Wait()
	return got, idle, err
}

// call lists sessions, a call as good as any, and returns its error.
func (o *oddClient2) call(play func(m rawpeer.Message)) error {
	o.t.Helper()
	return try(o.t, func() error {
		_, err := o.conn.ListSessions(o.t.Context(), &acp2.ListSessionsRequest{})
		return err
	}, func() { play(o.peer.Expect("session/list")) })
}

const (
	idle2    = "*acp.IdleStateUpdate"
	running2 = "*acp.RunningStateUpdate"
)

// Unusual messages that existing agents of version 2 send, and how a client handles them.
// After each the connection still works, and no error was logged.
var agentOddities2 = map[string]func(t *testing.T, o *oddClient2){
	"answer without id": func(t *testing.T, o *oddClient2) {
		require.NoError(t, o.call(func(m rawpeer.Message) {
			o.peer.SendLines(`{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found"}}`, `{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"},"id":null}`, `{"jsonrpc":"2.0","result":{}}`)
			assert.Empty(t, o.peer.echo(), "it is not answered")
			o.peer.Answer(m, `{"sessions":[]}`)
		}), "nor taken for the answer to something else")
	},
	"answer with its id in another spelling": func(t *testing.T, o *oddClient2) {
		require.NoError(t, o.call(func(m rawpeer.Message) {
			o.peer.Send(`{"jsonrpc":"2.0","id":%s.0,"result":{"sessions":[]}}`, m.ID)
		}))
	},
	"answer twice": func(t *testing.T, o *oddClient2) {
		require.NoError(t, o.call(func(m rawpeer.Message) {
			o.peer.Answer(m, `{"sessions":[]}`)
			o.peer.Answer(m, `{"sessions":[{}]}`)
			o.peer.Send(`{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"x"}}`, m.ID)
		}))
	},
	"ids that overlap, from 0": func(t *testing.T, o *oddClient2) { // claude's requests count from 0
		require.NoError(t, o.call(func(m rawpeer.Message) {
			for _, id := range []string{"0", string(m.ID)} {
				o.peer.Send(`{"jsonrpc":"2.0","id":%s,"method":"_echo","params":1}`, id)
				assert.Equal(t, "ok "+id, o.peer.Next().String())
			}
			o.peer.Answer(m, `{"sessions":[]}`)
		}))
	},
	"ids of all kinds": func(t *testing.T, o *oddClient2) {
		for id, want := range map[string]string{
			`0`: "ok 0", `-1`: "ok -1", `""`: `ok ""`, `"x"`: `ok "x"`, `9007199254740993`: "ok 9007199254740993",
			`1.5`: "-32600 null", `null`: "-32600 null", // refused in this version
		} {
			o.peer.Send(`{"jsonrpc":"2.0","id":%s,"method":"_echo","params":1}`, id)
			assert.Equal(t, want, o.peer.Next().String())
		}
	},
	"update of 600 KB": func(t *testing.T, o *oddClient2) {
		skills := strings.TrimSuffix(strings.Repeat(`{"name":"skill","description":"what it is good for, in a sentence or two","path":"/a/b/c"},`, 6700), ",")
		o.update(`"sessionUpdate":"available_commands_update","availableCommands":[],"_meta":{"availableSkillDetails":[` + skills + `]}`)
		updates := o.seen()
		require.Len(t, updates, 1)
		assert.Len(t, updates[0].(*acp2.AvailableCommandsUpdate).Meta["availableSkillDetails"], 6700)
	},
	"updates before the answer that introduces their session": func(t *testing.T, o *oddClient2) {
		var s *client2.Session
		do(t, func() (err error) {
			s, err = o.conn.StartSession(t.Context(), &acp2.NewSessionRequest{Cwd: "/"})
			return err
		}, func() {
			m := o.peer.Expect("session/new")
			o.peer.SendLines(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s9","update":{"sessionUpdate":"state_update","state":"idle"}}}`,
				`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s9","update":{"sessionUpdate":"session_info_update","title":"early"}}}`)
			o.peer.Answer(m, `{"sessionId":"s9"}`)
		})
		var got []string
		s.OnUpdate(func(_ context.Context, u acp2.SessionUpdate) { got = append(got, textOf2(u)) })
		assert.Equal(t, []string{idle2, "*acp.SessionInfoUpdate"}, got)
	},
	"order of claude: message, response, running": func(t *testing.T, o *oddClient2) {
		got, idle, err := o.turn(func(m rawpeer.Message) {
			o.update(`"sessionUpdate":"user_message","messageId":"u","content":[{"type":"text","text":"go"}]`)
			o.begins(m)
			o.update(`"sessionUpdate":"state_update","state":"running"`)
			o.text("in")
			o.update(`"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn","background":[],"usage":{"totalTokens":3,"inputTokens":1,"outputTokens":2}`)
			o.update(`"sessionUpdate":"session_info_update","title":"t"`) // behind the end
			o.text("late")
		})
		require.NoError(t, err)
		assert.Equal(t, []string{"*acp.UserMessage", running2, "in", idle2}, got)
		assert.NotNil(t, idle.Usage)
		o.peer.echo()
		o.mu.Lock()
		defer o.mu.Unlock()
		assert.Equal(t, []string{"*acp.SessionInfoUpdate", "late"}, o.outside)
	},
	"order of codex: running, message, response": func(t *testing.T, o *oddClient2) {
		got, _, err := o.turn(func(m rawpeer.Message) {
			o.update(`"sessionUpdate":"state_update","state":"running"`)
			o.update(`"sessionUpdate":"user_message_chunk","messageId":"u","content":{"type":"text","text":"go"}`)
			o.begins(m)
			o.text("in")
			o.ends()
		})
		require.NoError(t, err)
		assert.Equal(t, []string{"*acp.UserMessageChunk", "in", idle2}, got)
	},
	"a tool call of which no status but the first and the last is told": func(t *testing.T, o *oddClient2) {
		got, _, err := o.turn(func(m rawpeer.Message) {
			o.begins(m)
			o.update(`"sessionUpdate":"tool_call_update","toolCallId":"t","title":"Preparing file...","status":"pending"`)
			o.update(`"sessionUpdate":"tool_call_update","toolCallId":"t","rawInput":{"a":[1]},"locations":[{"path":"/x","line":null}]`)
			o.update(`"sessionUpdate":"tool_call_update","toolCallId":"t","content":[{"type":"diff","changes":[{"operation":"_chmod","path":"/x","mode":"755"}],"patch":{"format":"git_patch","diff":"x"}}]`)
			o.update(`"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed","rawOutput":"done"`)
			o.ends()
		})
		require.NoError(t, err)
		assert.Equal(t, []string{"*acp.ToolCallUpdate", "*acp.ToolCallUpdate", "*acp.ToolCallUpdate", "*acp.ToolCallUpdate", idle2}, got)
	},
	"permission about nothing": func(t *testing.T, o *oddClient2) {
		o.peer.SendLines(`{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s1","title":"May I?","subject":null,"options":[{"optionId":"no","name":"No","kind":"_never"}]}}`)
		assert.JSONEq(t, `{"outcome":{"outcome":"cancelled"}}`, string(o.peer.Next().Result))
	},
	"permission without options": func(t *testing.T, o *oddClient2) {
		o.peer.SendLines(`{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s1","title":"May I?","options":[]}}`)
		assert.Equal(t, "-32602 0", o.peer.Next().String())
	},
	"a raw validator tree in error.data": func(t *testing.T, o *oddClient2) {
		err := o.call(func(m rawpeer.Message) {
			o.peer.Send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"Invalid params","data":[{"code":"invalid_union","path":["type"]}]}}`, m.ID)
		})
		var said *rpcerr.RequestError
		require.ErrorAs(t, err, &said)
		var v []map[string]any
		require.NoError(t, said.DecodeData(&v))
		assert.Equal(t, "invalid_union", v[0]["code"])
	},
	"codes of programs in use": func(t *testing.T, o *oddClient2) {
		for _, code := range []int{500, -32022, 0, 1, -32000, -32002, -32800, -1 << 31, 1<<31 - 1} {
			err := o.call(func(m rawpeer.Message) {
				o.peer.Send(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"x"}}`, m.ID, code)
			})
			got, ok := rpcerr.CodeOf(err)
			assert.True(t, ok)
			assert.Equal(t, rpcerr.Code(code), got)
		}
	},
	"null where the schema allows it": func(t *testing.T, o *oddClient2) {
		_, idle, err := o.turn(func(m rawpeer.Message) {
			o.peer.Answer(m, `{"messageId":"u","_meta":null}`)
			o.update(`"sessionUpdate":"available_commands_update","availableCommands":[{"name":"c","description":"d","input":null,"_meta":null}],"_meta":null`)
			o.update(`"sessionUpdate":"agent_message","messageId":"a","content":null`)
			o.update(`"sessionUpdate":"session_info_update","title":null,"updatedAt":null`)
			o.update(`"sessionUpdate":"state_update","state":"idle","stopReason":null,"usage":null,"background":null,"_meta":null`)
		})
		require.NoError(t, err)
		assert.Empty(t, idle.StopReason)
		assert.Len(t, o.seen(), 4)
		require.NoError(t, o.call(func(m rawpeer.Message) { o.peer.Answer(m, `{"sessions":[],"nextCursor":null,"_meta":null}`) }))
	},
	"members nobody knows": func(t *testing.T, o *oddClient2) {
		got, idle, err := o.turn(func(m rawpeer.Message) {
			o.peer.Answer(m, `{"stopReason":"end_turn","messageId":"u"}`) // of version 1 too
			o.peer.SendLines(`{"jsonrpc":"2.0","trace":{"a":1},"method":"session/update","params":{"x":[],"sessionId":"s1","update":{"timestamp":17,"content":{"text":"x","z":1,"type":"text"},"messageId":"a","sessionUpdate":"agent_message_chunk"}}}`)
			o.update(`"cost":1,"stopReason":"end_turn","state":"idle","sessionUpdate":"state_update"`)
		})
		require.NoError(t, err)
		assert.Equal(t, []string{"x", idle2}, got)
		assert.Equal(t, acp2.StopReasonEndTurn, idle.StopReason)
	},
	"kinds nobody knows": func(t *testing.T, o *oddClient2) {
		got, idle, err := o.turn(func(m rawpeer.Message) {
			o.begins(m)
			o.update(`"sessionUpdate":"weather_update","sun":true`)
			o.update(`"sessionUpdate":"agent_message_chunk","messageId":"a","content":{"type":"hologram","data":"x"}`)
			o.update(`"sessionUpdate":"state_update","state":"daydreaming","of":"sheep"`) // ends nothing
			o.update(`"sessionUpdate":"state_update","state":"idle","stopReason":"bored","by":["work"]`)
		})
		require.NoError(t, err)
		assert.Equal(t, "*acp.UnknownSessionUpdate", got[0])
		assert.Equal(t, "*acp.OtherStateUpdate", got[2])
		assert.Len(t, got, 4)
		assert.Equal(t, acp2.StopReason("bored"), idle.StopReason)
		assert.JSONEq(t, `["work"]`, string(idle.Extra["by"]))
	},
	"updates of version 1": func(t *testing.T, o *oddClient2) {
		got, _, err := o.turn(func(m rawpeer.Message) {
			o.begins(m)
			o.update(`"sessionUpdate":"tool_call","toolCallId":"t","title":"a"`)
			o.update(`"sessionUpdate":"current_mode_update","currentModeId":"code"`)
			o.ends()
		})
		require.NoError(t, err)
		assert.Equal(t, []string{"*acp.UnknownSessionUpdate", "*acp.UnknownSessionUpdate", idle2}, got)
	},
	"end_turn for a cancelled turn": func(t *testing.T, o *oddClient2) {
		turn := o.session.Prompt(t.Context(), acp2.Text("go"))
		o.begins(o.peer.Expect("session/prompt"))
		_, err := turn.Accepted()
		require.NoError(t, err)
		require.NoError(t, turn.Cancel(t.Context()))
		o.peer.Expect("session/cancel")
		o.ends()
		idle, err := turn.Wait()
		require.NoError(t, err)
		assert.Equal(t, acp2.StopReasonEndTurn, idle.StopReason)
	},
	"extensions and methods of version 1": func(t *testing.T, o *oddClient2) {
		got, _, err := o.turn(func(m rawpeer.Message) {
			o.begins(m)
			o.peer.SendLines(`{"jsonrpc":"2.0","method":"_auth/status_update","params":{"state":"authenticated"}}`, // unasked, from claude and codex
				`{"jsonrpc":"2.0","id":7,"method":"craft/drainMidTurnQueue","params":{"sessionId":"s1"}}`,
				`{"jsonrpc":"2.0","id":8,"method":"fs/read_text_file","params":{"sessionId":"s1","path":"/x"}}`,
				`{"jsonrpc":"2.0","id":9,"method":"terminal/create","params":{"sessionId":"s1","command":"ls"}}`)
			assert.ElementsMatch(t, []string{"-32601 7", "-32601 8", "-32601 9"}, brief(o.peer.said(3)))
			o.text("the turn goes on")
			o.ends()
		})
		require.NoError(t, err)
		assert.Equal(t, []string{"the turn goes on", idle2}, got)
	},
	"methods of the other side": func(t *testing.T, o *oddClient2) {
		o.peer.SendLines(`{"jsonrpc":"2.0","id":7,"method":"session/new","params":{"cwd":"/"}}`, `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}`, `{"jsonrpc":"2.0","id":8,"method":"session/update","params":{}}`)
		assert.ElementsMatch(t, []string{"-32601 7", "-32601 8"}, brief(o.peer.said(2)))
	},
	"members in any order, CRLF, blank lines": func(t *testing.T, o *oddClient2) {
		require.NoError(t, o.call(func(m rawpeer.Message) {
			o.peer.Send("\r\n \r\n{ \"result\" : { \"sessions\" : [ ] } , \"jsonrpc\" : \"2.0\" , \"id\" : %s }\r", m.ID)
		}))
	},
	"null for an empty result": func(t *testing.T, o *oddClient2) {
		require.NoError(t, try(t, func() error {
			_, err := o.conn.CancelToolCall(t.Context(), &acp2.CancelToolCallRequest{SessionID: "s1", ToolCallID: "t"})
			return err
		}, func() { o.peer.Answer(o.peer.Expect("tool_call/cancel"), `null`) }))
	},
}

func TestOdditiesOfAgentsOfVersion2(t *testing.T) {
	for name, test := range agentOddities2 {
		t.Run(name, func(t *testing.T) {
			o := newOddClient2(t)
			test(t, o)
			o.peer.echo()
			assert.NotContains(t, o.log.String(), "level=ERROR")
			assert.NoError(t, o.conn.Err())
		})
	}
}
