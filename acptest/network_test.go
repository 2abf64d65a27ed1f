package acptest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acptest/internal/agents"
	"github.com/acpkit/go-sdk/acptest/internal/check"
	"github.com/acpkit/go-sdk/acptest/internal/clients"
	"github.com/acpkit/go-sdk/acptest/internal/defect"
	"github.com/acpkit/go-sdk/acptest/internal/reference"
	"github.com/acpkit/go-sdk/internal/pipenet"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// The reference agent passes all checks over the network too, and each defect of a server makes
// exactly those checks fail that it names.
func TestDefectsOfServers(t *testing.T) {
	suite := agents.Suite()
	caught := map[string]bool{}
	for _, d := range append([]defect.NetworkDefect{{Name: "none"}}, defect.Network...) {
		for scheme, kind := range map[string]check.Kind{"http": check.HTTP, "ws": check.WebSocket} {
			if d.Over != 0 && d.Over != kind {
				continue
			}
			t.Run(fmt.Sprintf("%s over %s", d.Name, scheme), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					opts := &check.Options{Cwd: t.TempDir(), Prompts: reference.Prompts, Few: true}
					if d.Wrap != nil {
						for _, c := range suite.Checks {
							if c.Over != 0 && !c.Over.Has(check.Bytes) {
								opts.Only = append(opts.Only, c.ID)
							}
						}
					}
					target := check.Dial(scheme+"://127.0.0.1/acp", dialOptions(serveHTTP(t, &d)))
					var report *check.Report
					compare(t, &defect.Defect{Finds: d.Finds}, suite, kind, func() *check.Report {
						report = suite.Run(t.Context(), target, opts)
						return report
					})
					for _, r := range report.Results {
						caught[r.ID] = caught[r.ID] || r.Verdict == check.Fail
					}
				})
			})
		}
	}
	for _, c := range suite.Checks {
		if c.Over != 0 && !c.Over.Has(check.Bytes) {
			assert.True(t, caught[c.ID], "no defect makes %s fail", c.ID)
		}
	}
}

// A POST that is refused is named with its status, and is not taken for the end of the connection. What the
// server may refuse, because it has sent a request elsewhere than its client must answer it, is inconclusive.
func TestRefusedPosts(t *testing.T) {
	i := slices.IndexFunc(defect.Network, func(d defect.NetworkDefect) bool { return d.Name == "one_stream_for_all" })
	require.GreaterOrEqual(t, i, 0)
	for name, c := range map[string]struct {
		check, refuses string
		below          *defect.NetworkDefect
		want           check.Verdict
		reason         string
	}{
		"a request":               {"ACP-PROMPT-001", `"session/prompt"`, nil, check.Fail, `The end of the turn did not come: the POST of session/prompt got status 400 "not this one".`},
		"a response":              {"AK-PERM-001", `"outcome"`, nil, check.Fail, `The end of the turn did not come: the POST of the response to session/request_permission got status 400 "not this one".`},
		"a response to a stray":   {"AK-PERM-001", `"outcome"`, &defect.Network[i], check.Inconclusive, "because the request did not come on the event stream of its session, of which AK-HTTP-015 judges."},
		"a request of no session": {"no session", `"session/prompt"`, nil, check.Inconclusive, `A response to session/prompt did not come: the POST of session/prompt got status 400 "not this one".`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &defect.NetworkDefect{Wrap: func(w http.ResponseWriter, r *http.Request, next http.Handler) {
					body, err := io.ReadAll(r.Body)
					assert.NoError(t, err)
					r.Body = io.NopCloser(bytes.NewReader(body))
					switch {
					case r.Method == http.MethodPost && bytes.Contains(body, []byte(c.refuses)):
						http.Error(w, "not this one", http.StatusBadRequest)
					case c.below != nil:
						c.below.Wrap(w, r, next)
					default:
						next.ServeHTTP(w, r)
					}
				}}
				opts := &check.Options{Version: 1, Cwd: t.TempDir(), Prompts: reference.Prompts, Few: true, Only: []string{c.check}}
				suite := agents.Suite()
				suite.Checks = append(suite.Checks, check.Check{ID: "no session", In: check.Both, Run: func(t *check.T) {
					p := t.Connect()
					p.Call("initialize", map[string]any{"protocolVersion": 1})
					call := p.Start("session/prompt", map[string]any{})
					_, ok := call.Arrives()
					t.FailIf(ok, "There is a response.")
					p.Call(t.Probe.Method, t.Probe.Params) // the connection goes on
					call.Response()
				}})
				report := suite.Run(t.Context(), check.Dial("http://127.0.0.1/acp", dialOptions(serveHTTP(t, d))), opts)
				require.Len(t, report.Results, 1)
				assert.Equal(t, c.want, report.Results[0].Verdict, report.Results[0].Reason)
				assert.Contains(t, report.Results[0].Reason, c.reason)
			})
		})
	}
}

