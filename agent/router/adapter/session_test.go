package adapter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/agent/router/adapter"
	"github.com/acpkit/go-sdk/rpcerr"
)

// loading is an agent that supports only session/load.
type loading struct {
	*testAgent
	loaded *acp.LoadSessionRequest
	fail   error
}

func (a *loading) LoadSession(ctx context.Context, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	a.loaded = req
	if a.fail != nil {
		return nil, a.fail
	}
	s := a.conn.Session(req.SessionID)
	_ = s.UserMessage(ctx, "first")
	_ = s.UserMessage(ctx, " question")
	_ = s.Thought(ctx, "hm")
	_ = s.Message(ctx, "answer")
	_ = s.UserMessage(ctx, "second")
	_ = s.Title(ctx, "a title")
	_ = s.Commands(ctx, acp.AvailableCommand{Name: "go", Description: "goes", Input: &acp.UnstructuredCommandInput{Hint: "where"}})
	return &acp.LoadSessionResponse{Modes: a.modes}, nil
}

// complete is an agent with all optional session methods.
type complete struct {
	*testAgent
	asked []any
}

func (a *complete) ResumeSession(_ context.Context, req *acp.ResumeSessionRequest) (*acp.ResumeSessionResponse, error) {
	a.asked = append(a.asked, req)
	return nil, nil
}

func (a *complete) ListSessions(_ context.Context, req *acp.ListSessionsRequest) (*acp.ListSessionsResponse, error) {
	a.asked = append(a.asked, req)
	return &acp.ListSessionsResponse{Sessions: []acp.SessionInfo{{SessionID: "old", Cwd: "/old", Title: "Old"}}, NextCursor: "more"}, nil
}

func (a *complete) CloseSession(_ context.Context, req *acp.CloseSessionRequest) (*acp.CloseSessionResponse, error) {
	a.asked = append(a.asked, req)
	return nil, nil
}

func (a *complete) DeleteSession(_ context.Context, req *acp.DeleteSessionRequest) (*acp.DeleteSessionResponse, error) {
	a.asked = append(a.asked, req)
	return nil, nil
}

