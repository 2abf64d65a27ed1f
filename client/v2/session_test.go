package client_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/client/v2"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/rpcerr"
)

// The replay of a resume goes to the function given to it, in order and before the call
// returns, and begins and ends no turn.
func TestResumeWithReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &viewer{}
		_, peer := open(t, v, `{"session":{}}`, nil)
		sendUpdate(peer, "early")
		synctest.Wait()
		var got []string
		done := make(chan *client.Session, 1)
		go func() { // ends with the response
			s, err := v.conn.StartResumedSession(t.Context(), &acp.ResumeSessionRequest{
				SessionID: "s1", Cwd: "/", ReplayFrom: &acp.ReplayFromStart{},
			}, func(_ context.Context, u acp.SessionUpdate) { got = append(got, updateText(u)) })
			assert.NoError(t, err)
			got = append(got, "returned")
			done <- s
		}()
		m := peer.Expect("session/resume")
		assert.JSONEq(t, `{"sessionId":"s1","cwd":"/","replayFrom":{"type":"start"}}`, string(m.Params))
		for _, line := range []string{"echo u1", "old words", "idle end_turn"} {
			sendUpdate(peer, line)
		}
		synctest.Wait()
		early := v.conn.Session("s1").Prompt(t.Context(), acp.Text("during the replay"))
		prompt := peer.Expect("session/prompt")
		for _, line := range []string{"echo u2", "running", "idle"} {
			sendUpdate(peer, line)
		}
		peer.Answer(m, `{"configOptions":[],"availableCommands":[{"type":"command","name":"web","description":"d"}]}`)
		s := <-done
		assert.Equal(t, []string{"echo u1", "old words", "idle end_turn", "echo u2", "running", "idle", "returned"}, got, "and not what came before")
		assert.IsType(t, &acp.IdleStateUpdate{}, s.State())
		assert.Len(t, s.Commands(), 1)

		peer.Answer(prompt, `{"messageId":"u3"}`)
		sendUpdate(peer, "running")
		synctest.Wait()
		assert.IsType(t, &acp.RunningStateUpdate{}, s.State())
		_, err := v.conn.StartResumedSession(t.Context(), &acp.ResumeSessionRequest{SessionID: "s1", Cwd: "/", ReplayFrom: &acp.ReplayFromStart{}}, nil)
		assert.ErrorIs(t, err, acp.ErrTurnRunning)
		sendUpdate(peer, "new words")
		sendUpdate(peer, "idle end_turn")
		text, err := early.Text()
		require.NoError(t, err)
		assert.Equal(t, "new words", text)
		assert.Len(t, got, 7, "the turn's updates are its own")
	})
}

// A resume without a replay keeps the function of the session, unless it has another one.
func TestResumeWithoutReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &viewer{}
		s, peer := session(t, v, nil)
		var got []string
		note := func(name string) func(context.Context, acp.SessionUpdate) {
			return func(_ context.Context, u acp.SessionUpdate) { got = append(got, name+" "+updateText(u)) }
		}
		s.OnUpdate(note("first"))
		resume := func(f func(context.Context, acp.SessionUpdate), fails bool) {
			go func() { // ends with the response
				m := peer.Expect("session/resume")
				sendUpdate(peer, "idle")
				if fails {
					peer.Fail(m, -32002, "unknown")
				} else {
					peer.Answer(m, `{}`)
				}
			}()
			again, err := v.conn.StartResumedSession(t.Context(), &acp.ResumeSessionRequest{SessionID: "s1", Cwd: "/"}, f)
			if fails {
				assert.ErrorIs(t, err, rpcerr.ErrResourceNotFound)
			} else if assert.NoError(t, err) {
				assert.Same(t, s, again)
			}
		}
		resume(nil, false)
		resume(note("failed"), true)
		resume(note("second"), false)
		sendUpdate(peer, "late")
		synctest.Wait()
		assert.Equal(t, []string{"first idle", "first idle", "first idle", "second late"}, got)
	})
}

// Settings in updates before the response to session/new are newer than those of the response.
func TestStateBeforeTheSessionIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &viewer{}
		conn, peer := open(t, v, `{"session":{}}`, nil)
		go func() { // ends with the response
			m := peer.Expect("session/new")
			sendUpdate(peer, "running")
			peer.Notify("session/update", `{"sessionId":"s1","update":{"sessionUpdate":"available_commands_update","availableCommands":[]}}`)
			peer.Answer(m, `{"sessionId":"s1","availableCommands":[{"type":"command","name":"web","description":"d"}],
				"configOptions":[{"type":"boolean","configId":"c","name":"C","currentValue":true}]}`)
		}()
		s, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
		require.NoError(t, err)
		assert.IsType(t, &acp.RunningStateUpdate{}, s.State())
		assert.Empty(t, s.Commands())
		assert.Len(t, s.ConfigOptions(), 1)
		var got []string
		s.OnUpdate(func(_ context.Context, u acp.SessionUpdate) { got = append(got, updateText(u)) })
		assert.Equal(t, []string{"running", "AvailableCommandsUpdate"}, got)
	})
}

