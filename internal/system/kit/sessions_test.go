package kit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/internal/kitplay"
)

var echo = kitplay.Echo

// naming returns the requests that name a session, and how each ends if the session does not exist.
func naming(w *wire) map[string]string {
	all := map[string]string{
		`session/prompt {"sessionId":"SESSION","prompt":[{"type":"text","text":"hi"}]}`: "-32002",
		`session/resume {"sessionId":"SESSION","cwd":"/w"}`:                             "-32002",
		`session/close {"sessionId":"SESSION"}`:                                         "ok",
		`session/delete {"sessionId":"SESSION"}`:                                        "ok",
	}
	if w.v2 {
		all[`session/resume {"sessionId":"SESSION","cwd":"/w","replayFrom":{"type":"start"}}`] = "-32002"
		all[`session/set_config_option {"sessionId":"SESSION","configId":"mode","type":"id","value":"auto"}`] = "-32002"
	} else {
		all[`session/load {"sessionId":"SESSION","cwd":"/w","mcpServers":[]}`] = "-32002"
		all[`session/set_mode {"sessionId":"SESSION","modeId":"auto"}`] = "-32002"
		all[`session/set_config_option {"sessionId":"SESSION","configId":"mode","value":"auto"}`] = "-32002"
	}
	return all
}

type ownerKey struct{}

// as returns the ctx of the connections of an owner.
func as(name string) context.Context {
	return context.WithValue(context.Background(), ownerKey{}, name)
}

// Requests for a session of another owner and for one that does not exist have byte-equal responses.
func TestOwners(t *testing.T) {
	eachVersion(t, func(t *testing.T, v int) {
		dir := t.TempDir()
		owned := func() *kit.Agent {
			return kit.New(&kit.Options{
				Store: kitplay.Files(t, dir), Modes: modes, Logger: slog.New(slog.DiscardHandler), Turn: echo,
				Owner: func(ctx context.Context) string { name, _ := ctx.Value(ownerKey{}).(string); return name },
			})
		}
		a := owned()
		anna, elsewhere, berta := dialAs(t, as("anna"), a, v, "{}"), dialAs(t, as("anna"), owned(), v, "{}"), dialAs(t, as("berta"), a, v, "{}")
		sessions := map[string]string{"open": anna.open(), "held by another process": elsewhere.open()}
		for _, state := range []string{"closed", "damaged"} {
			sessions[state] = anna.open()
			assert.Equal(t, "end_turn", anna.outcome(anna.prompt("hi")))
			assert.Equal(t, "ok", anna.outcome(anna.send("session/close", `{"sessionId":"SESSION"}`)))
		}
		logs, err := filepath.Glob(filepath.Join(dir, "*", "log.jsonl"))
		require.NoError(t, err)
		for _, log := range logs {
			if meta, err := os.ReadFile(filepath.Join(filepath.Dir(log), "meta.json")); err == nil && strings.Contains(string(meta), sessions["damaged"]) {
				require.NoError(t, os.Remove(log))
			}
		}
		before := dump(t, dir)
		answer := func(session, request string) (string, string) {
			method, params, _ := strings.Cut(request, " ")
			berta.session = session
			id := berta.send(method, params)
			m, ok := berta.reply(id)
			require.True(t, ok)
			return strings.NewReplacer(session, "SESSION", fmt.Sprintf(`"id":%d,`, id), "").Replace(m.Raw), berta.outcome(id)
		}
		for request, want := range naming(berta) {
			none, outcome := answer("sess_aaaaaaaaaaaaaaaaaaaaaaaaaa", request)
			assert.Equal(t, want, outcome, request)
			for state, session := range sessions {
				got, _ := answer(session, request)
				assert.Equal(t, none, got, "%s: %s", state, request)
			}
		}
		assert.Empty(t, berta.received())
		assert.JSONEq(t, `{"sessions":[]}`, string(berta.call("session/list", `{}`).Result))
		assert.Equal(t, before, dump(t, dir), "nothing of it has changed")
		anna.session = sessions["open"]
		assert.Equal(t, "end_turn", anna.outcome(anna.prompt("hi")))
		anna.session = sessions["closed"]
		anna.received()
		assert.Equal(t, "ok", anna.outcome(anna.load()))
		assert.Equal(t, []string{"You said: hi"}, anna.says())
	})
}