func notFound(id, session string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32002,"message":"Session not found: ` + session + `","data":{"sessionId":"` + session + `"}}}`
}

const plainIdle = `state_update {"state":"idle","background":[]}`

// The adapter emulates the session methods that the agent lacks, for the sessions of the
// connection.
func TestEmulatedSessionMethods(t *testing.T) {
	a := &testAgent{}
	scene(t, a, a, func(p *testClient) {
		p.call(1, "session/new", `{"cwd":"/b","additionalDirectories":[],"mcpServers":[{"type":"stdio","name":"m","command":"/bin/m","env":[{"name":"A","value":"1"}]},{"type":"http","name":"h","url":"http://h"}]}`)
		p.want(failure(1, -32602, "Invalid params: mcpServers: the agent did not advertise servers of type http"))
		p.call(1, "session/new", `{"cwd":"/b","mcpServers":[{"type":"stdio","name":"m","command":"/bin/m"},{"type":"stdio","name":"m","command":"/bin/n"}]}`)
		p.want(failure(1, -32602, "Invalid params: mcpServers: two servers have the same name"))
		p.call(1, "session/new", `{"cwd":"/b","mcpServers":[{"type":"stdio","name":"m","command":"/bin/m","env":[{"name":"A","value":"1"}]}]}`)
		p.want(result(1, `{"sessionId":"s2"}`))
		p.call(2, "session/new", `{"cwd":"/b","additionalDirectories":["/c"]}`)
		p.want(failure(2, -32602, "Invalid params: additionalDirectories: the agent did not advertise session.additionalDirectories"))
		assert.Equal(t, []acp.MCPServer{&acp.MCPServerStdio{Name: "m", Command: "/bin/m", Args: []string{}, Env: []acp.EnvVariable{{Name: "A", Value: "1"}}}}, a.created.MCPServers)
		require.NoError(t, a.conn.Session("s2").Title(t.Context(), "Two"))
		p.want(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s2","update":{"sessionUpdate":"session_info_update","title":"Two"}}}`)

		p.call(2, "session/list", `{}`)
		p.want(result(2, `{"sessions":[{"sessionId":"s1","cwd":"/"},{"sessionId":"s2","cwd":"/b","title":"Two"}]}`))
		p.call(3, "session/list", `{"cwd":"/b"}`)
		p.want(result(3, `{"sessions":[{"sessionId":"s2","cwd":"/b","title":"Two"}]}`))
		p.call(4, "session/list", `{"cursor":"x"}`)
		p.want(failure(4, -32602, "Invalid params: cursor: unknown"))

		p.call(5, "session/resume", `{"sessionId":"s1","cwd":"/"}`)
		p.want(plainIdle, result(5, `{}`))
		p.call(6, "session/resume", `{"sessionId":"s1","cwd":"/","replayFrom":{"type":"start"}}`)
		p.want(failure(6, -32602, "Invalid params: replayFrom: the agent cannot replay its sessions"))
		p.call(7, "session/resume", `{"sessionId":"s1","cwd":"/","replayFrom":{"type":"middle"}}`)
		p.want(failure(7, -32602, "Invalid params: replayFrom: the agent can replay from the start only"))
		p.call(8, "session/resume", `{"sessionId":"old","cwd":"/"}`)
		p.want(notFound("8", "old"))

		p.call(9, "session/close", `{"sessionId":"old"}`)
		p.want(notFound("9", "old"))
		p.call(10, "session/delete", `{"sessionId":"s1"}`)
		p.want(`{"jsonrpc":"2.0","id":10,"error":{"code":-32601,"message":"Method not found: session/delete","data":{"method":"session/delete"}}}`)
		p.call(11, "session/close", `{"sessionId":"s1"}`)
		p.want(result(11, `{}`))
		require.NoError(t, a.conn.Session("s1").Message(t.Context(), "after the end"))
		p.call(12, "session/close", `{"sessionId":"s1"}`)
		p.want(notFound("12", "s1"))
		p.call(13, "session/resume", `{"sessionId":"s1","cwd":"/"}`)
		p.want(notFound("13", "s1"))
		p.prompt(14, "x")
		p.want(notFound("14", "s1"))
		p.call(15, "session/list", `{}`)
		p.want(result(15, `{"sessions":[{"sessionId":"s2","cwd":"/b","title":"Two"}]}`))
	})
}

// Closing a session ends its turn first, with the last updates. Other requests do not wait for
// that.
func TestCloseDuringATurn(t *testing.T) {
	works := map[string]work{"wait": func(ctx context.Context, a *testAgent, req *acp.PromptRequest) (*acp.PromptResponse, error) {
		<-ctx.Done()
		time.Sleep(time.Second)
		_ = a.conn.Session(req.SessionID).Message(ctx, "last words")
		return nil, ctx.Err()
	}}
	for name, agent := range map[string]func(a *testAgent) acp.Agent{
		"emulated":        func(a *testAgent) acp.Agent { return a },
		"with the method": func(a *testAgent) acp.Agent { return &complete{testAgent: a} },
	} {
		t.Run(name, func(t *testing.T) {
			a := &testAgent{works: works}
			scene(t, agent(a), a, func(p *testClient) {
				p.prompt(1, "wait")
				p.want(userMessage("m1", "wait"), running, result(1, `{"messageId":"m1"}`))
				synctest.Wait()
				begun := time.Now()
				p.call(2, "session/close", `{"sessionId":"s1"}`)
				synctest.Wait()
				p.call(20, "session/new", `{"cwd":"/"}`)
				p.want(result(20, `{"sessionId":"s2"}`))
				assert.Zero(t, time.Since(begun), "another session waited until the turn ended")
				p.want(agentChunk("m2", "last words"), idle("cancelled"), result(2, `{}`))
				p.prompt(3, "wait")
				p.want(notFound("3", "s1"))
			})
		})
	}
}