// Close ends the turns: those in progress with the state that the agent reports before it
// responds, and those that it refuses with -32800.
func TestCloseASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &viewer{}
		s, peer := session(t, v, nil)
		var closed []acp.SessionID
		v.conn.OnSessionEnd(func(id acp.SessionID) { closed = append(closed, id) })
		begun, held := s.Prompt(t.Context(), acp.Text("1")), s.Prompt(t.Context(), acp.Text("2"))
		peer.Answer(peer.Expect("session/prompt"), `{"messageId":"u1"}`)
		second := peer.Expect("session/prompt")
		go func() { // ends with the response
			m := peer.Expect("session/close")
			peer.Fail(second, -32800, "Request cancelled")
			sendUpdate(peer, "the last words")
			sendUpdate(peer, "idle cancelled")
			peer.Answer(m, `{}`)
		}()
		require.NoError(t, s.Close(t.Context()))
		assert.Equal(t, "the last words, idle cancelled -> cancelled", outcomeOf(begun))
		assert.Equal(t, "-> -32800", outcomeOf(held))
		assert.Equal(t, []acp.SessionID{"s1"}, closed)
		_, err := s.Prompt(t.Context(), acp.Text("3")).Accepted()
		assert.ErrorIs(t, err, client.ErrSessionClosed)
	})
}

// Without the state idle, the response to the close ends the turns.
func TestCloseWithoutAnIdleState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &viewer{}
		s, peer := session(t, v, nil)
		begun, held := s.Prompt(t.Context(), acp.Text("1")), s.Prompt(t.Context(), acp.Text("2"))
		peer.Answer(peer.Expect("session/prompt"), `{"messageId":"u1"}`)
		second := peer.Expect("session/prompt")
		go func() { // ends with the response
			peer.Answer(peer.Expect("session/close"), `{}`)
		}()
		require.NoError(t, s.Close(t.Context()))
		_, err := begun.Wait()
		assert.ErrorIs(t, err, client.ErrSessionClosed)
		peer.Answer(second, `{"messageId":"u2"}`)
		_, err = held.Wait()
		assert.ErrorIs(t, err, client.ErrSessionClosed)
		_, err = held.Accepted()
		assert.NoError(t, err)
	})
}

// A session that the agent no longer knows is closed, and deleted.
func TestEndOfAnUnknownSession(t *testing.T) {
	for method, end := range map[string]func(*client.Session, context.Context) error{
		"session/close": (*client.Session).Close, "session/delete": (*client.Session).Delete,
	} {
		synctest.Test(t, func(t *testing.T) {
			s, peer := session(t, &viewer{}, nil)
			go func() { peer.Fail(peer.Expect(method), -32002, "Resource not found") }() // ends with the response
			require.NoError(t, end(s, t.Context()))
			_, err := s.Prompt(t.Context(), acp.Text("1")).Wait()
			assert.ErrorIs(t, err, client.ErrSessionClosed)
		})
	}
}

// A response without the id of the session or message is malformed.
func TestResponsesWithoutAnID(t *testing.T) {
	v := &viewer{}
	s, peer := session(t, v, nil)
	for _, result := range []string{`{}`, `{"sessionId":""}`} {
		go func() { peer.Answer(peer.Expect("session/new"), result) }() // ends with the response
		_, err := v.conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
		require.ErrorAs(t, err, new(*acp.InvalidError), result)
		assert.ErrorContains(t, err, "sessionId", result)
	}
	go func() { peer.Answer(peer.Expect("session/prompt"), `{"messageId":""}`) }() // ends with the response
	_, err := s.Prompt(t.Context(), acp.Text("hi")).Accepted()
	assert.ErrorAs(t, err, new(*acp.InvalidError))
}