// dump returns the files of a folder.
func dump(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = string(text)
		return err
	}))
	return all
}

// Damage of the stored session is reported, and everything that can be read is loaded.
func TestDamagedSessions(t *testing.T) {
	line := func(text string) string {
		sum := crc32.Checksum([]byte(text), crc32.MakeTable(crc32.Castagnoli))
		return fmt.Sprintf(`{"sum":"%08x",%s`, sum, text)
	}
	for name, tc := range map[string]struct {
		damage       func(log string) string // returns the new content; empty removes the file
		load, prompt string
		refusal      string // of session/load or the prompt
		says         string // message in addition to the history
	}{
		"a line is damaged": {
			damage: func(log string) string { return strings.Replace(log, "hm", "hx", 1) },
			load:   "ok", prompt: "end_turn",
			says: `^A part of this session is lost, and the rest was kept: .*log\.jsonl, at byte \d+: \d+ bytes are no records\s*$`,
		},
		"the last records are missing": {
			damage: func(log string) string { return strings.Join(strings.SplitAfter(log, "\n")[:4], "") },
			load:   "ok", prompt: "end_turn",
			says: `^A part of this session is lost, and the rest was kept: .*log\.jsonl, at byte \d+: the last \d of \d records are missing\s*$`,
		},
		"the log is missing": {
			damage: func(string) string { return "" },
			load:   "-32603", prompt: "-32002",
			refusal: `^Internal error: the session cannot be read: .*log\.jsonl, at byte 0: the file is missing$`,
		},
		"a newer version has written": {
			damage: func(log string) string {
				return log + line(`"v":2,"seq":99,"time":"2030-01-02T03:04:05Z","kind":"event","data":{}}`) + "\n"
			},
			load: "ok", prompt: "-32603",
			refusal: `^Internal error: a newer version of this agent wrote the session: it can be read only$`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachVersion(t, func(t *testing.T, v int) {
				dir := t.TempDir()
				a := kit.New(&kit.Options{Store: kitplay.Files(t, dir), Turn: echo, Logger: slog.New(slog.DiscardHandler)})
				w := dial(t, a, v)
				id := w.open()
				require.Equal(t, "end_turn", w.outcome(w.prompt("hi")))
				require.NoError(t, a.Close(t.Context()))
				logs, err := filepath.Glob(filepath.Join(dir, "*", "log.jsonl"))
				require.NoError(t, err)
				require.Len(t, logs, 1)
				text, err := os.ReadFile(logs[0])
				require.NoError(t, err)
				require.NoError(t, os.Remove(logs[0]))
				if changed := tc.damage(string(text)); changed != "" {
					require.NotEqual(t, string(text), changed)
					require.NoError(t, os.WriteFile(logs[0], []byte(changed), 0o600))
				}

				w = dial(t, kit.New(&kit.Options{Store: kitplay.Files(t, dir), Turn: echo, Logger: slog.New(slog.DiscardHandler)}), v)
				w.session = id
				assert.Contains(t, string(w.call("session/list", `{}`).Result), id)
				load := w.load()
				assert.Equal(t, tc.load, w.outcome(load))
				prompt := w.prompt("again")
				assert.Equal(t, tc.prompt, w.outcome(prompt))
				said := w.says()
				if tc.says != "" {
					assert.True(t, slices.ContainsFunc(said, regexp.MustCompile(tc.says).MatchString), "%q", said)
				}
				if tc.refusal != "" {
					m, _ := w.reply(load)
					if tc.load == "ok" {
						m = w.failure(prompt)
					}
					require.NotNil(t, m.Error, "%s", m.Raw)
					assert.Regexp(t, tc.refusal, m.Error.Message)
				}
			})
		})
	}
}

