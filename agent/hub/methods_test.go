package hub_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/hub"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/internal/wire"
	"github.com/acpkit/go-sdk/rpcerr"
)

// methods are those of an agent in the stable schema of version 1, with params for the session %[1]q and with the
// code of the error that a client gets that may only observe it; 0 is a result.
var methods = map[string]struct {
	params   string
	observer rpcerr.Code
}{
	acp.MethodInitialize:             {`{"protocolVersion":1}`, 0},
	acp.MethodAuthenticate:           {`{"methodId":"none"}`, rpcerr.CodeMethodNotFound}, // the agent has no way to sign in
	acp.MethodLogout:                 {`{}`, rpcerr.CodeMethodNotFound},
	acp.MethodSessionNew:             {`{"cwd":"/work","mcpServers":[]}`, 0}, // a session of its own
	acp.MethodSessionList:            {`{}`, 0},
	acp.MethodSessionLoad:            {`{"sessionId":%[1]q,"cwd":"/work","mcpServers":[]}`, 0},
	acp.MethodSessionResume:          {`{"sessionId":%[1]q,"cwd":"/work"}`, 0},
	acp.MethodSessionPrompt:          {`{"sessionId":%[1]q,"prompt":[{"type":"text","text":"x"}]}`, rpcerr.CodeInvalidRequest},
	acp.MethodSessionSetMode:         {`{"sessionId":%[1]q,"modeId":"m"}`, rpcerr.CodeInvalidRequest},
	acp.MethodSessionSetConfigOption: {`{"sessionId":%[1]q,"configId":"c","value":"v"}`, rpcerr.CodeInvalidRequest},
	acp.MethodSessionDelete:          {`{"sessionId":%[1]q}`, rpcerr.CodeInvalidRequest},
	acp.MethodSessionClose:           {`{"sessionId":%[1]q}`, 0}, // it is only detached
	acp.MethodSessionCancel:          {`{"sessionId":%[1]q}`, 0}, // a notification without effect
}

// everyMethod calls f with each method that a client may send, and with params for the session.
func everyMethod(t *testing.T, id acp.SessionID, f func(m *wire.Method, params string)) {
	t.Helper()
	for _, m := range wire.Methods(acp.ProtocolVersion) {
		if m.Side != wire.Agent {
			continue
		}
		of, known := methods[m.Name]
		if !m.Unstable {
			require.True(t, known, "%s is missing in the table", m.Name)
		}
		if !strings.Contains(of.params, "%") {
			f(m, of.params)
			continue
		}
		f(m, fmt.Sprintf(of.params, string(id)))
	}
}

// Of all methods an observer gets those that read, before and after it has loaded the session.
func TestObserversAndEveryMethod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &worker{turn: asks}
		r := &roles{of: map[string]hub.Role{"ann": hub.Control, "bob": hub.Observe}}
		h := start(t, w, &hub.Options{Principal: byContext, Access: r.access})
		ann := join(t, h, "ann")
		s := ann.open()
		answer := make(chan struct{})
		ann.answer = func(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
			<-answer
			return acp.Selected("no"), nil
		}
		turn := s.Prompt(t.Context(), acp.Text("go"))
		synctest.Wait()
		for _, loaded := range []bool{false, true} {
			everyMethod(t, s.ID(), func(m *wire.Method, params string) {
				bob := connect(t, h, "bob")
				bob.call(t, 1, acp.MethodInitialize, `{"protocolVersion":1}`)
				want := methods[m.Name].observer
				if m.Unstable {
					params, want = fmt.Sprintf(`{"sessionId":%q}`, s.ID()), rpcerr.CodeMethodNotFound
				}
				if loaded {
					bob.call(t, 2, acp.MethodSessionLoad, fmt.Sprintf(methods[acp.MethodSessionLoad].params, string(s.ID())))
				}
				if m.Notification {
					require.NoError(t, bob.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":%s}`, m.Name, params)))
				} else if res := bob.call(t, 3, m.Name, params); want == 0 {
					assert.Contains(t, res, `"result":`, m.Name)
				} else {
					assert.Contains(t, res, fmt.Sprintf(`"error":{"code":%d,`, want), m.Name)
				}
				synctest.Wait()
				require.NoError(t, bob.Close())
				<-bob.served
			})
		}
		close(answer)
		res, err := turn.Wait()
		require.NoError(t, err)
		assert.Equal(t, acp.StopReasonEndTurn, res.StopReason)
		assert.Equal(t, []string{"user: go", `tool call "rm" pending`, "agent: chosen: no"}, ann.transcript(s.ID()))
		assert.Equal(t, []string{"go"}, w.seen())
	})
}