// The empty string is a cursor like any other, and a cursor must not repeat itself.
func TestSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, peer := open(t, &viewer{}, `{"session":{}}`, nil)
		page := func(want, id, next string) {
			m := peer.Expect("session/list")
			assert.JSONEq(t, want, string(m.Params))
			peer.Answer(m, fmt.Sprintf(`{"sessions":[{"sessionId":%q,"cwd":"/"}]%s}`, id, next))
		}
		list := func(req *acp.ListSessionsRequest) (ids []acp.SessionID, failed error) {
			for s, err := range conn.Sessions(t.Context(), req) {
				if err != nil {
					return ids, err
				}
				ids = append(ids, s.SessionID)
			}
			return ids, nil
		}
		go func() { // ends with the third page
			page(`{"cwd":"/x"}`, "a", `,"nextCursor":""`)
			page(`{"cwd":"/x","cursor":""}`, "b", `,"nextCursor":"c2"`)
			page(`{"cwd":"/x","cursor":"c2"}`, "c", `,"nextCursor":null`)
		}()
		req := &acp.ListSessionsRequest{Cwd: "/x"}
		ids, err := list(req)
		require.NoError(t, err)
		assert.Equal(t, []acp.SessionID{"a", "b", "c"}, ids)
		assert.Nil(t, req.Cursor)

		go func() { // ends with the second page
			page(`{}`, "a", `,"nextCursor":""`)
			page(`{"cursor":""}`, "b", `,"nextCursor":""`)
		}()
		ids, err = list(nil)
		assert.ErrorContains(t, err, `the cursor ""`)
		assert.Len(t, ids, 2)
	})
}

// A call that the agent does not support is not sent.
func TestCapabilities(t *testing.T) {
	start := func(mutate func(*acp.NewSessionRequest)) func(context.Context, *client.Conn) error {
		return func(ctx context.Context, c *client.Conn) error {
			req := &acp.NewSessionRequest{Cwd: "/"}
			mutate(req)
			_, err := c.StartSession(ctx, req)
			return err
		}
	}
	prompt := func(block acp.ContentBlock) func(context.Context, *client.Conn) error {
		return func(ctx context.Context, c *client.Conn) error {
			_, err := c.Session("s1").Prompt(ctx, block).Wait()
			return err
		}
	}
	for name, tt := range map[string]struct {
		caps, missing string
		call          func(context.Context, *client.Conn) error
	}{
		"no sessions": {`{}`, "session", start(func(*acp.NewSessionRequest) {})},
		"list": {`{}`, "session", func(ctx context.Context, c *client.Conn) error {
			_, err := c.ListSessions(ctx, nil)
			return err
		}},
		"folders": {`{"session":{}}`, "session.additionalDirectories", start(func(r *acp.NewSessionRequest) { r.AdditionalDirectories = []acp.AbsolutePath{"/a"} })},
		"stdio": {`{"session":{"mcp":{"http":{}}}}`, "session.mcp.stdio", start(func(r *acp.NewSessionRequest) {
			r.MCPServers = []acp.MCPServer{&acp.MCPServerStdio{Name: "m", Command: "/m"}}
		})},
		"http": {`{"session":{"mcp":{"stdio":{}}}}`, "session.mcp.http", start(func(r *acp.NewSessionRequest) {
			r.MCPServers = []acp.MCPServer{&acp.MCPServerHTTP{Name: "m", URL: "http://m"}}
		})},
		"system prompt": {`{"session":{"systemPrompt":{}}}`, "session.systemPrompt.mode.override",
			start(func(r *acp.NewSessionRequest) { r.SystemPrompt = &acp.SystemPrompt{Mode: acp.SystemPromptModeOverride} })},
		"image":    {`{"session":{"prompt":{"audio":{}}}}`, "session.prompt.image", prompt(&acp.ImageContent{Data: "", MIMEType: "image/png"})},
		"audio":    {`{"session":{"prompt":{"image":{}}}}`, "session.prompt.audio", prompt(&acp.AudioContent{Data: "", MIMEType: "audio/wav"})},
		"resource": {`{"session":{"prompt":{}}}`, "session.prompt.embeddedContext", prompt(&acp.EmbeddedResource{Resource: &acp.TextResourceContents{URI: "file:///a"}})},
		"delete":   {`{"session":{}}`, "session.delete", func(ctx context.Context, c *client.Conn) error { return c.Session("s1").Delete(ctx) }},
		"close":    {`{}`, "session", func(ctx context.Context, c *client.Conn) error { return c.Session("s1").Close(ctx) }},
	} {
		t.Run(name, func(t *testing.T) {
			conn, _ := open(t, &viewer{}, tt.caps, &client.Options{Unstable: true})
			var missing *acp.CapabilityError
			require.ErrorAs(t, tt.call(t.Context(), conn), &missing)
			assert.Equal(t, tt.missing, missing.Capability)
		})
	}
}

// The settings of a session follow the responses and the updates.
func TestConfigOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, peer := session(t, &viewer{}, nil)
		options := func(on bool) string {
			return fmt.Sprintf(`{"configOptions":[{"type":"boolean","configId":"c","name":"C","currentValue":%v}]}`, on)
		}
		answer := func(want, response string) func() {
			return func() { // ends with the response
				m := peer.Expect("session/set_config_option")
				assert.JSONEq(t, want, string(m.Params))
				peer.Answer(m, response)
			}
		}
		go answer(`{"sessionId":"s1","configId":"c","type":"boolean","value":true}`, options(true))()
		require.NoError(t, s.SetConfigOptionBool(t.Context(), "c", true))
		assert.Equal(t, on(true), s.ConfigOptions())
		go answer(`{"sessionId":"s1","configId":"c","type":"id","value":"v"}`, options(false))()
		require.NoError(t, s.SetConfigOption(t.Context(), "c", "v"))
		assert.Equal(t, on(false), s.ConfigOptions())
		peer.Notify("session/update", `{"sessionId":"s1","update":{"sessionUpdate":"config_option_update",`+options(true)[1:]+`}`)
		synctest.Wait()
		assert.Equal(t, on(true), s.ConfigOptions())
	})
}