// A session that another process has open is listed, but cannot be opened.
func TestSessionOfAnotherProcess(t *testing.T) {
	eachVersion(t, func(t *testing.T, v int) {
		dir := t.TempDir()
		start := func() *wire {
			return dial(t, kit.New(&kit.Options{Store: kitplay.Files(t, dir), Turn: echo, Logger: slog.New(slog.DiscardHandler)}), v)
		}
		w, other := start(), start()
		other.session = w.open()
		for _, id := range []int{other.load(), other.resume(), other.send("session/delete", `{"sessionId":"SESSION"}`)} {
			m, _ := other.reply(id)
			require.NotNil(t, m.Error)
			assert.Equal(t, -32600, m.Error.Code)
			assert.Equal(t, "Invalid request: this session is open elsewhere, maybe in another process: close it there", m.Error.Message)
		}
		assert.Contains(t, string(other.call("session/list", `{}`).Result), other.session)
		assert.Equal(t, "ok", w.outcome(w.send("session/close", `{"sessionId":"SESSION"}`)))
		assert.Equal(t, "ok", other.outcome(other.load()))
	})
}

// The list is paged. A session is listed under the folder with which it was last opened.
func TestList(t *testing.T) {
	type page struct {
		Sessions []struct {
			SessionID, Cwd, Title, UpdatedAt string
			AdditionalDirectories            []string
		}
		NextCursor string
	}
	eachVersion(t, func(t *testing.T, v int) {
		w := dial(t, kit.New(&kit.Options{Turn: echo, Logger: slog.New(slog.DiscardHandler)}), v)
		list := func(params string) (p page) {
			m := w.call("session/list", params)
			require.NoError(t, json.Unmarshal(m.Result, &p), m.Raw)
			return p
		}
		assert.JSONEq(t, `{"sessions":[]}`, string(w.call("session/list", `{}`).Result))
		seen := map[string]bool{}
		for range 130 {
			seen[w.open()] = true
		}
		time.Sleep(time.Second)
		require.Equal(t, "end_turn", w.outcome(w.prompt("  Tidy\tup\nplease")))
		first := list(`{}`)
		require.Len(t, first.Sessions, 100)
		assert.Equal(t, w.session, first.Sessions[0].SessionID, "the latest")
		assert.Equal(t, "Tidy up", first.Sessions[0].Title)
		assert.Equal(t, "/w", first.Sessions[0].Cwd)
		_, err := time.Parse(time.RFC3339, first.Sessions[0].UpdatedAt)
		assert.NoError(t, err)
		second := list(`{"cursor":"` + first.NextCursor + `"}`)
		assert.Len(t, second.Sessions, 30)
		assert.Empty(t, second.NextCursor)
		for _, s := range append(first.Sessions, second.Sessions...) {
			delete(seen, s.SessionID)
		}
		assert.Empty(t, seen)
		m := w.call("session/list", `{"cursor":"nonsense"}`)
		require.NotNil(t, m.Error)
		assert.Equal(t, "-32602 Invalid params: this cursor is not from this list", fmt.Sprint(m.Error.Code, " ", m.Error.Message))

		m = w.call("session/resume", `{"sessionId":"`+w.session+`","cwd":"/other","additionalDirectories":["/more"],"mcpServers":[]}`)
		require.Nil(t, m.Error, m.Raw)
		other := list(`{"cwd":"/other"}`)
		require.Len(t, other.Sessions, 1)
		assert.Equal(t, w.session, other.Sessions[0].SessionID)
		assert.Equal(t, []string{"/more"}, other.Sessions[0].AdditionalDirectories)
		assert.Empty(t, list(`{"cwd":"/nowhere"}`).Sessions)
	})
}

// Servers of kinds that were not advertised are refused. For other servers, a notice says that they
// were not started.
func TestMCPServersWithoutAConnector(t *testing.T) {
	eachVersion(t, func(t *testing.T, v int) {
		w := dial(t, kit.New(&kit.Options{Turn: echo, Logger: slog.New(slog.DiscardHandler)}), v)
		stdio := `{"name":"s","command":"/bin/s","args":[],"env":[]}`
		if w.v2 {
			stdio = `{"type":"stdio","name":"s","command":"/bin/s"}`
		}
		opening := func(server string) int {
			return w.send("session/new", `{"cwd":"/w","mcpServers":[`+server+`]}`)
		}
		for _, kind := range []string{"http", "sse"} {
			id := opening(`{"type":"` + kind + `","name":"s","url":"https://example.com","headers":[]}`)
			m, _ := w.reply(id)
			require.NotNil(t, m.Error, m.Raw)
			assert.Equal(t, -32602, m.Error.Code)
			assert.Contains(t, m.Error.Message, "mcpServers")
		}
		m, _ := w.reply(opening(stdio))
		require.Nil(t, m.Error, m.Raw)
		var res struct{ SessionID string }
		require.NoError(t, json.Unmarshal(m.Result, &res))
		w.session = res.SessionID
		w.outcome(w.prompt("hi"))
		said := w.says()
		require.NotEmpty(t, said)
		assert.Contains(t, said[0], "does not use MCP servers")
	})
}

