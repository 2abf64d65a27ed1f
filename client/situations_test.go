package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/files"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/supervise"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

var update = flag.Bool("update", false, "write what Explain says to testdata/situations.txt")

// situation makes something fail, and returns the error and the connection, if there is one.
type situation func(t *testing.T) (*client.Conn, error)

// The person reads what happened, where, and what to do. testdata/situations.txt has the text for each
// situation; real processes and servers fail here.
func TestSituations(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no sh, and other texts of errors")
	}
	all := map[string]situation{}
	for _, group := range []map[string]situation{ofProcesses(), ofServers("http"), ofServers("ws"), ofURLs(), ofResponses(), ofThisEnd(), ofRefusals()} {
		maps.Copy(all, group)
	}
	const name = "testdata/situations.txt"
	said := map[string]string{}
	var mu sync.Mutex // guards said
	t.Run("all", func(t *testing.T) {
		for name, s := range all {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				dir, err := filepath.EvalSymlinks(t.TempDir())
				require.NoError(t, err)
				conn, err := s(t)
				text := same(client.Explain(conn, err), dir)
				mu.Lock()
				defer mu.Unlock()
				said[name] = text
			})
		}
	})
	if *update {
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(said)) {
			fmt.Fprintf(&b, "== %s\n%s\n", name, said[name])
		}
		require.NoError(t, os.WriteFile(name, []byte(b.String()), 0o644))
	}
	table, err := os.ReadFile(name)
	require.NoError(t, err)
	want := map[string]string{}
	for _, part := range strings.Split(strings.TrimPrefix(string(table), "== "), "\n== ") {
		name, text, _ := strings.Cut(part, "\n")
		want[name] = strings.TrimSuffix(text, "\n")
	}
	assert.GreaterOrEqual(t, len(want), 90)
	assert.Equal(t, want, said)
	for name, text := range said {
		next := strings.Contains(text, "\n") || strings.Contains(text, "; ") // a line of ours, or advice of the peer
		assert.True(t, next, "%s: %s", name, text)
	}
}

var ports = regexp.MustCompile(`127\.0\.0\.1:\d+|\[::1\]:\d+`)

// same removes from a text what differs from run to run.
func same(text, dir string) string {
	text = ports.ReplaceAllString(text, "ADDR")
	text = regexp.MustCompile(`[^ "]*/TestSituations[^/ ]*/\d+`).ReplaceAllString(text, "DIR")
	text = regexp.MustCompile(` \(writing: [^)]*\)`).ReplaceAllString(text, "") // a process may exit before it reads
	text = regexp.MustCompile(`[^ ]*env: .*o such file or directory`).ReplaceAllString(text, "(the words of env)")
	return strings.NewReplacer(dir, "DIR", "/usr/bin/sh", "sh", "/bin/sh", "sh").Replace(text)
}

// started connects to a command, with a limit if that is positive.
func started(t *testing.T, limit time.Duration, cmd *exec.Cmd) (*client.Conn, error) {
	s, err := stream.Command(cmd, &stream.CommandOptions{Grace: 100 * time.Millisecond})
	if err != nil {
		return nil, err
	}
	conn, err := client.Connect(t.Context(), s, good, &client.Options{Handshake: limit})
	if err == nil {
		t.Cleanup(func() { conn.Close(); _ = conn.Wait() })
	}
	return nil, err
}

func shell(script string) *exec.Cmd { return exec.Command("sh", "-c", script) }

// answers is a script that responds to initialize and session/new, and then runs more with the prompt read.
const answers = `read a; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}'
read a; echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}'
read a; `

// inTurn returns the error of a turn that an agent ends with a script.
func inTurn(script string) situation {
	return func(t *testing.T) (*client.Conn, error) {
		s, err := stream.Command(shell(answers+script), &stream.CommandOptions{Grace: 100 * time.Millisecond})
		require.NoError(t, err)
		conn, err := client.Connect(t.Context(), s, good, &client.Options{CancelGrace: -1})
		require.NoError(t, err)
		t.Cleanup(func() { conn.Close(); _ = conn.Wait() })
		session, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: "/"})
		require.NoError(t, err)
		_, err = session.Prompt(t.Context(), acp.Text("x")).Text()
		return conn, err
	}
}

