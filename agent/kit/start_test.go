package kit_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/rpcerr"
)

func selectOf(values ...string) (list []acp.SessionConfigSelectOption) {
	for _, v := range values {
		list = append(list, acp.SessionConfigSelectOption{Value: acp.SessionConfigValueID(v), Name: v})
	}
	return list
}

// starting returns an agent with a mode and a setting, which says what its session has.
func starting(unstable bool, store journal.Store) *kit.Agent {
	return kit.New(&kit.Options{
		Modes:    kit.Modes{{ID: "ask", Name: "Ask"}, {ID: "auto", Name: "Auto"}},
		Settings: kit.Settings{{ID: "model", Name: "Model", Default: "large", Values: selectOf("small", "large")}},
		Conn:     &agent.Options{Unstable: unstable}, Store: store,
		Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
			return "", s.Text(ctx, fmt.Sprint(s.Mode(), " ", s.Setting("model")))
		},
	})
}

// values returns the values of options.
func valuesOf(options []acp.SessionConfigOption) (all []string) {
	for _, o := range options {
		all = append(all, string(o.Kind.(*acp.SessionConfigSelect).CurrentValue))
	}
	return all
}

func initial(id, value string) acp.InitialSessionConfigOption {
	return acp.InitialSessionConfigOption{ConfigID: acp.SessionConfigID(id), Value: &acp.SessionConfigValue{Value: acp.SessionConfigValueID(value)}}
}

// The values that a client chooses hold from the start of the session on and are stored. What the agent does
// not have is ignored, and the response tells what holds.
func TestInitialValues(t *testing.T) {
	store := new(journal.Memory)
	u := connect(t, starting(true, store))
	on := acp.InitialSessionConfigOption{ConfigID: "model", Value: &acp.SessionConfigBooleanValue{Value: true}}
	for name, tt := range map[string]struct {
		values []acp.InitialSessionConfigOption
		want   []string
	}{
		"none":            {nil, []string{"ask", "large"}},
		"both":            {[]acp.InitialSessionConfigOption{initial("model", "small"), initial("mode", "auto")}, []string{"auto", "small"}},
		"twice":           {[]acp.InitialSessionConfigOption{initial("model", "small"), initial("model", "large")}, []string{"ask", "large"}},
		"unknown setting": {[]acp.InitialSessionConfigOption{initial("speed", "fast"), initial("model", "small")}, []string{"ask", "small"}},
		"unknown value":   {[]acp.InitialSessionConfigOption{initial("model", "huge"), initial("mode", "yolo")}, []string{"ask", "large"}},
		"another type":    {[]acp.InitialSessionConfigOption{on}, []string{"ask", "large"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			res, err := u.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: dir, ConfigOptions: tt.values})
			require.NoError(t, err)
			assert.Equal(t, tt.want, valuesOf(res.ConfigOptions))
			assert.EqualValues(t, tt.want[0], res.Modes.CurrentModeID)
			u.ask(res.SessionID, "what?")
			assert.Contains(t, shown(u.set.Thread(res.SessionID).Snapshot()), "agent: "+tt.want[0]+" "+tt.want[1])

			again, err := u.ResumeSession(t.Context(), &acp.ResumeSessionRequest{SessionID: res.SessionID, Cwd: dir})
			require.NoError(t, err)
			assert.Equal(t, tt.want, valuesOf(again.ConfigOptions), "it was stored")
			loaded, err := u.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: res.SessionID, Cwd: dir, ConfigOptions: []acp.InitialSessionConfigOption{initial("mode", "auto"), initial("x", "y")}})
			require.NoError(t, err)
			assert.Equal(t, []string{"auto", tt.want[1]}, valuesOf(loaded.ConfigOptions))
		})
	}
}

// session/options tells what a session would start with, and opens none.
func TestSessionOptions(t *testing.T) {
	store := new(journal.Memory)
	u := connect(t, starting(true, store))
	ask := func(id acp.SessionID) ([]string, error) {
		res, err := u.SessionOptions(t.Context(), &acp.SessionOptionsRequest{Cwd: "/w", SessionID: id})
		if err != nil {
			return nil, err
		}
		assert.EqualValues(t, valuesOf(res.ConfigOptions)[0], res.Modes.CurrentModeID)
		return valuesOf(res.ConfigOptions), nil
	}
	got, err := ask("")
	require.NoError(t, err)
	assert.Equal(t, []string{"ask", "large"}, got)
	list, err := u.ListSessions(t.Context(), &acp.ListSessionsRequest{})
	require.NoError(t, err)
	assert.Empty(t, list.Sessions)

	res, err := u.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: t.TempDir(), ConfigOptions: []acp.InitialSessionConfigOption{initial("model", "small")}})
	require.NoError(t, err)
	got, err = ask(res.SessionID)
	require.NoError(t, err, "of an open session")
	assert.Equal(t, []string{"ask", "small"}, got)
	_, err = u.CloseSession(t.Context(), &acp.CloseSessionRequest{SessionID: res.SessionID})
	require.NoError(t, err)
	for range 2 { // the log is closed again
		got, err = ask(res.SessionID)
		require.NoError(t, err)
		assert.Equal(t, []string{"ask", "small"}, got)
	}
	_, err = ask("unknown")
	assert.ErrorIs(t, err, rpcerr.ErrSessionNotFound)
	u.load(res.SessionID)
}

