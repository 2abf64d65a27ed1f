package interop_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/terminals"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/stream"
)

// The recordings in testdata/asked are what agents sent before commands, reads and edits, of
// which each made some of every kind. Each command was "go test ./..." or "go test ./...; rm x".

// With no person there, a rule that allows go test lets each recorded agent run its tests, and
// a rule for the workspace lets it change files. Nothing else happens.
func TestRulesDecideForRecordedAgents(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("on Windows no rule allows the command in a line for a shell, and the recordings have paths of Unix")
	}
	for name, c := range map[string]struct {
		rule    func(dir string) permission.Rule
		allowed func(request string) bool
	}{
		"a rule of commands": {
			func(string) permission.Rule { return permission.Rule{Commands: []string{"go test *"}} },
			func(request string) bool {
				return strings.Contains(request, "fs/read") || strings.Contains(request, "go test") && !strings.Contains(request, "rm x")
			},
		},
		"a rule of paths": {
			func(dir string) permission.Rule {
				return permission.Rule{Paths: []string{filepath.ToSlash(dir) + "/**"}}
			},
			func(request string) bool { return !strings.Contains(request, "go test") },
		},
	} {
		files, err := filepath.Glob("testdata/asked/*.jsonl")
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, p := range readTranscripts(t, files) {
			t.Run(name+"/"+p.name, func(t *testing.T) {
				dir := pairtest.TempDir(t)
				require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
				for _, file := range []string{"in.txt", "out.txt"} {
					require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte("old\n"), 0o600))
				}
				rule := c.rule(dir)
				rule.Decision = permission.Allow
				var ran []string
				h, err := host.New(&host.Options{
					Roots:      []string{dir},
					Permission: &permission.Options{Rules: []permission.Rule{rule}, Extract: permission.ExtractKnown},
					Terminals: &terminals.Options{Exec: func(_ context.Context, c *terminals.Command, _ io.Writer) (terminals.Process, error) {
						ran = append(ran, strings.Join(c.Argv, " "))
						return &endedProcess{}, nil
					}},
				})
				require.NoError(t, err)
				defer h.Close()
				near, far := stream.Pipe()
				agent := &recordedAgent{t: t, stream: far, lines: p.lines, dir: dir, asked: map[string]string{}}
				ended := make(chan struct{})
				go func() { defer close(ended); agent.run() }() // ends with the stream
				conn := connect(t, near, h.Client)
				_, err = conn.Initialize(t.Context(), nil)
				require.NoError(t, err)
				session, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: dir})
				require.NoError(t, err)
				_, err = session.Prompt(t.Context(), acp.Text("work")).Wait()
				require.NoError(t, err)
				require.NoError(t, conn.Close())
				<-ended

				allowed := 0
				for request, response := range agent.asked {
					yes := allows(request, response)
					assert.Equal(t, c.allowed(request), yes, "%s\n%s", request, response)
					if yes {
						allowed++
					}
				}
				assert.Positive(t, allowed)
				for _, line := range ran {
					assert.Equal(t, "go test ./...", line)
				}
			})
		}
	}
}

// allows reports whether a response is a result and, to a question, an option that allows.
func allows(request, response string) bool {
	var asked struct {
		Params struct {
			Options []struct{ OptionID, Kind string }
		}
	}
	var answered struct {
		Result *struct{ Outcome struct{ OptionID string } }
	}
	if json.Unmarshal([]byte(request), &asked) != nil || json.Unmarshal([]byte(response), &answered) != nil || answered.Result == nil {
		return false
	}
	return len(asked.Params.Options) == 0 || slices.Contains(asked.Params.Options, struct{ OptionID, Kind string }{answered.Result.Outcome.OptionID, permission.AllowOnce})
}

// recordedAgent plays what an agent sent in its session, in one turn.
type recordedAgent struct {
	t      *testing.T
	stream stream.Stream
	lines  []recorded
	dir    string
	asked  map[string]string // the responses, by request
}

func (a *recordedAgent) run() {
	for {
		msg, err := a.stream.Read()
		if err != nil {
			return
		}
		m, _ := open(string(msg))
		switch m.Method {
		case "initialize", "session/new":
			a.write(strings.Replace(a.lines[0].Raw, `"id":`+idOf(a.lines[0]), `"id":`+string(m.ID), 1))
			a.lines = a.lines[1:]
		case "session/prompt":
			a.turn()
			a.write(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"stopReason":"end_turn"}}`)
		}
	}
}

func (a *recordedAgent) turn() {
	for _, l := range a.lines {
		request := strings.ReplaceAll(l.Raw, "/srv/acp/ws", a.dir)
		a.write(request)
		if m, _ := open(request); m.hasID {
			response, err := a.stream.Read()
			if !assert.NoError(a.t, err) {
				return
			}
			a.asked[request] = string(response)
		}
	}
}

func (a *recordedAgent) write(msg string) { assert.NoError(a.t, a.stream.Write([]byte(msg))) }

// endedProcess is a command that has ended.
type endedProcess struct{}

func (*endedProcess) Wait() acp.TerminalExitStatus { return acp.TerminalExitStatus{} }
func (*endedProcess) Terminate()                   {}
func (*endedProcess) Kill()                        {}
func (*endedProcess) Close()                       {}