// A session of an agent with session/load is resumed with or without its history.
func TestResumeByLoad(t *testing.T) {
	own := &testAgent{caps: &acp.AgentCapabilities{
		LoadSession:         true,
		SessionCapabilities: &acp.SessionCapabilities{AdditionalDirectories: &acp.SessionAdditionalDirectoriesCapabilities{}},
	}, modes: &acp.SessionModeState{CurrentModeID: "ask", AvailableModes: []acp.SessionMode{{ID: "ask", Name: "Ask"}}}}
	a := &loading{testAgent: own}
	const (
		options  = `[{"configId":"mode","name":"Mode","category":"mode","type":"select","currentValue":"ask","options":[{"value":"ask","name":"Ask"}]}]`
		commands = `[{"type":"command","name":"go","description":"goes","input":{"type":"text","hint":"where"}}]`
	)
	in := func(update string) string { return inSession("old", update) }
	scene(t, a, own, func(p *testClient) {
		p.call(1, "session/resume", `{"sessionId":"old","cwd":"/old","additionalDirectories":["/more"],"replayFrom":{"type":"start"}}`)
		p.want(
			in(userMessage("m1", "first")),
			in(`user_message_chunk {"messageId":"m1","content":{"type":"text","text":" question"}}`),
			in(`agent_thought {"messageId":"m2","content":[{"type":"text","text":"hm"}]}`),
			in(`agent_message {"messageId":"m3","content":[{"type":"text","text":"answer"}]}`),
			in(userMessage("m4", "second")),
			in(`session_info_update {"title":"a title"}`),
			in(`available_commands_update {"availableCommands":`+commands+`}`),
			in(plainIdle),
			result(1, `{"configOptions":`+options+`,"availableCommands":`+commands+`}`),
		)
		assert.Equal(t, &acp.LoadSessionRequest{SessionID: "old", Cwd: "/old", AdditionalDirectories: []string{"/more"}, MCPServers: []acp.MCPServer{}}, a.loaded)
		p.call(2, "session/list", `{}`)
		p.want(result(2, `{"sessions":[{"sessionId":"s1","cwd":"/"},{"sessionId":"old","cwd":"/old","additionalDirectories":["/more"],"title":"a title"}]}`))

		p.call(3, "session/resume", `{"sessionId":"other","cwd":"/"}`)
		p.want(
			inSession("other", `session_info_update {"title":"a title"}`),
			inSession("other", `available_commands_update {"availableCommands":`+commands+`}`),
			inSession("other", plainIdle),
			result(3, `{"configOptions":`+options+`,"availableCommands":`+commands+`}`),
		)
		a.fail = rpcerr.SessionNotFound("gone")
		p.call(4, "session/resume", `{"sessionId":"gone","cwd":"/","replayFrom":{"type":"start"}}`)
		p.want(notFound("4", "gone"))
	})
}

// storing is an agent that stores its messages with their ids.
type storing struct {
	*testAgent
	stored []acp.SessionUpdate
}

func (a *storing) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	id, ok := adapter.UserMessageID(ctx)
	if !ok {
		return nil, errors.New("the prompt has no id")
	}
	answer := []acp.SessionUpdate{
		&acp.AgentThoughtChunk{MessageID: "t1", Content: acp.Text("hm")},
		&acp.AgentMessageChunk{MessageID: "a1", Content: acp.Text("an")},
		&acp.AgentMessageChunk{MessageID: "a1", Content: acp.Text("swer")},
	}
	for _, u := range answer {
		if err := a.conn.Session(req.SessionID).Update(ctx, u); err != nil {
			return nil, err
		}
	}
	a.stored = append([]acp.SessionUpdate{&acp.UserMessageChunk{MessageID: id, Content: req.Prompt[0]}}, answer...)
	return endTurn()
}

