package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// endGrace is how long the agent may take to end by itself. Tests shorten it.
var endGrace = 5 * time.Second

// startAgent sets c.process.
func (c *chat) startAgent(ctx context.Context) (err error) {
	options := &stream.CommandOptions{OnStderr: c.start.stderr, OnNoise: c.start.skipped, Grace: endGrace}
	if c.settings.verbose {
		options.OnStderr = func(line string) {
			c.start.stderr(line)
			c.print("agent: " + line)
		}
	}
	c.process, err = stream.Command(c.command(ctx), options)
	return err
}

func (s *settings) argv() []string {
	if len(s.agent) > 0 {
		return s.agent
	}
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return []string{self, "-agent"}
}

// command returns the command of the agent. When ctx is done, the agent is killed without a grace.
func (c *chat) command(ctx context.Context) *exec.Cmd {
	argv := c.settings.argv()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), c.env...)
	return cmd
}

// record writes every message of a stream to out, one JSON object a line: the seconds since the
// start, the direction, and the message itself, with the secrets in it.
func record(s stream.Stream, out io.Writer) stream.Stream {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	start := time.Now()
	names := map[stream.Direction]string{stream.Received: "recv", stream.Sent: "send"}
	var mu sync.Mutex // guards enc: reading and writing happen at the same time
	return stream.Tap(s, func(dir stream.Direction, msg []byte) {
		mu.Lock()
		defer mu.Unlock()
		enc.Encode(struct {
			T   float64 `json:"t"`
			Dir string  `json:"dir"`
			Raw string  `json:"raw"`
		}{time.Since(start).Seconds(), names[dir], string(msg)})
	})
}

// noiseLimit is the number of bytes besides messages that an agent may print before its first
// response. Wrappers print a few lines; a program that is not an agent may never stop.
const noiseLimit = 64 << 10

// start follows an agent from its start to its first response. There is no deadline: an
// agent may have to be downloaded first.
type start struct {
	say  func(string)            // shows a line to the user
	fail context.CancelCauseFunc // ends the connection, without a grace

	mu    sync.Mutex // guards all below
	over  bool       // the agent has responded, or has ended
	last  string     // the last line of its standard error
	noise int        // bytes that were not messages
}

func (s *start) stderr(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if line = strings.TrimSpace(safetext.Lines(line, shownOfLine)); line != "" {
		s.last = line
	}
}

// skipped is called for each line that is not a message. The first is shown at once, because most
// programs that print such lines never respond.
func (s *start) skipped(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return
	}
	first := s.noise == 0
	s.noise += len(line) + 1
	text := strings.TrimSpace(safetext.Lines(line, 100))
	switch {
	case s.noise > noiseLimit:
		s.over = true
		s.fail(&explained{fmt.Sprintf("the agent does not speak the protocol: it prints lines such as %q", text) +
			"\nMany agents speak it only with a flag such as --acp.", errors.New("noise")})
	case first:
		s.say(fmt.Sprintf("the agent printed %q, which is not a message of the protocol", text))
	}
}

func (s *start) doing(agent string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last != "" {
		return agent + ", which says: " + short(s.last, 80)
	}
	return agent + " to start"
}

// initialize starts the agent and waits for its first response. alive ends the connection, without a
// grace.
func (c *chat) initialize(alive context.Context, file io.Writer) error {
	s := c.start
	stop := waiting(c.notice, func() string { return s.doing(c.settings.agentName()) + "; Ctrl-C ends it" })
	conn, err := c.introduced(alive, file)
	stop()
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	if cause, ok := errors.AsType[*explained](context.Cause(alive)); ok {
		return cause
	}
	c.conn = conn
	return err
}

// introduced returns a connection that is ready for sessions.
func (c *chat) introduced(alive context.Context, file io.Writer) (*client.Conn, error) {
	if err := c.startAgent(alive); err != nil {
		return nil, err
	}
	var wire stream.Stream = c.process
	if file != nil {
		wire = record(wire, file)
	}
	var served acp.Client
	conn := client.New(wire, func(conn *client.Conn) acp.Client {
		served = c.threads.Client(c.host.Client(conn))
		return served
	}, &client.Options{
		Sending: []acp.Middleware{c.threads.Sending},
		Logger:  slog.New(slog.NewTextHandler(c.console.err, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	err := conn.Start(alive)
	if err == nil {
		caps := c.host.Capabilities(served)
		// No method implies these.
		caps.Session = &acp.ClientSessionCapabilities{
			Notices: &acp.NoticeCapabilities{}, PromptSuggestions: &acp.PromptSuggestionsCapabilities{},
			ConfigOptions: &acp.SessionConfigOptionsCapabilities{Boolean: &acp.BooleanConfigOptionCapabilities{}},
		}
		caps.Plan = &acp.PlanCapabilities{}
		_, err = conn.Initialize(alive, &acp.InitializeRequest{
			ClientInfo: &acp.Implementation{Name: "acpkit-chat", Title: "Chat", Version: "1.0.0"}, ClientCapabilities: caps,
		})
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// updated draws an update, which the thread has.
func (c *chat) updated(_ context.Context, n *acp.SessionNotification) error {
	if v := c.view.Load(); v != nil && v.id == n.SessionID {
		v.draw()
	}
	return nil
}

func (s *settings) agentName() string {
	if len(s.agent) == 0 {
		return "the example agent"
	}
	return short(strings.Join(s.agent, " "), 60)
}

func short(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "..."
	}
	return s
}

// The program prints what it waits for after waitingAfter, and again every waitingEvery.
var waitingAfter, waitingEvery = 2 * time.Second, 10 * time.Second

// waiting prints what the program waits for, unless that is empty, until stop is called.
func waiting(say func(string), what func() string) (stop func()) {
	quit, ended := make(chan struct{}), make(chan struct{})
	start := time.Now()
	go func() { // ends with stop
		defer close(ended)
		timer := time.NewTimer(waitingAfter)
		defer timer.Stop()
		for {
			select {
			case <-timer.C:
				timer.Reset(waitingEvery)
				text := what()
				if text == "" {
					continue
				}
				line := "waiting for " + text
				if waited := time.Since(start); waited >= waitingEvery {
					line += fmt.Sprintf(" (%d s)", int(waited.Seconds()))
				}
				say(line)
			case <-quit:
				return
			}
		}
	}()
	return sync.OnceFunc(func() { close(quit); <-ended })
}