// Without unstable methods nothing of this is advertised, and values are ignored.
func TestNoInitialValues(t *testing.T) {
	u := connect(t, starting(false, nil))
	_, err := u.SessionOptions(t.Context(), &acp.SessionOptionsRequest{Cwd: "/w"})
	missing, ok := errors.AsType[*acp.CapabilityError](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, "sessionCapabilities.options", missing.Capability)
}

// Suggestions reach a client that shows them, replace each other, and are no history.
func TestSuggest(t *testing.T) {
	for name, caps := range map[string]*acp.ClientCapabilities{
		"shown":     {Session: &acp.ClientSessionCapabilities{PromptSuggestions: &acp.PromptSuggestionsCapabilities{}}},
		"not shown": nil,
	} {
		t.Run(name, func(t *testing.T) {
			u := connectAs(t, kit.New(&kit.Options{Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
				return "", errors.Join(s.Text(ctx, "done"), s.Suggest(ctx, "old"), s.Suggest(ctx, "Run the tests", "Commit"))
			}}), caps, func(s *peertest.Client) acp.Client { return s })
			id := u.open()
			u.ask(id, "one")
			var want []thread.Suggestion
			if caps != nil {
				for _, text := range []string{"Run the tests", "Commit"} {
					want = append(want, thread.Suggestion{Prompt: []thread.Block{{Type: thread.BlockText, Text: text}}})
				}
			}
			assert.Equal(t, want, u.set.Thread(id).Snapshot().Suggestions)
			u.load(id)
			assert.Empty(t, u.set.Thread(id).Snapshot().Suggestions)
		})
	}
}

// The sessions of a folder are found however the client writes it.
func TestFoldersWithASeparatorAtTheEnd(t *testing.T) {
	u := connect(t, kit.New(&kit.Options{Turn: echo, Store: new(journal.Memory)}))
	for _, folder := range []string{"/work", "/work/", `C:\work\`} {
		_, err := u.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: folder})
		require.NoError(t, err)
	}
	for folder, want := range map[string]int{"/work": 2, "/work//": 2, "/": 0, `C:\work`: 1, `C:\`: 0, `/work\`: 0} {
		list, err := u.ListSessions(t.Context(), &acp.ListSessionsRequest{Cwd: folder})
		require.NoError(t, err)
		assert.Len(t, list.Sessions, want, folder)
	}
}

// No session has a folder that is not absolute, and an empty list would not say so. Our client sends no such
// request, so this one writes its lines.
func TestFoldersThatAreNotAbsolute(t *testing.T) {
	ours, served := peertest.Dial(kit.New(&kit.Options{Turn: echo, Store: new(journal.Memory)}).Serve)
	t.Cleanup(func() { _ = ours.Close(); <-served })
	call := func(method, params string) string {
		require.NoError(t, ours.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)))
		response, err := ours.Read()
		require.NoError(t, err)
		return string(response)
	}
	call(acp.MethodInitialize, `{"protocolVersion":1}`)
	for _, folder := range []string{"work", ".", "./work", "~", "C:work"} {
		for _, response := range []string{
			call(acp.MethodSessionNew, fmt.Sprintf(`{"cwd":%q,"mcpServers":[]}`, folder)), call(acp.MethodSessionList, fmt.Sprintf(`{"cwd":%q}`, folder)),
		} {
			assert.Contains(t, response, `"code":-32602`, folder)
			assert.Contains(t, response, "must be an absolute path", folder)
		}
	}
	assert.Contains(t, call(acp.MethodSessionList, `{"cwd":""}`), `"sessions":[]`, "all sessions")
}

// The author of an agent with two tools of one name reads so in any client, without a log.
func TestTwoToolsOfOneName(t *testing.T) {
	read := tools.Tool{Name: "read", Schema: []byte(`{"type":"object"}`), Run: func(context.Context, *tools.Call) (tools.Result, error) { return tools.Result{}, nil }}
	u := connect(t, kit.New(&kit.Options{Turn: echo, Tools: func(*kit.Session) []tools.Tool { return []tools.Tool{read, read} }}))
	created, err := u.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/work"})
	if err == nil {
		_, err = u.Prompt(t.Context(), &acp.PromptRequest{SessionID: created.SessionID, Prompt: []acp.ContentBlock{acp.Text("x")}})
	}
	require.ErrorIs(t, err, rpcerr.ErrInternal)
	assert.Contains(t, rpcerr.Explain(err), `two tools have the name "read"`)
}
