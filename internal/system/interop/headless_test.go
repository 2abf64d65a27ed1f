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
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
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
				h, err := host.Open(&host.Options{
					Roots:      []string{dir},
					Rules:      []permission.Rule{rule},
					Permission: &permission.Options{Extract: permission.ExtractKnown},
					Terminals: &terminals.Options{Exec: func(_ context.Context, c *terminals.Command, _ io.Writer) (terminals.Process, error) {
						ran = append(ran, strings.Join(c.Argv, " "))
						return &endedProcess{}, nil
					}},
				})
				require.NoError(t, err)
				defer h.Close()
				near, agent := rawpeer.Pipe(t)
				asked := map[string]string{} // the responses, by request
				ended := make(chan struct{})
				go func() { // ends with the turn
					defer close(ended)
					for _, l := range p.lines[:2] { // the responses to initialize and session/new
						agent.SendLines(strings.Replace(l.Raw, `"id":`+idOf(l), `"id":`+string(agent.Next().ID), 1))
					}
					prompt := agent.Expect("session/prompt")
					for _, l := range p.lines[2:] {
						request := strings.ReplaceAll(l.Raw, "/srv/acp/ws", dir)
						agent.SendLines(request)
						if m, _ := open(request); m.hasID {
							asked[request] = agent.Next().Raw
						}
					}
					agent.Answer(prompt, `{"stopReason":"end_turn"}`)
				}()
				conn := connected(t, near, h.Client)
				_, err = conn.Initialize(t.Context(), nil)
				require.NoError(t, err)
				session, err := conn.StartSession(t.Context(), &acp.NewSessionRequest{Cwd: dir})
				require.NoError(t, err)
				_, err = session.Prompt(t.Context(), acp.Text("work")).Wait()
				require.NoError(t, err)
				require.NoError(t, conn.Close())
				<-ended

				allowed := 0
				for request, response := range asked {
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

// endedProcess is a command that has ended.
type endedProcess struct{}

func (*endedProcess) Wait() acp.TerminalExitStatus { return acp.TerminalExitStatus{} }
func (*endedProcess) Terminate()                   {}
func (*endedProcess) Kill()                        {}
func (*endedProcess) Close()                       {}