func ofProcesses() map[string]situation {
	run := func(limit time.Duration, make func(dir string) *exec.Cmd) situation {
		return func(t *testing.T) (*client.Conn, error) { return started(t, limit, make(t.TempDir())) }
	}
	file := func(mode fs.FileMode, text string) situation {
		return run(0, func(dir string) *exec.Cmd {
			name := filepath.Join(dir, "agent")
			if err := os.WriteFile(name, []byte(text), mode); err != nil {
				panic(err)
			}
			return exec.Command(name)
		})
	}
	script := func(limit time.Duration, text string) situation {
		return run(limit, func(string) *exec.Cmd { return shell(text) })
	}
	return map[string]situation{
		"process: not on PATH":                 run(0, func(string) *exec.Cmd { return exec.Command("no-such-agent") }),
		"process: no such file":                run(0, func(dir string) *exec.Cmd { return exec.Command(filepath.Join(dir, "agent")) }),
		"process: no such folder":              run(0, func(dir string) *exec.Cmd { c := shell("true"); c.Dir = filepath.Join(dir, "gone"); return c }),
		"process: a file for a folder":         run(0, func(string) *exec.Cmd { c := shell("true"); c.Dir = "/dev/null"; return c }),
		"process: not executable":              file(0o600, "#!/bin/sh\n"),
		"process: a folder for a program":      run(0, func(dir string) *exec.Cmd { return exec.Command(dir) }),
		"process: interpreter is missing":      file(0o700, "#!/opt/no/such/node --acp\n"),
		"process: interpreter is not on PATH":  file(0o700, "#!/usr/bin/env no-such-node\n"),
		"process: no program at all":           file(0o700, "plain words\n"),
		"process: a tool is missing":           script(0, "echo 'npx: not found' >&2; exit 127"),
		"process: a tool is not executable":    script(0, "echo '/dev/null: Permission denied' >&2; exit 126"),
		"process: exits with 0":                script(0, "exit 0"),
		"process: exits with words":            script(0, "echo 'API key is missing' >&2; exit 3"),
		"process: exits after other output":    script(0, "echo usage: agent --acp; exit 2"),
		"process: is killed at once":           script(0, "kill -9 $$"),
		"process: is silent":                   script(500*time.Millisecond, "exec sleep 100"),
		"process: says something else":         script(500*time.Millisecond, "echo Welcome; exec sleep 100"),
		"process: closes its output":           script(0, "exec >&-; exec sleep 1"),
		"process: another version":             script(0, `read a; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":7}}'; exec sleep 1`),
		"process: refuses the version":         script(0, `read a; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no","data":{"supported":[2,3]}}}'; exec sleep 1`),
		"process: refuses initialize":          script(0, `read a; echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error","data":{"details":"no license"}}}'; exec sleep 1`),
		"turn: the agent exits":                inTurn("echo out of cheese >&2; exit 3"),
		"turn: the agent exits without a word": inTurn("exit 0"),
		"turn: the agent is killed":            inTurn("kill -9 $$"),
		"turn: the agent closes its output":    inTurn("exec >&-; exec sleep 1"),
		"turn: refused":                        inTurn(`echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"refusal"}}'; read a`),
		"turn: too long":                       inTurn(`echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"max_tokens"}}'; read a`),
		"turn: too many requests":              inTurn(`echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"max_turn_requests"}}'; read a`),
		"turn: a reason of its own":            inTurn(`echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"_tired"}}'; read a`),
		"turn: cancelled by the agent":         inTurn(`echo '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"cancelled"}}'; read a`),
		"turn: sign in":                        inTurn(`echo '{"jsonrpc":"2.0","id":3,"error":{"code":-32000,"message":"Authentication required"}}'; read a`),
		"turn: fails":                          inTurn(`echo '{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"Internal error","data":"OPENAI_API_KEY is not set"}}'; read a`),
		"supervised: the agent exits in a turn": func(t *testing.T) (*client.Conn, error) {
			s := supervised(t, answers+"echo out of cheese >&2; exit 3")
			require.NoError(t, s.Start(t.Context()))
			session, err := s.Open(t.Context(), &supervise.SessionOptions{Cwd: "/"})
			require.NoError(t, err)
			turn, err := session.Prompt(t.Context(), acp.Text("x"))
			require.NoError(t, err)
			_, err = turn.Wait()
			return nil, err
		},
		"supervised: the agent does not start": func(t *testing.T) (*client.Conn, error) {
			return nil, supervised(t, "echo no license >&2; exit 4").Start(t.Context())
		},
		"supervised: a prompt during a turn": func(t *testing.T) (*client.Conn, error) {
			s := supervised(t, answers+"exec sleep 100")
			require.NoError(t, s.Start(t.Context()))
			session, err := s.Open(t.Context(), &supervise.SessionOptions{Cwd: "/"})
			require.NoError(t, err)
			_, err = session.Prompt(t.Context(), acp.Text("x"))
			require.NoError(t, err)
			_, err = session.Prompt(t.Context(), acp.Text("y"))
			return nil, err
		},
	}
}

