package work

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// A Contender is one library under test.
type Contender struct {
	Name string
	// Serve runs an agent over stdin and stdout until its input ends.
	Serve func() error
	// Spawn starts cmd, an agent of the same contender, and connects to it.
	Spawn func(cmd *exec.Cmd, env *Env) (Client, error)
	// Listen serves agents at an address of the loopback interface, prints its URL, and
	// ends with stdin. Dial connects to one, by http or ws. Both are nil in contenders
	// that have no network.
	Listen func() error
	Dial   func(url string, env *Env) (Client, error)
	// Pair connects a client to an agent in this process.
	Pair func(env *Env) (Client, error)
}

// A Client is what the clock needs of a contender's client end. SetMode is
// called by many goroutines at once.
type Client interface {
	Initialize(ctx context.Context) error
	SetMode(ctx context.Context, sessionID, modeID string) error
	Prompt(ctx context.Context, sessionID, text string) error
	Load(ctx context.Context, sessionID string) error
	// Mark calls MarkMethod at the agent.
	Mark(ctx context.Context) (Counters, error)
	// Close ends the connection and, where there is one, waits for the agent's process.
	Close() error
}

// BytesEnv is the environment variable that makes a contender with an in-memory
// connection of its own use io.Pipe as the others do.
const BytesEnv = "ACPKIT_BENCH_BYTES"

// TurnEnv is the environment variable that makes a contender with an iterator
// over the updates of a turn count what that gives out.
const TurnEnv = "ACPKIT_BENCH_TURN"

// Env is what the handlers of a client use.
type Env struct {
	Tally *Tally
	Files map[string]string // the contents for fs/read_text_file by path
}

// HandleSync answers SyncMethod.
func (e *Env) HandleSync(ctx context.Context, params json.RawMessage) (any, error) {
	var p SyncParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	return struct{}{}, e.Tally.Until(ctx, p.Sent)
}

// OverBytes returns the contender of a library that needs a connection of bytes. Serve runs an agent
// over one; done is closed when it has ended.
func OverBytes(name string, serve func(io.ReadWriteCloser) (done <-chan struct{}), connect func(io.ReadWriteCloser, *Env) Client) Contender {
	return Contender{
		Name: name,
		Serve: func() error {
			<-serve(stdio{os.Stdin, os.Stdout})
			return nil
		},
		Spawn: func(cmd *exec.Cmd, env *Env) (Client, error) {
			child, err := Start(cmd)
			if err != nil {
				return nil, err
			}
			return connect(child, env), nil
		},
		Pair: func(env *Env) (Client, error) {
			near, far := Halves()
			serve(far)
			return connect(near, env), nil
		},
	}
}

type stdio struct {
	io.Reader
	io.Writer
}

func (stdio) Close() error { return nil }

// A Child is a started process whose stdin and stdout are connected to us.
type Child struct {
	io.Reader
	io.WriteCloser
	wait func() error
}

// Start starts cmd with pipes at its stdin and stdout.
func Start(cmd *exec.Cmd) (*Child, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &Child{Reader: out, WriteCloser: in, wait: sync.OnceValue(cmd.Wait)}, nil
}

// Close ends the child's input and waits for its end. Libraries that own what
// they were given may call it a second time.
func (c *Child) Close() error {
	_ = c.WriteCloser.Close() // closed twice is closed
	return c.wait()
}

// A Half is one end of an in-process byte connection.
type Half struct {
	*io.PipeReader
	*io.PipeWriter
}

// Halves returns the two ends of an in-process byte connection made of io.Pipe.
func Halves() (client, agent *Half) {
	r1, w1 := io.Pipe()
	r2, w2 := io.Pipe()
	return &Half{r1, w2}, &Half{r2, w1}
}

// Close closes both directions.
func (h *Half) Close() error {
	return errors.Join(h.PipeWriter.Close(), h.PipeReader.Close())
}

// dialChild starts an agent of the contender that listens, and connects to it.
func dialChild(c Contender, mode string, env *Env) (Client, error) {
	if c.Dial == nil {
		return nil, errors.New("the contender has no network")
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(exe, "-mode", "listen")
	cmd.Stderr = os.Stderr
	child, err := Start(cmd)
	if err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(child).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reading the URL: %w", err), child.Close())
	}
	url := strings.TrimSpace(line)
	if mode == "ws" {
		url = "ws" + strings.TrimPrefix(url, "http")
	}
	client, err := c.Dial(url, env)
	if err != nil {
		return nil, errors.Join(err, child.Close())
	}
	return &listened{client, child}, nil
}

// listened is a client whose agent is a process of its own that it did not start.
type listened struct {
	Client
	child *Child
}

func (l *listened) Close() error { return errors.Join(l.Client.Close(), l.child.Close()) }