func on(value bool) []acp.SessionConfigOption {
	return []acp.SessionConfigOption{{ConfigID: "c", Name: "C", Kind: &acp.SessionConfigBoolean{CurrentValue: value}}}
}

// The text of a turn that stops early is returned with an error.
func TestTextOfATurnThatStops(t *testing.T) {
	for reason, want := range map[string]error{
		"end_turn": nil, "refusal": &client.StopError{Reason: acp.StopReasonRefusal}, "cancelled": &client.StopError{Reason: acp.StopReasonCancelled},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, peer := session(t, &viewer{}, nil)
			go func() { // ends with the end of the turn
				peer.Answer(peer.Expect("session/prompt"), `{"messageId":"u1"}`)
				sendUpdate(peer, "half of")
				sendUpdate(peer, "idle "+reason)
			}()
			text, err := s.Prompt(t.Context(), acp.Text("hi")).Text()
			assert.Equal(t, "half of", text)
			assert.Equal(t, want, err)
		})
	}
}

// The sessions that an agent may ask about: those that are open or being opened, and the
// subagents of those.
func TestHasSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, peer := open(t, &viewer{}, `{"session":{"delete":{}}}`, nil)
		subagent := func(by, id string) {
			peer.Notify("session/update", `{"sessionId":"`+by+`","update":{"sessionUpdate":"subagent_update","sessionId":"`+id+`"}}`)
			synctest.Wait()
		}
		subagent("s1", "early")
		assert.False(t, conn.HasSession("s1"))
		assert.False(t, conn.HasSession("early"))

		opened := make(chan error, 1)
		go func() { // ends with the response
			_, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
			opened <- err
		}()
		m := peer.Expect("session/new")
		assert.True(t, conn.HasSession("s1"), "any id may be that of the new session")
		peer.Answer(m, `{"sessionId":"s1"}`)
		require.NoError(t, <-opened)
		assert.True(t, conn.HasSession("s1"))
		assert.False(t, conn.HasSession("s2"))
		subagent("s1", "child")
		assert.True(t, conn.HasSession("child"))

		closed := make(chan error, 1)
		go func() { closed <- conn.Session("s1").Close(t.Context()) }() // ends with the response
		peer.Answer(peer.Expect("session/close"), `{}`)
		require.NoError(t, <-closed)
		assert.False(t, conn.HasSession("s1"))
	})
}

// A form or page of a session that is not open is refused.
func TestFormsOfUnknownSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		viewer := &elicitor{}
		pipe, peer := rawpeer.Pipe(t)
		conn := rawpeer.Start(t, client.New(pipe, func(*client.Conn) acp.Client { return viewer }, nil))
		go func() { // ends with the responses
			peer.Answer(peer.Expect("initialize"), initialized(`{"session":{}}`))
			peer.Answer(peer.Expect("session/new"), `{"sessionId":"s1"}`)
		}()
		_, err := conn.Initialize(t.Context(), nil)
		require.NoError(t, err)
		_, err = conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
		require.NoError(t, err)
		synctest.Wait()
		for i, c := range []struct {
			scope string
			shown bool
		}{
			{`"sessionId":"s2"`, false},
			{`"sessionId":"s1"`, true},
			{`"requestId":7`, true},
			{`"sessionId":"child"`, true},
		} {
			if i == 3 {
				peer.Notify("session/update", `{"sessionId":"s1","update":{"sessionUpdate":"subagent_update","sessionId":"child"}}`)
			}
			for j, mode := range []string{`"mode":"form","requestedSchema":{"type":"object","properties":{}}`, `"mode":"url","elicitationId":"e","url":"https://x.test"`} {
				before := viewer.forms.Load()
				peer.Call(fmt.Sprint(10*i+j), "elicitation/create", `{`+c.scope+`,"message":"who?",`+mode+`}`)
				m, ok := peer.Recv()
				require.True(t, ok)
				assert.Equal(t, c.shown, viewer.forms.Load() > before, c.scope)
				if c.shown {
					assert.Nil(t, m.Error, c.scope)
				} else if assert.NotNil(t, m.Error, c.scope) {
					assert.Equal(t, -32602, m.Error.Code)
				}
			}
		}
	})
}
