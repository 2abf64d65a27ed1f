//go:build unix

package hub_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/hub"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/supervise"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

var kills = flag.Int("kills", 6, "processes that TestKilled kills")

// The processes of TestKilled are this program, with the name of their part in the environment and their folder as
// the first argument.
const part = "HUB_TEST_PART"

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(part) {
	case "":
		os.Exit(m.Run())
	case "agent":
		err = runAgent(os.Args[1])
	case "tally":
		err = runTally(os.Args[1])
	case "hub":
		err = runHub(os.Args[1])
	case "client":
		err = runClient(os.Args[1], acp.SessionID(os.Args[2]), os.Args[3])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func process(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), part+"="+name)
	return cmd
}

// pieces is how many chunks an answer has.
const pieces = 30

// runAgent is an agent that writes each prompt into a file before it answers.
func runAgent(dir string) error {
	if err := os.WriteFile(filepath.Join(dir, "pid"), []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		return err
	}
	write := writes(filepath.Join(dir, "prompts"))
	return peertest.Serving(peertest.Turns(func(ctx context.Context, s *agent.Session, req *acp.PromptRequest) error {
		err := write(req)
		for i := 0; i < pieces && err == nil; i++ {
			err = s.Update(ctx, &acp.AgentMessageChunk{MessageID: acp.MessageID("answer-" + acp.PlainText(req.Prompt...)), Content: acp.Text(fmt.Sprint(i, " "))})
		}
		return err
	}), nil)(context.Background(), stream.Stdio())
}

// writes returns a function that appends a prompt to a file.
func writes(file string) func(*acp.PromptRequest) error {
	return func(req *acp.PromptRequest) error {
		f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(f, acp.PlainText(req.Prompt...))
		return errors.Join(err, f.Close())
	}
}

// whole is the answer to a prompt.
func whole() string {
	var b strings.Builder
	for i := range pieces {
		fmt.Fprint(&b, i, " ")
	}
	return b.String()
}

func runHub(dir string) error {
	store, err := journal.OpenFiles(filepath.Join(dir, "sessions"), nil)
	if err != nil {
		return err
	}
	h := hub.New(&hub.Options{
		Store: store, Logger: quiet,
		Agent: supervise.Options{Dial: stream.CommandDial(func() *exec.Cmd { return process("agent", dir) }, nil), Restart: supervise.Restart{Min: 1, Max: 1, Limit: -1}},
	})
	_ = os.Remove(filepath.Join(dir, "socket")) // of one that was killed
	listener, err := remote.Listen("unix:" + filepath.Join(dir, "socket"))
	if err != nil {
		return err
	}
	fmt.Println("ready")
	return remote.NewHandler(h.Serve, &remote.Options{Logger: quiet}).Serve(context.Background(), listener)
}

// teller is a client that prints a line for each piece of an answer.
type teller struct{ v1 }

func (c *teller) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	if u, ok := n.Update.(*acp.AgentMessageChunk); ok {
		fmt.Println("update", u.MessageID)
	}
	return nil
}

func runClient(dir string, id acp.SessionID, prompt string) error {
	ctx := context.Background()
	s, err := remote.Dial(ctx, "unix:"+filepath.Join(dir, "socket"), nil)
	if err != nil {
		return err
	}
	conn, err := client.Connect(ctx, s, func(*client.Conn) acp.Client { return new(teller) }, &client.Options{Logger: quiet})
	if err != nil {
		return err
	}
	if _, err = conn.ResumeSession(ctx, &acp.ResumeSessionRequest{SessionID: id, Cwd: "/work"}); err != nil {
		return err
	}
	fmt.Println("update resumed")
	if _, err := conn.Prompt(ctx, &acp.PromptRequest{SessionID: id, Prompt: []acp.ContentBlock{acp.Text(prompt)}}); err != nil {
		return err
	}
	fmt.Println("done")
	return nil
}