// serveHTTP serves the reference agent with a defect, and returns a client that reaches it.
func serveHTTP(t *testing.T, d *defect.NetworkDefect) *http.Client {
	agent := reference.NewAgent(streamed)
	handler := remote.NewHandler(agent, serving)
	t.Cleanup(func() { assert.NoError(t, handler.Shutdown(context.Background())) })
	return pipenet.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.Wrap == nil {
			handler.ServeHTTP(w, r)
			return
		}
		d.Wrap(w, r, handler)
	}), nil)
}

func dialOptions(client *http.Client) *remote.DialOptions {
	return &remote.DialOptions{Client: client, Header: func(context.Context) (http.Header, error) {
		return http.Header{"Authorization": {"Bearer " + defect.Token}}, nil
	}}
}

// What is wrong is found over WebSocket and HTTP as well. The transports take turns, and so do the
// versions. A client over HTTP has version 2: it begins version 1 anew on its connection. Defects that are
// found by rules alone are left out, because rules read messages, and so are those of lines and processes,
// which no check finds there.
func TestDefectsOverTheNetwork(t *testing.T) {
	for _, role := range []struct {
		name    string
		suite   check.Suite
		defects []defect.Defect
		open    func(t *testing.T, scheme string, target check.Target) check.Target
		peer    func(cwd string) check.Target
	}{
		{"agents", agents.Suite(), defect.Agents, dialed, func(string) check.Target {
			return defect.Wrap(check.InMemory(reference.NewAgent(streamed)), &defect.November, nil)
		}},
		{"clients", clients.Suite(), defect.Clients, dialing, func(cwd string) check.Target {
			return check.InMemory(reference.Client{Cwd: cwd}.Run)
		}},
	} {
		for i, d := range role.defects {
			version := 1 + (i/2)%2
			if d.In != 0 && !d.In.Has(version) {
				version = 3 - version
			}
			for n, scheme := range []string{"ws", "http"} {
				kind := []check.Kind{check.WebSocket, check.HTTP}[n]
				opts := &check.Options{Version: version, Prompts: reference.Prompts, Few: true}
				byRule := false
				for _, c := range role.suite.Checks {
					if d.Found(c.ID, version) && c.In.Has(version) && c.Over.Has(kind) {
						opts.Only, byRule = append(opts.Only, c.ID), byRule || c.Passive != ""
					}
				}
				other := n != i%2 && os.Getenv(whole) == ""
				if role.name == "clients" && version == 1 {
					other = kind == check.HTTP
				}
				if len(opts.Only) == 0 || byRule || other || unseen[d.Name] != 0 && unseen[d.Name].Has(kind) {
					continue
				}
				t.Run(fmt.Sprintf("%s, %s over %s in version %d", role.name, d.Name, scheme, version), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						if ofSignIn(&d, version) {
							opts.Auth = "key"
						}
						compare(t, &d, role.suite, kind, func() *check.Report {
							opts.Cwd = t.TempDir()
							target := defect.Wrap(role.peer(opts.Cwd), &d, reference.Prompts)
							report := role.suite.Run(t.Context(), role.open(t, scheme, target), opts)
							require.NoError(t, report.Unreachable)
							return report
						})
					})
				})
			}
		}
	}
}

