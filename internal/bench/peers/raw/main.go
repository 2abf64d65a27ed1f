// Command raw is the floor of the benchmark: the bytes of the others through
// the same pipes, a write for every message, and no one parses them. What a
// library costs is what it needs above this.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"

	"github.com/acpkit/go-sdk/internal/bench/work"
)

func main() {
	work.Main(work.Contender{
		Name:  "raw",
		Serve: func() error { return serve(os.Stdin, os.Stdout) },
		Spawn: func(cmd *exec.Cmd, env *work.Env) (work.Client, error) {
			child, err := work.Start(cmd)
			if err != nil {
				return nil, err
			}
			return newClient(child, child, child, env), nil
		},
		Pair: func(env *work.Env) (work.Client, error) {
			near, far := work.Halves()
			go func() { // ends when the client closes its half
				_ = serve(far, far)
				_ = far.Close()
			}()
			return newClient(near, near, near, env), nil
		},
	})
}

// Lines of the contender's own begin with one of these bytes. All other lines are messages of the
// protocol.
const (
	taskLine = '#' // client: a task begins; agent: it is done
	markLine = '?' // client: asks for counters; agent: gives them
	readLine = '<' // agent: the path of the file that it wants to read
)

// serve is the agent: it answers every message with the same bytes and carries
// out tasks.
func serve(r io.Reader, w io.Writer) error {
	a := &agent{in: bufio.NewReaderSize(r, 64<<10), w: w}
	for {
		line, err := a.readLine()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch line[0] {
		case taskLine:
			err = a.task(string(line[1:]))
		case markLine:
			b, _ := json.Marshal(work.Mark(true))
			err = a.write(append(append([]byte{markLine}, b...), '\n'))
		default:
			err = a.write(modeAnswer)
		}
		if err != nil {
			return err
		}
	}
}

var (
	modeRequest = []byte(`{"jsonrpc":"2.0","id":12345,"method":"session/set_mode","params":{"sessionId":"` + work.SessionID + `","modeId":"` + work.ModeID + `"}}` + "\n")
	modeAnswer  = []byte(`{"jsonrpc":"2.0","id":12345,"result":{}}` + "\n")
	syncRequest = []byte(`{"jsonrpc":"2.0","id":12345,"method":"` + work.SyncMethod + `","params":{"sent":123500}}` + "\n")
)

type agent struct {
	in    *bufio.Reader
	w     io.Writer
	kind  string
	lines [][]byte
	long  []byte
}

func (a *agent) readLine() ([]byte, error) {
	line, err := a.in.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return bytes.TrimSuffix(line, []byte("\n")), err
	}
	a.long = a.long[:0]
	for err == bufio.ErrBufferFull {
		a.long = append(a.long, line...)
		line, err = a.in.ReadSlice('\n')
	}
	a.long = append(a.long, bytes.TrimSuffix(line, []byte("\n"))...)
	return a.long, err
}

func (a *agent) write(b []byte) error {
	_, err := a.w.Write(b)
	return err
}

func (a *agent) task(text string) error {
	ctx := context.Background()
	run := work.RunTask
	if bytes.HasPrefix([]byte(text), []byte("load-")) {
		run = func(ctx context.Context, a work.Agent, _, text string) error { return work.RunLoad(ctx, a, text) }
	}
	if err := run(ctx, a, work.SessionID, text); err != nil {
		return err
	}
	return a.write([]byte{taskLine, '\n'})
}

// Update sends one encoded notification of the corpus.
func (a *agent) Update(_ context.Context, kind, _ string, i int) error {
	if a.kind != kind {
		a.kind, a.lines = kind, nil
		for _, params := range work.Updates(kind) {
			a.lines = append(a.lines, notification(params))
		}
	}
	return a.write(a.lines[i%len(a.lines)])
}

func notification(params json.RawMessage) []byte {
	return []byte(`{"jsonrpc":"2.0","method":"session/update","params":` + string(params) + "}\n")
}

// ReadFile asks for a file and receives it as the real contenders do, encoded
// in a response. It knows the size of the text from the size of the line.
func (a *agent) ReadFile(_ context.Context, _, path string) (int, error) {
	if err := a.write([]byte(fmt.Sprintf("%c%s\n", readLine, path))); err != nil {
		return 0, err
	}
	line, err := a.readLine()
	if err != nil {
		return 0, err
	}
	size, err := strconv.Atoi(path[strings.LastIndexByte(path, '-')+1:])
	if err != nil {
		return 0, err
	}
	if len(line) < size {
		return len(line), nil
	}
	return size, nil
}

func (a *agent) Sync(context.Context, work.SyncParams) error {
	if err := a.write(syncRequest); err != nil {
		return err
	}
	_, err := a.readLine()
	return err
}

// client is the other end. Its reader goroutine hands lines that are not
// updates to whoever waits for them.
type client struct {
	w      io.Writer
	closer io.Closer
	env    *work.Env
	files  map[string][]byte // encoded responses by path

	writing sync.Mutex // one line at a time
	answers chan struct{}
	steer   chan []byte
}

func newClient(r io.Reader, w io.Writer, closer io.Closer, env *work.Env) *client {
	c := &client{w: w, closer: closer, env: env, files: map[string][]byte{},
		answers: make(chan struct{}, 64), steer: make(chan []byte, 1)}
	for path, content := range env.Files {
		b, _ := json.Marshal(content)
		c.files[path] = []byte(`{"jsonrpc":"2.0","id":12345,"result":{"content":` + string(b) + "}}\n")
	}
	env.Lengths = func(kind string) []int64 {
		var all []int64
		for _, params := range work.Updates(kind) {
			all = append(all, int64(len(notification(params))))
		}
		return all
	}
	go c.read(bufio.NewReaderSize(r, 64<<10)) // ends at the end of input
	return c
}

func (c *client) read(in *bufio.Reader) {
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			close(c.steer)
			return
		}
		switch {
		case line[0] == taskLine, line[0] == markLine:
			c.steer <- bytes.Clone(line)
		case line[0] == readLine:
			_ = c.write(c.files[string(bytes.TrimSpace(line[1:]))])
		case len(line) == len(modeAnswer):
			c.answers <- struct{}{}
		case len(line) == len(syncRequest):
			_ = c.write(modeAnswer)
		default:
			c.env.Tally.Add(len(line))
		}
	}
}

func (c *client) write(b []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.w.Write(b)
	return err
}

func (c *client) Initialize(ctx context.Context) error {
	return c.SetMode(ctx, work.SessionID, work.ModeID)
}

func (c *client) SetMode(context.Context, string, string) error {
	if err := c.write(modeRequest); err != nil {
		return err
	}
	<-c.answers
	return nil
}

func (c *client) Prompt(_ context.Context, _, text string) error {
	if err := c.write([]byte(fmt.Sprintf("%c%s\n", taskLine, text))); err != nil {
		return err
	}
	if _, ok := <-c.steer; !ok {
		return io.ErrUnexpectedEOF
	}
	return nil
}

func (c *client) Load(ctx context.Context, sessionID string) error {
	return c.Prompt(ctx, "", sessionID)
}

func (c *client) Mark(context.Context) (work.Counters, error) {
	var m work.Counters
	if err := c.write([]byte{markLine, '\n'}); err != nil {
		return m, err
	}
	line, ok := <-c.steer
	if !ok {
		return m, io.ErrUnexpectedEOF
	}
	err := json.Unmarshal(line[1:], &m)
	return m, err
}

func (c *client) Close() error { return c.closer.Close() }
