// Command proxy stands between an editor and an agent and logs one line for each
// message that passes. Point an editor at it in place of the agent:
//
//	go run ./examples/proxy gemini --acp
//
// Whatever the two say to each other goes through unchanged, extensions included:
// the connection to the agent is itself an acp.Agent, so it is simply handed to the
// connection to the editor, and the other way round.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: proxy AGENT [ARG ...]")
		os.Exit(2)
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	process, err := stream.Command(exec.Command(os.Args[1], os.Args[2:]...), nil)
	if err == nil {
		err = join(context.Background(), stream.Stdio(), process, log)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "proxy:", err)
		os.Exit(1)
	}
}

// join connects the editor at one stream with the agent at the other until one of
// them leaves.
func join(ctx context.Context, editor, agentEnd stream.Stream, log *slog.Logger) error {
	var toAgent *client.Conn
	toEditor := agent.New(editor, func(toEditor *agent.Conn) acp.Agent {
		toAgent = client.New(agentEnd, func(*client.Conn) acp.Client { return toEditor }, &client.Options{
			Unstable: true, Logger: log, Receiving: []acp.Middleware{logging(log, "agent to editor")},
		})
		return toAgent
	}, &agent.Options{
		Unstable: true, Logger: log, Receiving: []acp.Middleware{logging(log, "editor to agent")},
	})

	if err := toAgent.Start(ctx); err != nil {
		return err
	}
	go func() { // ends with the connection to the agent, at the latest by the Close below
		<-toAgent.Done()
		toEditor.Close()
	}()
	editorErr := toEditor.Run(ctx)
	toAgent.Close()
	return errors.Join(editorErr, toAgent.Wait())
}

// logging writes a line when a message has been dealt with. It tells the method and
// how long it took, never what was said.
func logging(log *slog.Logger, direction string) acp.Middleware {
	return func(next acp.Handler) acp.Handler {
		return func(ctx context.Context, method string, params any) (any, error) {
			start := time.Now()
			result, err := next(ctx, method, params)
			log.LogAttrs(ctx, slog.LevelInfo, direction, slog.String("method", method),
				slog.Duration("took", time.Since(start).Round(time.Microsecond)), slog.Any("error", err))
			return result, err
		}
	}
}