func (a *storing) LoadSession(ctx context.Context, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	for _, u := range a.stored {
		if err := a.conn.Session(req.SessionID).Update(ctx, u); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// When a client resumes a session that it has open, the replay contains each message once, with the
// content that the client has.
func TestReplayOfALiveSession(t *testing.T) {
	a := &storing{testAgent: &testAgent{}}
	scene(t, a, a.testAgent, func(p *testClient) {
		messages := map[string]string{}
		read := func(until string) {
			for !strings.Contains(p.read(), until) {
				var m struct {
					Params acp2.UpdateSessionNotification
				}
				require.NoError(t, json.Unmarshal([]byte(p.last), &m))
				switch u := m.Params.Update.(type) {
				case *acp2.UserMessage:
					content, _ := u.Content.Get()
					messages["user "+string(u.MessageID)] = acp2.PlainText(content...)
				case *acp2.AgentMessage:
					content, _ := u.Content.Get()
					messages["agent "+string(u.MessageID)] = acp2.PlainText(content...)
				case *acp2.AgentThought:
					content, _ := u.Content.Get()
					messages["thought "+string(u.MessageID)] = acp2.PlainText(content...)
				case *acp2.UserMessageChunk:
					messages["user "+string(u.MessageID)] += acp2.PlainText(u.Content)
				case *acp2.AgentMessageChunk:
					messages["agent "+string(u.MessageID)] += acp2.PlainText(u.Content)
				case *acp2.AgentThoughtChunk:
					messages["thought "+string(u.MessageID)] += acp2.PlainText(u.Content)
				}
			}
		}
		p.prompt(1, "hi")
		read(`"idle"`)
		live := maps.Clone(messages)
		require.Len(t, live, 3)
		assert.Equal(t, "hm", live["thought t1"])
		assert.Equal(t, "answer", live["agent a1"])
		for id := 2; id < 4; id++ {
			p.call(id, "session/resume", `{"sessionId":"s1","cwd":"/","replayFrom":{"type":"start"}}`)
			read(fmt.Sprintf(`"id":%d,"result"`, id))
			assert.Equal(t, live, messages)
		}
	})
}

// A session with a turn in progress cannot be loaded, but it can be resumed.
func TestResumeDuringATurn(t *testing.T) {
	own := &testAgent{works: map[string]work{"wait": func(ctx context.Context, a *testAgent, _ *acp.PromptRequest) (*acp.PromptResponse, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}}
	scene(t, &loading{testAgent: own}, own, func(p *testClient) {
		p.prompt(1, "wait")
		p.want(userMessage("m1", "wait"), running, result(1, `{"messageId":"m1"}`))
		synctest.Wait()
		p.call(2, "session/resume", `{"sessionId":"s1","cwd":"/","replayFrom":{"type":"start"}}`)
		p.want(failure(2, -32600, "Invalid request: the session is working on a prompt: cancel it, or resume without replayFrom"))
		p.call(3, "session/resume", `{"sessionId":"s1","cwd":"/"}`)
		p.want(running, result(3, `{}`))
	})
}

// The adapter passes session methods on to an agent that has them.
func TestSessionMethodsOfTheAgent(t *testing.T) {
	own := &testAgent{}
	a := &complete{testAgent: own}
	scene(t, a, own, func(p *testClient) {
		p.call(1, "session/list", `{"cwd":"/old","cursor":"c"}`)
		p.want(result(1, `{"sessions":[{"sessionId":"old","cwd":"/old","title":"Old"}],"nextCursor":"more"}`))
		p.call(6, "session/list", `{"cwd":"old"}`)
		p.want(failure(6, -32602, "Invalid params: cwd: must be an absolute path"))
		p.call(2, "session/list", `{"cursor":""}`)
		p.want(failure(2, -32602, "Invalid params: cursor: unknown"))
		p.call(3, "session/resume", `{"sessionId":"old","cwd":"/old"}`)
		p.want(inSession("old", plainIdle), result(3, `{}`))
		p.call(4, "session/close", `{"sessionId":"old"}`)
		p.want(result(4, `{}`))
		p.call(5, "session/delete", `{"sessionId":"old"}`)
		p.want(result(5, `{}`))
		assert.Equal(t, []any{
			&acp.ListSessionsRequest{Cwd: "/old", Cursor: "c"},
			&acp.ResumeSessionRequest{SessionID: "old", Cwd: "/old"},
			&acp.CloseSessionRequest{SessionID: "old"},
			&acp.DeleteSessionRequest{SessionID: "old"},
		}, a.asked)
	})
}
