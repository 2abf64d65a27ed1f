//go:build unix

// Package killed holds tests of agents that end by kill -9. It has no code of its own.
package killed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/internal/system/chatserver"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/stream"
)

func TestMain(m *testing.M) { pairtest.Main(m) }

// points is at how many points of a conversation an agent is killed.
const points = 100

// The example agent is killed at random points of a conversation, and started again: no session is
// lost, each one loads with all that a completed prompt has shown, no command and no change of a file
// is made twice or without permission, and no session is in a wider mode than the user has chosen.
func TestExampleAgent(t *testing.T) {
	program := build(t, "agent")
	kill(t, func(state string) *exec.Cmd { return exec.Command(program, "-state", state) })
}

// The same holds for examples/coder with a model. Each request that the model gets has one result for
// each call, also the first one after the agent was killed.
func TestExampleCoder(t *testing.T) {
	program := build(t, "coder")
	server := chatserver.Start(t)
	kill(t, func(state string) *exec.Cmd {
		cmd := exec.Command(program)
		cmd.Env = append(os.Environ(), "BASE_URL="+server.URL, "API_KEY=", "MODEL=", "XDG_CONFIG_HOME="+state, "HOME="+state)
		return cmd
	})
	faults, requests := server.Faults()
	assert.Empty(t, faults)
	t.Logf("%d requests", requests)
}

func build(t *testing.T, example string) (program string) {
	program = filepath.Join(t.TempDir(), example)
	out, err := exec.Command("go", "build", "-o", program, "github.com/acpkit/go-sdk/examples/"+example).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// kill kills an agent that the command starts with a folder for its state.
func kill(t *testing.T, command func(state string) *exec.Cmd) {
	var done, interrupted atomic.Int64
	defer func() {
		assert.Positive(t, done.Load(), "what was never done cannot be done twice")
		assert.Positive(t, interrupted.Load(), "no call was running when the agent was killed")
	}()
	t.Run("points", func(t *testing.T) { conversations(t, command, &done, &interrupted) })
}

func conversations(t *testing.T, command func(state string) *exec.Cmd, done, interrupted *atomic.Int64) {
	for seed := range uint64(points) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 0))
			u := &user{t: t, rng: rng, command: command, state: t.TempDir(), folder: t.TempDir(), files: rng.IntN(2) == 0, allowed: map[string]bool{}}
			board := ""
			for n := range 40 {
				board += fmt.Sprintf("[%d]\n", n)
			}
			u.put("board", board)
			u.put("notes", "")
			for range 2 {
				u.start(1 + rng.IntN(70))
				u.check()
				u.converse()
				u.kill()
			}
			u.start(0)
			u.check()
			if len(u.sessions) > 0 {
				assert.NoError(t, u.prompt(t.Context(), u.sessions[0], "run echo "+u.token()+" >> log"), "the session goes on")
			}
			u.kill()
			done.Add(u.effects())
			interrupted.Add(u.interrupted)
		})
	}
}

// user is the client of one conversation.
type user struct {
	t             *testing.T
	rng           *rand.Rand
	command       func(state string) *exec.Cmd
	state, folder string
	files         bool // the client has the files, not the agent

	conn     *client.Conn
	set      *thread.Set
	pid      int
	gone     <-chan struct{}
	sessions []*session
	tokens   int

	interrupted int64 // calls that were running when the agent was killed

	mu      sync.Mutex
	answers *rand.Rand
	allowed map[string]bool // tokens of what was allowed
}

// session is what the user knows of a session.
type session struct {
	id       acp.SessionID
	mode     acp.SessionModeID
	wanted   acp.SessionModeID // of a request without a response; otherwise it is mode
	settled  *thread.Snapshot  // when a prompt was last responded to
	lastSeen *thread.Snapshot  // before the agent was killed
}

func (u *user) put(name, text string) {
	require.NoError(u.t, os.WriteFile(filepath.Join(u.folder, name), []byte(text), 0o600))
}

// start starts the agent, which is killed about when it has sent so many messages, if not 0.
func (u *user) start(messages int) {
	process, err := stream.Command(u.command(u.state), nil)
	require.NoError(u.t, err)
	u.pid, u.gone = process.PID(), process.Done()
	delay := time.Duration(u.rng.IntN(2000)) * time.Microsecond
	u.answers = rand.New(rand.NewPCG(u.rng.Uint64(), 0))
	n := 0
	tapped := stream.Tap(process, func(dir stream.Direction, _ []byte) {
		if dir == stream.Received {
			if n++; n == messages {
				time.AfterFunc(delay, func() { _ = syscall.Kill(process.PID(), syscall.SIGKILL) }) // ends at once
			}
		}
	})
	u.set = new(thread.Set)
	u.conn, _ = client.Connect(u.t.Context(), tapped, func(*client.Conn) acp.Client {
		if u.files {
			return u.set.Client(editor{u})
		}
		return u.set.Client(u)
	}, &client.Options{Sending: []acp.Middleware{u.set.Sending}, Logger: slog.New(slog.DiscardHandler)})
	if u.conn == nil {
		u.kill()
		u.start(0) // it was killed before its first response
	}
}

