package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"

	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// tokenVariable names the environment variable with the token for a remote agent.
const tokenVariable = "ACP_TOKEN"

// connect dials the agent at -url, or starts the one that is named.
func (c *chat) connect(ctx context.Context) (stream.Stream, error) {
	if c.settings.url != "" {
		wire, err := remote.Dial(ctx, c.settings.url, &remote.DialOptions{Header: header})
		if err != nil {
			return nil, fmt.Errorf("reaching the agent: %w", err)
		}
		return wire, nil
	}
	options := &stream.CommandOptions{OnStderr: c.start.stderr, OnNoise: c.start.skipped}
	if c.settings.verbose {
		options.Stderr = c.console.err
	}
	cmd := exec.CommandContext(ctx, c.argv()[0], c.argv()[1:]...) // the end of ctx ends it without a grace
	cmd.Env = c.environment()
	process, err := stream.Command(cmd, options)
	if err != nil {
		return nil, fmt.Errorf("starting the agent: %w", err)
	}
	return process, nil
}

// argv returns the command of the agent and its arguments.
func (c *chat) argv() []string {
	if len(c.settings.agent) == 0 {
		// -v names each package that is compiled, which the user sees if it takes long.
		return []string{"go", "run", "-v", "github.com/acpkit/go-sdk/examples/agent"}
	}
	return c.settings.agent
}

// environment returns the environment of the agent.
func (c *chat) environment() []string { return append(os.Environ(), c.env...) }

// command returns the command of the agent for sign-in on the terminal.
func (c *chat) command() *exec.Cmd {
	cmd := exec.Command(c.argv()[0], c.argv()[1:]...)
	cmd.Env = c.environment()
	return cmd
}

// header holds the token, if there is one.
func header(context.Context) (http.Header, error) {
	header := http.Header{}
	if token := os.Getenv(tokenVariable); token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	return header, nil
}
