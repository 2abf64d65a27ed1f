package host_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/stream"
)

// playAgent makes the test binary an agent, which does what its value says.
const playAgent = "ACPKIT_TEST_RUN"

func TestMain(m *testing.M) {
	if what := os.Getenv(playAgent); what != "" {
		play(what)
		return
	}
	os.Exit(m.Run())
}

// play is an agent. It writes a file, and streams until it is cancelled, is deaf, or ends with a stop reason.
func play(what string) {
	if what == "silent" {
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	quiet := slog.New(slog.DiscardHandler)
	_ = agent.Serve(context.Background(), stream.Stdio(), func(c *agent.Conn) acp.Agent {
		dir := ""
		return &peertest.Agent{
			OnNewSession: func(_ context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
				dir = req.Cwd
				return &acp.NewSessionResponse{SessionID: "s"}, nil
			},
			OnPrompt: func(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
				s := c.Session(req.SessionID)
				switch what {
				case "deaf":
					select {}
				case "stream":
					for ctx.Err() == nil {
						if err := s.Message(ctx, "x"); err != nil {
							return nil, err
						}
					}
					return nil, context.Cause(ctx)
				}
				for _, name := range []string{"notes.txt", "main.go"} {
					said := "Wrote " + name + ".\n"
					if err := s.WriteFile(ctx, filepath.Join(dir, name), "package main\n"); err != nil {
						said = "May not write " + name + ".\n"
					}
					if err := s.Message(ctx, said); err != nil {
						return nil, err
					}
				}
				return &acp.PromptResponse{StopReason: acp.StopReason(what), Usage: &acp.Usage{TotalTokens: 7}}, nil
			},
		}
	}, &agent.Options{Logger: quiet, Unstable: true})
}

// playing returns the command of an agent.
func playing(what string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), playAgent+"="+what)
	return cmd
}

// A program for a pipeline: it runs an agent, which may write Go files and do nothing else.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "run")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir) // rules name files without symlinks
	}
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	agent := playing("end_turn") // in your program: exec.Command("gemini", "--acp")
	res, err := host.Run(ctx, agent, "Write the program.", &host.RunOptions{
		Dir:   dir,
		Rules: []permission.Rule{{Decision: permission.Allow, Paths: []string{filepath.ToSlash(dir) + "/**/*.go"}}},
		Conn:  &client.Options{Handshake: time.Minute, IdleLimit: 5 * time.Minute},
		Updates: func(updates iter.Seq2[acp.SessionUpdate, error]) {
			for u := range updates { // as they arrive
				if chunk, ok := u.(*acp.AgentMessageChunk); ok {
					fmt.Print(acp.PlainText(chunk.Content))
				}
			}
		},
	})
	if err != nil {
		fmt.Println(client.Explain(nil, err))
	}
	for _, d := range res.Denied {
		fmt.Println("denied:", strings.ReplaceAll(d.Question.Lines()[0], dir+string(filepath.Separator), ""))
	}
	fmt.Println(res.StopReason)
	// Output:
	// May not write notes.txt.
	// Wrote main.go.
	// denied: write notes.txt
	// end_turn
}

func TestRun(t *testing.T) {
	leak.Check(t)
	dir := t.TempDir()
	var log bytes.Buffer
	seen, told := 0, 0
	res, err := host.Run(t.Context(), playing("max_tokens"), "x", &host.RunOptions{
		Dir: dir, Log: &log, Denied: func(permission.Record) { told++ },
		Updates: func(updates iter.Seq2[acp.SessionUpdate, error]) {
			for range updates {
				seen++
				break // the rest is read all the same
			}
		},
	})
	require.NoError(t, err)
	assert.Equal(t, acp.StopReasonMaxTokens, res.StopReason)
	assert.Equal(t, "May not write notes.txt.\nMay not write main.go.\n", res.Text)
	assert.Len(t, res.Denied, 2)
	assert.Equal(t, 2, told)
	assert.Equal(t, 1, seen)
	assert.Equal(t, 7, int(res.Usage.TotalTokens))
	var methods []string
	for _, line := range strings.Split(strings.TrimSpace(log.String()), "\n") {
		var entry struct {
			Time      time.Time
			Direction string
			Message   struct{ Method string }
		}
		require.NoError(t, json.Unmarshal([]byte(line), &entry))
		assert.False(t, entry.Time.IsZero())
		if entry.Message.Method != "" {
			methods = append(methods, entry.Direction+" "+entry.Message.Method)
		}
	}
	assert.Equal(t, []string{
		"sent initialize", "sent session/new", "sent session/prompt",
		"received fs/write_text_file", "received session/update", "received fs/write_text_file", "received session/update",
	}, methods)
}

// alarm is a log that calls ring when something is written to it.
type alarm struct {
	bytes.Buffer
	at   string
	ring func()
}

func (a *alarm) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(a.at)) {
		a.ring()
	}
	return a.Buffer.Write(b)
}

// When its time is over, the turn is cancelled at the agent, which ends it, and the error says so. An agent
// that does neither is killed.
func TestRunEndsInTime(t *testing.T) {
	leak.Check(t)
	late := errors.New("ten past nine")
	for what, c := range map[string]struct {
		at    string // what is on its way when the time is over
		grace time.Duration
		says  string
	}{
		"silent": {`"initialize"`, time.Second, "the agent has not opened a session in time: ten past nine"},
		"stream": {`"session/update"`, 15 * time.Second, "the agent was cancelled, and has ended its turn: ten past nine"},
		"deaf":   {`"session/prompt"`, time.Second, "the agent was cancelled, and has not ended in time: ten past nine"},
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		log := alarm{at: c.at, ring: func() { cancel(late) }}
		begun := time.Now()
		res, err := host.Run(ctx, playing(what), "x", &host.RunOptions{
			Dir: t.TempDir(), Log: &log, Conn: &client.Options{CancelGrace: c.grace},
		})
		assert.ErrorContains(t, err, c.says, what)
		assert.Equal(t, what != "silent", strings.Contains(log.String(), `"method":"session/cancel"`), what)
		assert.Less(t, time.Since(begun), 20*time.Second, what)
		assert.Equal(t, what == "stream", res.Text != "", what)
		assert.NotContains(t, client.Explain(nil, err), "has not responded", "no one is blamed")
	}
}

// What cannot begin is an error with an empty result.
func TestRunFails(t *testing.T) {
	for says, run := range map[string]func() (*host.RunResult, error){
		"was given no command":      func() (*host.RunResult, error) { return host.Run(t.Context(), nil, "x", nil) },
		"executable file not found": func() (*host.RunResult, error) { return host.Run(t.Context(), exec.Command("no-such-agent"), "x", nil) },
		"the folder of the session": func() (*host.RunResult, error) {
			return host.Run(t.Context(), playing("x"), "x", &host.RunOptions{Dir: "/no/such"})
		},
		"process exited with status 0": func() (*host.RunResult, error) {
			return host.Run(t.Context(), exec.Command(os.Args[0], "-test.run=^$"), "x", nil)
		},
		"the agent has not responded to": func() (*host.RunResult, error) {
			return host.Run(t.Context(), playing("silent"), "x", &host.RunOptions{Conn: &client.Options{Handshake: time.Second}})
		},
	} {
		res, err := run()
		assert.ErrorContains(t, err, says)
		assert.Equal(t, &host.RunResult{}, res)
	}
}
