// Command proxy stands between an editor and an agent and logs one line for each
// message that passes. Point an editor at it in place of the agent:
//
//	go run ./examples/proxy gemini --acp
//
// All messages pass unchanged, in any version of the protocol, including methods and members that
// no schema defines.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"github.com/acpkit/go-sdk/agent/proxy"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// shown is the number of bytes that are logged of a text.
const shown = 1000

func main() {
	stream.EndOnSignal(nil) // a signal ends the agent too
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: proxy AGENT [ARG ...]\n\nAn editor starts proxy in place of the agent; the log goes to standard error.")
	}
	if flag.Parse(); flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{ReplaceAttr: safe}))
	process, err := stream.Command(exec.Command(flag.Arg(0), flag.Args()[1:]...), &stream.CommandOptions{
		OnStderr: func(line string) { // for example messages of the agent while it starts
			fmt.Fprintln(os.Stderr, safetext.Lines(line, len(line)))
		},
		OnNoise: func(line string) {
			if !strings.Contains(line, `"jsonrpc"`) { // package proxy logs what looks like a message
				log.Warn("the agent printed a line that is not a message", "said", line)
			}
		},
	})
	if err == nil {
		var passed atomic.Int64
		err = proxy.New(stream.Stdio(), process, options(log, &passed)).Run(context.Background())
		log.Info("the connection has ended", "messages", passed.Load())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "proxy:", client.Explain(nil, err)) // with the next step
		os.Exit(1)
	}
}

// safe makes the texts of the peer in a line of the log safe to print.
func safe(_ []string, a slog.Attr) slog.Attr {
	if kind := a.Value.Kind(); kind == slog.KindString || kind == slog.KindAny {
		a.Value = slog.StringValue(safetext.OneLine(a.Value.String(), shown))
	}
	return a
}

func options(log *slog.Logger, passed *atomic.Int64) *proxy.Options {
	return &proxy.Options{
		Logger:     log,
		FromClient: []proxy.Middleware{logging(log, passed, "editor to agent")},
		FromAgent:  []proxy.Middleware{logging(log, passed, "agent to editor")},
	}
}

// logging writes a line when a message has been handled. It contains the method and
// how long it took, never the content.
func logging(log *slog.Logger, passed *atomic.Int64, direction string) proxy.Middleware {
	return func(next proxy.Handler) proxy.Handler {
		return func(ctx context.Context, m *proxy.Message) (json.RawMessage, error) {
			start := time.Now()
			passed.Add(1)
			result, err := next(ctx, m)
			log.LogAttrs(ctx, slog.LevelInfo, direction, slog.String("method", m.Method),
				slog.Duration("took", time.Since(start).Round(time.Microsecond)), slog.Any("error", err))
			return result, err
		}
	}
}