func supervised(t *testing.T, script string) *supervise.Supervisor {
	s := supervise.New(&supervise.Options{
		Dial:    stream.CommandDial(func() *exec.Cmd { return shell(script) }, &stream.CommandOptions{Grace: 100 * time.Millisecond}),
		Client:  good,
		Restart: supervise.Restart{Min: time.Hour},
	})
	t.Cleanup(func() { s.Close(); _ = s.Wait() })
	return s
}

// reached connects to a URL, with a client if that is not nil.
func reached(t *testing.T, url string, web *http.Client) (*client.Conn, error) {
	s, err := remote.Dial(t.Context(), url, &remote.DialOptions{Client: web})
	if err != nil {
		return nil, err
	}
	_, err = client.Connect(t.Context(), s, good, &client.Options{Handshake: 2 * time.Second})
	return nil, err
}

// ofServers returns what servers do to a client that comes with a scheme, http or ws.
func ofServers(scheme string) map[string]situation {
	answer := func(status int, header, body string) situation {
		return func(t *testing.T) (*client.Conn, error) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", header)
				w.WriteHeader(status)
				fmt.Fprint(w, body)
			}))
			t.Cleanup(server.Close)
			return reached(t, scheme+strings.TrimPrefix(server.URL, "http")+"/acp", nil)
		}
	}
	plain := func(status int, body string) situation { return answer(status, "text/plain", body) }
	all := map[string]situation{
		"401":     plain(401, "no token\n"),
		"403":     plain(403, "This host is not in the list of allowed hosts."),
		"404":     plain(404, "404 page not found\n"),
		"405":     plain(405, ""),
		"400":     plain(400, "Bad Request"),
		"413":     plain(413, "too long"),
		"429":     plain(429, ""),
		"500":     plain(500, "Internal Server Error"),
		"502":     answer(502, "text/html", "<html><h1>Bad Gateway</h1></html>"),
		"503":     plain(503, "starting"),
		"a page":  answer(200, "text/html", "<html>Welcome</html>"),
		"refused": func(t *testing.T) (*client.Conn, error) { return reached(t, scheme+"://"+unused(t)+"/acp", nil) },
		"unknown host": func(t *testing.T) (*client.Conn, error) {
			lookup := func(context.Context, string, string) (net.Conn, error) {
				return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "agents.example", IsNotFound: true}}
			}
			return reached(t, scheme+"://agents.example/acp", &http.Client{Transport: &http.Transport{DialContext: lookup}})
		},
		"TLS to a plain port": func(t *testing.T) (*client.Conn, error) {
			server := httptest.NewServer(http.NotFoundHandler())
			t.Cleanup(server.Close)
			return reached(t, scheme+"s"+strings.TrimPrefix(server.URL, "http")+"/acp", nil)
		},
		"plain to a port with TLS": func(t *testing.T) (*client.Conn, error) {
			server := quietTLS(t)
			return reached(t, scheme+strings.TrimPrefix(server.URL, "https")+"/acp", nil)
		},
		"a certificate of nobody": func(t *testing.T) (*client.Conn, error) {
			server := quietTLS(t)
			return reached(t, scheme+"s"+strings.TrimPrefix(server.URL, "https")+"/acp", nil)
		},
		"a certificate of another": func(t *testing.T) (*client.Conn, error) {
			server := quietTLS(t)
			web := server.Client()
			to := server.Listener.Addr().String()
			web.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, to)
			}
			return reached(t, scheme+"s://agents.test/acp", web)
		},
		"silent": func(t *testing.T) (*client.Conn, error) {
			over := make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				select {
				case <-r.Context().Done():
				case <-over:
				}
			}))
			t.Cleanup(func() { close(over); server.Close() })
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			s, err := remote.Dial(ctx, scheme+strings.TrimPrefix(server.URL, "http")+"/acp", nil)
			if err != nil {
				return nil, err
			}
			_, err = client.Connect(ctx, s, good, nil)
			return nil, err
		},
	}
	named := map[string]situation{}
	for name, s := range all {
		named[scheme+": "+name] = s
	}
	return named
}