// No method tells a session of another principal, a deleted or a revoked one from one that never existed, whether it is open
// or only stored, and whether the client was attached to it or not.
func TestEveryMethodAndForeignSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &worker{turn: says("secret")}
		store := new(journal.Memory)
		revoked := map[acp.SessionID]bool{}
		var mu sync.Mutex
		access := func(_ context.Context, principal string, s hub.Info) hub.Role {
			mu.Lock()
			defer mu.Unlock()
			if principal == s.Owner && !revoked[s.ID] {
				return hub.Control
			}
			return hub.None
		}
		opts := &hub.Options{Principal: byContext, Access: access, Store: store}
		h := start(t, w, opts)
		ann := join(t, h, "ann")
		cold := ann.open()
		ann.prompt(cold, "go")
		require.NoError(t, h.Shutdown(t.Context()))
		h = restart(t, w, opts)
		ann = join(t, h, "ann")
		bob := join(t, h, "bob")
		foreign, deleted, gone := ann.open().ID(), bob.open().ID(), bob.open().ID()
		_, err := bob.conn.DeleteSession(t.Context(), &acp.DeleteSessionRequest{SessionID: deleted})
		require.NoError(t, err)
		mu.Lock()
		revoked[gone] = true
		mu.Unlock()
		h.Revoke(t.Context(), "bob")

		answers := func(id acp.SessionID, attach bool) map[string]string {
			of := make(map[string]string)
			everyMethod(t, id, func(m *wire.Method, params string) {
				if m.Notification || m.Unstable || !strings.Contains(params, string(id)) {
					return
				}
				c := connect(t, h, "bob")
				defer func() { _ = c.Close(); <-c.served }()
				c.call(t, 1, acp.MethodInitialize, `{"protocolVersion":1}`)
				if attach {
					mu.Lock()
					delete(revoked, id)
					mu.Unlock()
					c.call(t, 2, acp.MethodSessionLoad, fmt.Sprintf(methods[acp.MethodSessionLoad].params, string(id)))
					mu.Lock()
					revoked[id] = true // and nobody calls Revoke
					mu.Unlock()
				}
				of[m.Name] = strings.ReplaceAll(c.call(t, 3, m.Name, params), string(id), "ID")
			})
			return of
		}
		want := answers("sess_unknown", false)
		assert.Len(t, want, 7)
		for name, c := range map[string]struct {
			id     acp.SessionID
			attach bool
		}{
			"foreign": {foreign, false}, "stored": {cold.ID(), false}, "deleted": {deleted, false}, "revoked": {gone, false},
			"revoked while attached": {gone, true}, "not an id": {"../" + foreign, false},
		} {
			assert.Equal(t, want, answers(c.id, c.attach), name)
		}
		ann.load(cold.ID())
		assert.Equal(t, []string{"user: go", "agent: secret"}, ann.transcript(cold.ID()))
	})
}

// A thousand loads at once, and the prompts that follow some of them, open one log and one session of the agent.
func TestRacingLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(journal.Memory)
		h := start(t, &worker{turn: says("hello")}, &hub.Options{Store: store})
		id := join(t, h, "").open().ID()
		require.NoError(t, h.Shutdown(t.Context()))

		w, watched := &worker{turn: says("hello")}, &opens{Store: store}
		h = restart(t, w, &hub.Options{Store: watched, Limits: hub.Limits{Attachments: 1000, Waiting: 10}})
		var users []*user
		for range 1000 {
			users = append(users, join(t, h, ""))
		}
		var wait sync.WaitGroup
		for i, u := range users {
			wait.Go(func() { // ends with the responses
				_, err := u.conn.LoadSession(t.Context(), &acp.LoadSessionRequest{SessionID: id, Cwd: "/work"})
				assert.NoError(t, err)
				if i%100 == 0 {
					_, err = u.conn.Prompt(t.Context(), &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{acp.Text("x")}})
					assert.NoError(t, err)
				}
			})
		}
		wait.Wait()
		assert.EqualValues(t, 1, watched.n.Load())
		assert.Equal(t, 1, w.sessions)
		assert.Len(t, w.seen(), 10)
	})
}