// sharedStore opens the log of its only session as often as it is called, without a lock.
type sharedStore struct {
	journal.Store
	log  journal.Log
	wait func()
}

type openLog struct{ journal.Log }

func (openLog) Close() error { return nil }

func (s *sharedStore) Create(ctx context.Context, id string, m journal.Meta) (_ journal.Log, err error) {
	s.log, err = s.Store.Create(ctx, id, m)
	return openLog{s.log}, err
}

func (s *sharedStore) Open(context.Context, string) (journal.Log, error) {
	s.wait()
	return openLog{s.log}, nil
}

// If two clients load a session at the same time, only one of them gets it, even if the store has
// no lock.
func TestTwoLoadsAtOnce(t *testing.T) {
	eachVersion(t, func(t *testing.T, v int) {
		store := &sharedStore{Store: new(journal.Memory), wait: func() { time.Sleep(time.Second) }}
		a := kit.New(&kit.Options{Store: store, Turn: echo, Logger: slog.New(slog.DiscardHandler)})
		w, other := dial(t, a, v), dial(t, a, v)
		other.session = w.open()
		require.Equal(t, "ok", w.outcome(w.send("session/close", `{"sessionId":"SESSION"}`)))
		first, second := w.load(), other.load()
		time.Sleep(time.Minute)
		got := map[string]*wire{w.outcome(first): w, other.outcome(second): other}
		require.Contains(t, got, "ok")
		require.Contains(t, got, "-32600")
		assert.Equal(t, "end_turn", got["ok"].outcome(got["ok"].prompt("hi")))
		assert.Equal(t, "-32002", got["-32600"].outcome(got["-32600"].prompt("hi")))
	})
}

// If a client cancels a load, others can open the session.
func TestLoadThatIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var replays atomic.Bool
		slow := func(next acp.Handler) acp.Handler {
			return func(ctx context.Context, method string, params any) (any, error) {
				if replays.Load() {
					time.Sleep(time.Second)
				}
				return next(ctx, method, params)
			}
		}
		a := kit.New(&kit.Options{Turn: echo, Logger: slog.New(slog.DiscardHandler), Conn: &agent.Options{Sending: []acp.Middleware{slow}}})
		w, other := dial(t, a, 1), dial(t, a, 1)
		other.session = w.open()
		require.Equal(t, "end_turn", w.outcome(w.prompt("hi")))
		require.Equal(t, "ok", w.outcome(w.send("session/close", `{"sessionId":"SESSION"}`)))
		replays.Store(true)
		id := w.load()
		assert.Empty(t, w.outcome(id), "the replay takes a while")
		w.Notify("$/cancel_request", fmt.Sprintf(`{"requestId":%d}`, id))
		time.Sleep(time.Minute)
		assert.Equal(t, "-32800", w.outcome(id))
		id = other.load()
		time.Sleep(time.Minute)
		assert.Equal(t, "ok", other.outcome(id))
	})
}

// watched is a store that counts the logs that are open, and whose logs can be broken.
type watched struct {
	journal.Store
	open   atomic.Int64
	broken string // the method that fails: append or sync
}

func newWatched() *watched {
	s := new(watched)
	s.Store = kitplay.Store{Store: new(journal.Memory), Log: func(l journal.Log) journal.Log {
		s.open.Add(1)
		return watchedLog{l, s, sync.OnceFunc(func() { s.open.Add(-1) })}
	}}
	return s
}

type watchedLog struct {
	journal.Log
	s     *watched
	close func() // called once
}

func (l watchedLog) Append(recs ...journal.Record) (int64, error) {
	if l.s.broken == "append" {
		return 0, errors.New("disk broken")
	}
	return l.Log.Append(recs...)
}

func (l watchedLog) Sync(ctx context.Context) error {
	if l.s.broken == "sync" {
		return errors.New("disk broken")
	}
	return l.Log.Sync(ctx)
}

func (l watchedLog) Close() error {
	l.close()
	return l.Log.Close()
}