// quietTLS is a server with a certificate that nobody has signed.
func quietTLS(t *testing.T) *httptest.Server {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

// unused returns an address at which nobody listens.
func unused(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

func ofURLs() map[string]situation {
	dial := func(url string) situation {
		return func(t *testing.T) (*client.Conn, error) { return reached(t, url, nil) }
	}
	return map[string]situation{
		"URL: no scheme":      dial("localhost:8080/acp?token=secret"),
		"URL: only a host":    dial("agents.example/acp"),
		"URL: another scheme": dial("ftp://agents.example/acp"),
		"URL: not one":        dial("http://agents example/%zz"),
		"URL: credentials":    dial("http://user:secret@agents.example/acp"),
		"URL: no such socket": dial("unix:/no/such/socket"),
	}
}

// ofResponses are errors that an agent sends.
func ofResponses() map[string]situation {
	sent := func(raw string) situation {
		return func(t *testing.T) (*client.Conn, error) { return nil, fmt.Errorf("client: %w", decoded(t, raw)) }
	}
	record := func(e *kind.Error) situation {
		return func(t *testing.T) (*client.Conn, error) {
			raw, err := e.MarshalJSON()
			require.NoError(t, err)
			return nil, decoded(t, string(raw))
		}
	}
	return map[string]situation{
		"response: words":              sent(`{"code":-32603,"message":"Internal error","data":"OPENAI_API_KEY is not set"}`),
		"response: details":            sent(`{"code":-32603,"message":"Internal error","data":{"details":"the model is overloaded"}}`),
		"response: an id of the log":   sent(`{"code":-32603,"message":"Internal error","data":{"errorId":"k3v7pq2x"}}`),
		"response: nothing":            sent(`{"code":-32603,"message":"Internal error"}`),
		"response: members":            sent(`{"code":-32602,"message":"Invalid params","data":{"_errors":[],"cwd":{"_errors":["must be an absolute path"]}}}`),
		"response: unknown method":     sent(`{"code":-32601,"message":"Method not found: session/fork","data":{"method":"session/fork"}}`),
		"response: unknown session":    sent(`{"code":-32002,"message":"Resource not found: s9","data":{"uri":"s9"}}`),
		"response: cancelled":          sent(`{"code":-32800,"message":"Request cancelled"}`),
		"response: control characters": sent(`{"code":1,"message":"a\u001b[2Jb","data":"c\u202ed"}`),
		"response: sign in, no ways":   sent(`{"code":-32000,"message":"Authentication required"}`),
		"record: a hint":               record(kind.ContextRequired.New("Which account?").WithHint("Name one of work and home.")),
		"record: a waiting time":       record(kind.RateLimited.New("Too many requests").WithRetryAfter(90 * time.Second)),
		"record: again":                record(kind.ServiceUnavailable.New("The model does not respond")),
		"record: hint and time":        record(kind.RateLimited.New("The quota is used up").WithRetryAfter(2 * time.Second).WithHint("Choose a smaller model.")),
		"record: a reason":             record(kind.Validation.New("The file cannot be edited").WithReason("no_match")),
		"record: not again":            record(kind.Forbidden.New("Not allowed")),
		"record: path escape":          record(kind.Forbidden.New("../x is outside of the workspace").WithReason("path_escape")),
	}
}

func decoded(t *testing.T, raw string) error {
	e := new(rpcerr.RequestError)
	require.NoError(t, e.UnmarshalJSON([]byte(raw)))
	return e
}

// ofThisEnd are errors of calls of which the agent knows nothing.
func ofThisEnd() map[string]situation {
	call := func(f func(ctx context.Context, conn *client.Conn) error) situation {
		return func(t *testing.T) (*client.Conn, error) {
			conn := connected(t.Context())
			t.Cleanup(func() { conn.Close(); _ = conn.Wait() })
			return conn, f(t.Context(), conn)
		}
	}
	is := func(err error) situation { return func(*testing.T) (*client.Conn, error) { return nil, err } }
	return map[string]situation{
		"call: not advertised": call(func(ctx context.Context, conn *client.Conn) error {
			_, err := conn.ListSessions(ctx, &acp.ListSessionsRequest{})
			return err
		}),
		"call: breaks a rule": call(func(ctx context.Context, conn *client.Conn) error {
			_, err := conn.NewSession(ctx, &acp.NewSessionRequest{Cwd: "here"})
			return err
		}),
		"call: sign in with a way": call(func(ctx context.Context, conn *client.Conn) error {
			_, err := conn.NewSession(ctx, &acp.NewSessionRequest{Cwd: "/work"})
			return err
		}),
		"call: after Close": call(func(ctx context.Context, conn *client.Conn) error {
			conn.Close()
			_, err := conn.NewSession(ctx, &acp.NewSessionRequest{Cwd: "/work"})
			return err
		}),
		"call: its time is over": call(func(ctx context.Context, conn *client.Conn) error {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			_, err := conn.NewSession(ctx, &acp.NewSessionRequest{Cwd: "/work"})
			return err
		}),
		"turn: the agent is silent":   is(&acp.IdleError{Limit: time.Minute, Last: time.Date(2026, 11, 27, 12, 30, 5, 0, time.UTC)}),
		"turn: never a word":          is(&acp.IdleError{Limit: time.Minute}),
		"turn: another one runs":      is(acp.ErrTurnRunning),
		"turn: the session is closed": is(client.ErrSessionClosed),
		"message: too long":           is(&stream.TooLargeError{Limit: 1 << 20, Size: 1<<20 + 1}),
		"agent: does not read":        is(fmt.Errorf("client: %w", acp.ErrStalled)),
		"agent: sends too much":       is(fmt.Errorf("client: %w", acp.ErrOverloaded)),
		"host: cannot be reached":     is(fmt.Errorf("streamhttp: POST: %w", syscall.EHOSTUNREACH)),
		"certificate: expired":        is(errors.New("websocket: connecting: tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time is after then")),
	}
}

// ofRefusals are what an agent is told of what this client refuses.
func ofRefusals() map[string]situation {
	told := func(err error) situation {
		return func(t *testing.T) (*client.Conn, error) {
			raw, failed := json.Marshal(rpcerr.From(err))
			require.NoError(t, failed)
			return nil, decoded(t, string(raw))
		}
	}
	of := func(err error) situation { return told(&files.Error{Path: "/work/a", Err: err}) }
	return map[string]situation{
		"refused: outside of the folders":   of(files.ErrOutside),
		"refused: binary":                   of(files.ErrNotText),
		"refused: too large":                of(files.ErrTooLarge),
		"refused: unknown session":          of(files.ErrUnknownSession),
		"refused: a folder":                 of(files.ErrNotFile),
		"refused: no such file":             of(fs.ErrNotExist),
		"refused: denied by the system":     of(fs.ErrPermission),
		"refused: a parent is a file":       of(files.ErrNotFolder),
		"refused: a relative path":          of(files.ErrName),
		"refused: several names":            of(files.ErrHardLink),
		"refused: a path that changes":      of(files.ErrChanged),
		"refused: disk is full":             of(syscall.ENOSPC),
		"refused: a read":                   told(&permission.DeniedError{Operation: permission.Operation{Action: permission.ActionRead}}),
		"refused: a write":                  told(&permission.DeniedError{Operation: permission.Operation{Action: permission.ActionWrite}}),
		"refused: a command":                told(&permission.DeniedError{Operation: permission.Operation{Action: permission.ActionCommand}}),
		"refused: a question in no session": told(permission.ErrUnknownSession),
		"refused: no such command":          told(&terminals.Error{What: "npx", Err: terminals.ErrNotFound}),
		"refused: no such folder":           told(&terminals.Error{What: "/gone", Err: terminals.ErrCwd}),
		"refused: not a command":            told(&terminals.Error{What: "a.bat", Err: terminals.ErrCommand}),
		"refused: a command that fails":     told(&terminals.Error{What: "x", Err: syscall.ENOEXEC}),
		"refused: too many terminals":       told(&terminals.Error{What: "npx", Err: terminals.ErrTooMany}),
		"refused: a variable":               told(&terminals.Error{What: "LD_PRELOAD", Err: terminals.ErrEnv}),
	}
}