// unseen are the defects that a transport hides: a server ends a connection whose initialize has failed,
// what withdraws a prompt may arrive when the turn before it has ended, and over HTTP nothing precedes the
// response to initialize, nobody reads the messages of sessions that do not exist, and the cancel of a request
// that is not known goes another way than the requests behind it.
var unseen = map[string]check.Kind{"ignores_refusal": check.Network, "forgets_withdrawn_prompts": check.Network, "speaks_early": check.HTTP, "options_start": check.HTTP, "stops_at_unknown_sessions": check.HTTP, "answers_updates": check.HTTP, "allows_in_unknown_sessions": check.HTTP, "stops_at_unknown_cancel": check.HTTP}

// dialed returns a target that reaches an agent by a URL.
func dialed(t *testing.T, scheme string, agent check.Target) check.Target {
	handler := remote.NewHandler(func(ctx context.Context, s stream.Stream) error {
		link, err := agent.Open(ctx, "")
		if err != nil {
			return errors.Join(err, s.Close())
		}
		bridge(s, link)
		return nil
	}, serving)
	t.Cleanup(func() { assert.NoError(t, handler.Shutdown(context.Background())) })
	return check.Dial(scheme+"://127.0.0.1/acp", dialOptions(pipenet.Serve(t, handler, nil)))
}

// dialing returns a target whose client reaches the check by a URL.
func dialing(t *testing.T, scheme string, client check.Target) check.Target {
	kind := map[string]check.Kind{"ws": check.WebSocket, "http": check.HTTP}[scheme]
	return check.Target{Kind: kind, Open: func(ctx context.Context, cwd string) (check.Link, error) {
		met, over := make(chan stream.Stream), make(chan struct{})
		handler := remote.NewHandler(func(ctx context.Context, s stream.Stream) error {
			met <- s
			select {
			case <-ctx.Done():
			case <-over:
			}
			return s.Close()
		}, serving)
		link, err := client.Open(ctx, cwd)
		if err != nil {
			return nil, err
		}
		bridged := make(chan struct{})
		go func() { // ends with the client, or with its connection
			defer close(bridged)
			if s, err := remote.Dial(ctx, scheme+"://127.0.0.1/acp", dialOptions(pipenet.Serve(t, handler, nil))); err == nil {
				bridge(s, link)
			}
		}()
		return &served{link, <-met, over, bridged}, nil
	}}
}

var serving = &remote.Options{Authorize: remote.BearerToken(defect.Token), Resume: true, Logger: slog.New(slog.DiscardHandler)}

// bridge carries messages between a stream and a peer until both have ended.
func bridge(s stream.Stream, link check.Link) {
	var both sync.WaitGroup
	both.Go(func() { // ends with the peer
		for line, err := link.Read(); err == nil; line, err = link.Read() {
			_ = s.Write(line) // a stream that has ended is noticed by reading
		}
		_ = s.Close()
	})
	for msg, err := s.Read(); err == nil; msg, err = s.Read() {
		_ = link.Write(append(msg, '\n')) // as above
	}
	_ = link.Close()
	both.Wait()
	_ = s.Close()
}

// served is a link to a client that has connected to a server.
type served struct {
	check.Link
	s       stream.Stream
	over    chan struct{} // closed to end the server
	bridged chan struct{} // closed when the bridge has ended
}

func (l *served) Read() ([]byte, error) { return l.s.Read() }
func (l *served) Write(b []byte) error  { return l.s.Write(b) }
func (l *served) CloseInput() error     { return l.s.Close() }
func (l *served) Close() error {
	err := l.s.Close()
	close(l.over)
	err = errors.Join(err, l.Link.Close())
	<-l.bridged
	return err
}