// world is the processes of one folder.
type world struct {
	t   *testing.T
	dir string
	hub *exec.Cmd
}

func (w *world) startHub() {
	w.hub = process("hub", w.dir)
	w.hub.Stderr = os.Stderr
	out, err := w.hub.StdoutPipe()
	require.NoError(w.t, err)
	require.NoError(w.t, w.hub.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(w.t, err)
	require.Equal(w.t, "ready\n", line)
}

func (w *world) dial() *v1 {
	return dial(w.t, 1, func() (stream.Stream, error) {
		return remote.Dial(w.t.Context(), "unix:"+filepath.Join(w.dir, "socket"), nil)
	}).(*v1)
}

// prompt runs a client until it ends. After a number of lines, and at the latest when it ends, kill is called, unless lines is
// negative. It reports whether the
// client got a response to its prompt.
func (w *world) prompt(id, text string, lines int, kill func(client *os.Process)) (done bool) {
	c := process("client", w.dir, id, text)
	out, err := c.StdoutPipe()
	require.NoError(w.t, err)
	require.NoError(w.t, c.Start())
	in := bufio.NewScanner(out)
	for more := true; more; lines-- {
		if more = in.Scan(); lines == 0 || !more && lines > 0 {
			kill(c.Process)
			lines = 0
		}
		done = done || in.Text() == "done"
	}
	_ = c.Wait() // it may have been killed
	return done
}

// Processes are killed at random moments, the agent, the hub and a client. No prompt reaches the agent twice, each
// prompt that reached it is shown afterwards, an answer whose client got the response is whole, and the next prompt works.
func TestKilled(t *testing.T) {
	w := &world{t: t, dir: t.TempDir()}
	w.startHub()
	t.Cleanup(func() { _ = w.hub.Process.Kill(); _ = w.hub.Wait() })
	first := w.dial()
	res, err := first.conn.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: "/work"})
	require.NoError(t, err)
	first.close()
	id := string(res.SessionID)
	r := rand.New(rand.NewPCG(1, uint64(*kills)))
	var answered []string
	counts := map[string]int{}
	for n := range *kills {
		victim := []string{"agent", "hub", "client"}[r.IntN(3)]
		text := fmt.Sprint(victim, "-", n)
		if w.prompt(id, text, r.IntN(pieces+4), func(client *os.Process) {
			counts[victim]++
			switch victim {
			case "client":
				_ = client.Kill() // it may have ended
			case "hub":
				require.NoError(t, w.hub.Process.Kill())
				_ = w.hub.Wait() // it was killed
			case "agent":
				data, err := os.ReadFile(filepath.Join(w.dir, "pid"))
				require.NoError(t, err)
				pid, err := strconv.Atoi(string(data))
				require.NoError(t, err)
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may be starting
			}
		}) {
			answered = append(answered, text)
		}
		if victim == "hub" {
			w.startHub()
		}
		next := fmt.Sprint("after-", n)
		require.True(t, w.prompt(id, next, -1, nil), "the prompt after a kill of the %s", victim)
		answered = append(answered, next)
	}
	data, err := os.ReadFile(filepath.Join(w.dir, "prompts"))
	require.NoError(t, err)
	seen := map[string]int{}
	for line := range strings.Lines(string(data)) {
		seen[strings.TrimSpace(line)]++
	}
	last := w.dial()
	defer last.close()
	require.NoError(t, last.load(t.Context(), id))
	shown := strings.Join(shown(last.thread(id)), "\n") + "\n"
	for text, times := range seen {
		assert.Equal(t, 1, times, "%s reached the agent more than once", text)
		assert.Equal(t, 1, strings.Count(shown, "user: "+text+"\n"), "%s is not shown once", text)
	}
	for _, text := range answered {
		assert.Contains(t, shown, "user: "+text+"\nagent: "+whole()+"\n")
	}
	t.Logf("killed %v; %d prompts reached the agent, %d were answered", counts, len(seen), len(answered))
}
