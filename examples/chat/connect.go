package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// tokenVariable names the environment variable with the token for a remote agent.
const tokenVariable = "ACP_TOKEN"

// endGrace is how long the agent may take to end by itself. Tests shorten it.
var endGrace = 5 * time.Second

func (c *chat) connect(ctx context.Context) (stream.Stream, error) {
	if c.settings.url != "" {
		return remote.Dial(ctx, c.settings.url, &remote.DialOptions{Header: header})
	}
	options := &stream.CommandOptions{OnStderr: c.start.stderr, OnNoise: c.start.skipped, Grace: endGrace}
	if c.settings.verbose {
		options.Stderr = c.console.err
	}
	process, err := stream.Command(c.command(ctx), options)
	if err != nil {
		return nil, err
	}
	c.process = process
	return process, nil
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

func header(context.Context) (http.Header, error) {
	header := http.Header{}
	if token := os.Getenv(tokenVariable); token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	return header, nil
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