// kill kills the agent, if it still runs, and keeps what was seen of its sessions.
func (u *user) kill() {
	_ = syscall.Kill(u.pid, syscall.SIGKILL)
	<-u.gone
	if u.conn == nil {
		return
	}
	_ = u.conn.Close()
	_ = u.conn.Wait()
	for _, s := range u.sessions {
		s.lastSeen = u.set.Thread(s.id).Snapshot()
	}
}

func (u *user) token() string {
	u.tokens++
	return fmt.Sprintf("T%dT", u.tokens)
}

// converse talks to the agent until it is gone, or for some requests.
func (u *user) converse() {
	for range 8 {
		var err error
		switch n := u.rng.IntN(10); {
		case len(u.sessions) == 0 || n == 0:
			var res *acp.NewSessionResponse
			if res, err = u.conn.NewSession(u.t.Context(), &acp.NewSessionRequest{Cwd: u.folder}); err == nil {
				u.sessions = append(u.sessions, &session{id: res.SessionID, mode: "ask", wanted: "ask"})
			}
		case n == 1:
			s := u.sessions[u.rng.IntN(len(u.sessions))]
			s.wanted = []acp.SessionModeID{"ask", "auto"}[u.rng.IntN(2)]
			if _, err = u.conn.SetSessionMode(u.t.Context(), &acp.SetSessionModeRequest{SessionID: s.id, ModeID: s.wanted}); err == nil {
				s.mode = s.wanted
			}
		default:
			ctx, cancel := context.WithCancel(u.t.Context())
			if u.rng.IntN(5) == 0 {
				time.AfterFunc(time.Duration(u.rng.IntN(5000))*time.Microsecond, cancel) // ends at once
			}
			err = u.prompt(ctx, u.sessions[u.rng.IntN(len(u.sessions))], u.request())
			cancel()
		}
		if err != nil {
			require.True(u.t, errors.Is(err, acp.ErrClosed) || errors.Is(err, context.Canceled), err)
			return
		}
	}
}

// request makes up what to ask for.
func (u *user) request() string {
	switch u.rng.IntN(8) {
	case 0:
		return "help"
	case 1:
		return `search "T1T"`
	case 2:
		return "read board"
	case 3:
		return u.request() + ", then " + u.request()
	case 4:
		return "append to notes: " + u.token()
	case 5:
		slot := u.rng.IntN(40)
		return fmt.Sprintf(`edit board: replace "[%d]" with "[%d] %s"`, slot, slot, u.token())
	}
	return "run echo " + u.token() + " >> log"
}

func (u *user) prompt(ctx context.Context, s *session, text string) error {
	if s.mode == "auto" || s.wanted == "auto" {
		for _, word := range tokensIn(text) {
			u.allow(word)
		}
	}
	_, err := u.conn.Prompt(ctx, &acp.PromptRequest{SessionID: s.id, Prompt: []acp.ContentBlock{acp.Text(text)}})
	if err == nil {
		s.settled = u.set.Thread(s.id).Snapshot()
	}
	return err
}

func (u *user) allow(token string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.allowed[token] = true
}

// tokensIn returns the tokens in a text.
func tokensIn(text string) (all []string) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r != 'T' && (r < '0' || r > '9') }) {
		if strings.HasPrefix(word, "T") && strings.HasSuffix(word, "T") && len(word) > 2 {
			all = append(all, word)
		}
	}
	return all
}

func (u *user) SessionUpdate(context.Context, *acp.SessionNotification) error { return nil }

func (u *user) RequestPermission(_ context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	u.mu.Lock()
	n := u.answers.IntN(8)
	u.mu.Unlock()
	switch n {
	case 0:
		return acp.Cancelled(), nil
	case 1, 2:
		return acp.SelectKind(req.Options, acp.PermissionOptionKindRejectOnce), nil
	}
	for _, token := range tokensIn(string(req.ToolCall.RawInput)) {
		u.allow(token)
	}
	return acp.SelectKind(req.Options, acp.PermissionOptionKindAllowOnce), nil
}

// editor is a user whose client has the files.
type editor struct{ *user }

func (e editor) ReadTextFile(_ context.Context, req *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	text, err := os.ReadFile(req.Path)
	return &acp.ReadTextFileResponse{Content: string(text)}, err
}

