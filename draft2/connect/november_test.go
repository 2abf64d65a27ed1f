package connect_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/thread"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/draft2/connect"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

// unstable allows the unstable methods of both versions.
var unstable = &connect.Options{ConnV1: &client.Options{Unstable: true}, ConnV2: &client2.Options{Unstable: true}}

// inits are the responses to initialize in each version, with further capabilities of sessions.
var inits = map[int]string{
	1: `{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{%s}}}`,
	2: `{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{%s}}}`,
}

// to connects to an agent of the version with these capabilities of sessions; then does the rest.
func to(t *testing.T, version int, caps string, then script) *connect.Conn {
	leak.Check(t)
	a := newAgents(t, func(p *rawpeer.Peer) {
		p.Answer(p.Expect("initialize"), fmt.Sprintf(inits[version], caps))
		if then != nil {
			then(p)
		}
		p.ExpectEnd()
	})
	conn, err := connect.Connect(t.Context(), a.dial, unstable)
	require.NoError(t, err)
	require.Equal(t, version, conn.ProtocolVersion())
	return conn
}

// A fork is a session of its own, whose settings and folder are those of the response and of the call.
func TestFork(t *testing.T) {
	for version, c := range map[int]struct{ none, option string }{
		1: {"sessionCapabilities.fork", `"id":"o","name":"O","type":"boolean","currentValue":true`},
		2: {"session.fork", `"configId":"o","name":"O","type":"boolean","currentValue":true`},
	} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			conn := to(t, version, `"fork":{},"options":{},"additionalDirectories":{}`, func(p *rawpeer.Peer) {
				m := p.Expect("session/fork")
				params := asked(t, m)
				assert.Equal(t, "s", params["sessionId"])
				assert.Equal(t, "c", params["cursorId"])
				assert.Equal(t, "/w", params["cwd"])
				assert.Equal(t, []any{"/x"}, params["additionalDirectories"])
				assert.Len(t, params["configOptions"], 1)
				p.Answer(m, `{"sessionId":"f","configOptions":[{`+c.option+`}]}`)
				m = p.Expect("session/fork")
				assert.NotContains(t, asked(t, m), "cursorId")
				p.Fail(m, -32602, "no such session")
			})
			assert.True(t, conn.Features().Fork)
			s, err := conn.ForkSession(t.Context(), "s", &connect.SessionParams{
				Cwd: "/w", AdditionalDirectories: []string{"/x"}, Cursor: "c", Options: []connect.InitialOption{{ID: "o", On: new(true)}},
			})
			require.NoError(t, err)
			assert.Equal(t, "f", s.ID())
			require.Len(t, s.Options(), 1)
			assert.True(t, s.Options()[0].On)
			assert.Same(t, conn.Thread("f"), s.Thread())
			_, err = conn.ForkSession(t.Context(), "s", &connect.SessionParams{Cwd: "/w"})
			assert.ErrorContains(t, err, "no such session")
			end(t, conn)
		})
		t.Run(fmt.Sprint(version, " not advertised"), func(t *testing.T) {
			conn := to(t, version, "", nil)
			assert.False(t, conn.Features().Fork)
			_, err := conn.ForkSession(t.Context(), "s", &connect.SessionParams{Cwd: "/w"})
			var lacks *acp.CapabilityError
			require.ErrorAs(t, err, &lacks)
			assert.Equal(t, c.none, lacks.Capability)
			end(t, conn)
		})
	}
}

// What a session would start with is told without a session, in one form for both versions.
func TestSessionOptions(t *testing.T) {
	for version, c := range map[int]struct {
		none, result string
		options      []string
		commands     []thread.Command
	}{
		1: {"sessionCapabilities.options", `{"modes":{"currentModeId":"slow","availableModes":[{"id":"slow","name":"Slow"}]}}`, []string{connect.ModeOption}, nil},
		2: {"session.options", `{"configOptions":[{"configId":"o","name":"O","type":"boolean","currentValue":true}],"availableCommands":[{"type":"command","name":"web","description":"d"}]}`,
			[]string{"o"}, []thread.Command{{Name: "web", Description: "d"}}},
	} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			conn := to(t, version, `"options":{},"additionalDirectories":{}`, func(p *rawpeer.Peer) {
				m := p.Expect("session/options")
				assert.JSONEq(t, `{"cwd":"/w","additionalDirectories":["/x"]}`, string(m.Params))
				p.Answer(m, c.result)
				m = p.Expect("session/options")
				assert.JSONEq(t, `{"sessionId":"s","cwd":"/w"}`, string(m.Params))
				p.Answer(m, `{}`)
			})
			assert.True(t, conn.Features().SessionOptions)
			options, commands, err := conn.SessionOptions(t.Context(), "", &connect.SessionParams{Cwd: "/w", AdditionalDirectories: []string{"/x"}})
			require.NoError(t, err)
			var ids []string
			for _, o := range options {
				ids = append(ids, o.ID)
			}
			assert.Equal(t, c.options, ids)
			assert.Equal(t, c.commands, commands)
			options, commands, err = conn.SessionOptions(t.Context(), "s", &connect.SessionParams{Cwd: "/w"})
			require.NoError(t, err)
			assert.Empty(t, options)
			assert.Empty(t, commands)
			end(t, conn)
		})
		t.Run(fmt.Sprint(version, " not advertised"), func(t *testing.T) {
			conn := to(t, version, "", nil)
			assert.False(t, conn.Features().SessionOptions)
			_, _, err := conn.SessionOptions(t.Context(), "", &connect.SessionParams{Cwd: "/w"})
			var lacks *acp.CapabilityError
			require.ErrorAs(t, err, &lacks)
			assert.Equal(t, c.none, lacks.Capability)
			end(t, conn)
		})
	}
}

// A skill is called where the agent takes it. It never becomes text.
func TestSkills(t *testing.T) {
	const sent = "from the agent"
	skill, text := `{"type":"skill","name":"review"}`, `{"type":"text","text":"now"}`
	for name, c := range map[string]struct {
		version      int
		caps         string
		first, later string // the error of a prompt that begins with a skill, and of one that has it later
	}{
		"version 1":      {1, "", "version 1 does not have", "version 1 does not have"},
		"not advertised": {2, `"prompt":{"image":{}}`, "session.prompt.skill", "session.prompt.skill"},
		"first":          {2, `"prompt":{"skill":{}}`, sent, "session.prompt.skill.inline"},
		"anywhere":       {2, `"prompt":{"skill":{"inline":{}}}`, sent, sent},
	} {
		t.Run(name, func(t *testing.T) {
			conn := to(t, c.version, c.caps, func(p *rawpeer.Peer) {
				p.Answer(p.Expect("session/new"), `{"sessionId":"s"}`)
				for _, want := range [][2]string{{c.first, skill + "," + text}, {c.later, text + "," + skill}} {
					if want[0] == sent {
						m := p.Expect("session/prompt")
						assert.JSONEq(t, `{"sessionId":"s","prompt":[`+want[1]+`]}`, string(m.Params))
						p.Fail(m, -32603, sent)
					}
				}
			})
			f := conn.Features()
			assert.Equal(t, c.first == sent, f.Skill)
			assert.Equal(t, c.later == sent, f.SkillInline)
			s := startSession(t, conn)
			_, err := s.Prompt(t.Context(), connect.Skill("review"), connect.Text("now")).Wait()
			assert.ErrorContains(t, err, c.first)
			_, err = s.Prompt(t.Context(), connect.Text("now"), connect.Skill("review")).Wait()
			assert.ErrorContains(t, err, c.later)
			end(t, conn)
		})
	}
}