func (e editor) WriteTextFile(_ context.Context, req *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	return &acp.WriteTextFileResponse{}, os.WriteFile(req.Path, []byte(req.Content), 0o600)
}

// check loads all sessions in an agent that was started again.
func (u *user) check() {
	list, err := u.conn.ListSessions(u.t.Context(), &acp.ListSessionsRequest{})
	if errors.Is(err, acp.ErrClosed) {
		return // it was killed again
	}
	require.NoError(u.t, err)
	for _, s := range u.sessions {
		assert.True(u.t, slices.ContainsFunc(list.Sessions, func(i acp.SessionInfo) bool { return i.SessionID == s.id }), "%s is lost", s.id)
		res, err := u.conn.LoadSession(u.t.Context(), &acp.LoadSessionRequest{SessionID: s.id, Cwd: u.folder})
		if errors.Is(err, acp.ErrClosed) {
			return
		}
		require.NoError(u.t, err)
		assert.Contains(u.t, []acp.SessionModeID{s.mode, s.wanted}, res.Modes.CurrentModeID)
		s.mode, s.wanted = res.Modes.CurrentModeID, res.Modes.CurrentModeID
		loaded := u.set.Thread(s.id).Snapshot()
		u.compare(s, loaded)
		s.settled, s.lastSeen = loaded, loaded
	}
}

// compare checks what was loaded: first what was there when a prompt was last responded to, and
// then some of what has come later, of which nothing goes on.
func (u *user) compare(s *session, loaded *thread.Snapshot) {
	got, want := conversation(loaded), conversation(s.settled)
	require.GreaterOrEqual(u.t, len(got), len(want))
	for i, item := range want {
		require.Equal(u.t, u.encoded(item), u.encoded(got[i]))
	}
	seen := map[string]thread.Item{}
	for _, item := range conversation(s.lastSeen)[min(len(want), len(conversation(s.lastSeen))):] {
		seen[id(item)] = item
	}
	for _, item := range got[len(want):] {
		switch m := item.(type) {
		case *thread.Message:
			if before, ok := seen[id(item)].(*thread.Message); ok {
				assert.True(u.t, strings.HasPrefix(before.Text(), m.Text()) || strings.HasPrefix(m.Text(), before.Text()), "%q was shown, and %q is loaded", before.Text(), m.Text())
			}
		case *thread.ToolCall:
			assert.Contains(u.t, []string{thread.ToolCompleted, thread.ToolFailed}, m.Status)
			for _, c := range m.Content.All() {
				if c.Block != nil && strings.Contains(c.Block.Text, "interrupted") {
					u.interrupted++
				}
			}
			if before, ok := seen[id(item)].(*thread.ToolCall); ok && before.Status != thread.ToolPending && before.Status != thread.ToolInProgress {
				assert.Equal(u.t, before.Status, m.Status)
			}
			delete(seen, id(item))
		}
	}
	for _, item := range seen {
		_, call := item.(*thread.ToolCall)
		assert.False(u.t, call, "a call that was shown is lost: %v", item)
	}
}

// conversation returns the items of a session, without prompts to which the agent has said nothing:
// one that is cancelled before its turn begins is not stored. Prompts of version 1 have no ids.
func conversation(s *thread.Snapshot) (all []thread.Item) {
	if s == nil {
		return nil
	}
	var prompt thread.Item
	for _, item := range s.Items.All() {
		if m, ok := item.(*thread.Message); ok && m.Role == thread.RoleUser {
			prompt = &thread.Message{Role: m.Role, Content: m.Content}
			continue
		}
		if prompt != nil {
			all = append(all, prompt)
		}
		all, prompt = append(all, item), nil
	}
	return all
}

func (u *user) encoded(item thread.Item) string {
	text, err := json.Marshal(item)
	require.NoError(u.t, err)
	return string(text)
}

// id is what an item has in common with its later self.
func id(item thread.Item) string {
	switch m := item.(type) {
	case *thread.Message:
		return string(m.Role) + m.ID
	case *thread.ToolCall:
		return m.ID
	}
	return ""
}

// effects checks what the agent has done, and returns how much.
func (u *user) effects() int64 {
	done := ""
	for _, name := range []string{"log", "notes", "board"} {
		text, err := os.ReadFile(filepath.Join(u.folder, name))
		if name != "log" {
			require.NoError(u.t, err)
		}
		done += string(text)
	}
	all := tokensIn(done)
	for i, token := range all {
		assert.NotContains(u.t, all[:i], token, "it was done twice")
		assert.True(u.t, u.allowed[token], "%s was done without permission", token)
	}
	return int64(len(all))
}
