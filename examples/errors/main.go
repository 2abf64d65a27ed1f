// Command errors runs, in one process, an agent that fails in every possible way and a client that
// reacts to each failure, and prints the reactions. No decision depends on the text of an error.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/stream"
)

func main() {
	stream.EndOnSignal(nil)
	log.SetFlags(0)
	// The agent's log: one line for each failure, with what is not sent to the client.
	logger := slog.New(slog.DiscardHandler)
	verbose := flag.Bool("v", false, "show the log of the agent")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: errors [-v]\n\nFlags:")
		flag.PrintDefaults()
	}
	if flag.Parse(); *verbose {
		logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	if err := run(context.Background(), os.Stdout, logger); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, out io.Writer, logger *slog.Logger) error {
	agentSide, clientSide := stream.Pipe()
	served := make(chan error, 1)
	go func() { // ends when the client closes its end
		served <- agent.Serve(ctx, agentSide, func(c *agent.Conn) acp.Agent { return &failing{conn: c} }, &agent.Options{
			Logger:  logger,
			OnError: classify.OnError(&classify.OnErrorOptions{Logger: logger}),
		})
	}()

	person := &person{out: out}
	conn := client.New(clientSide, func(*client.Conn) acp.Client { return person }, nil)
	if err := conn.Start(ctx); err != nil {
		return fmt.Errorf("starting: %w", err)
	}
	defer conn.Close()
	if _, err := conn.Initialize(ctx, nil); err != nil {
		return fmt.Errorf("initializing: %w", err)
	}
	session, err := person.signIn(ctx, conn)
	if err != nil {
		return err
	}
	for _, prompt := range prompts {
		person.ask(ctx, session, prompt)
	}
	person.lostSession(ctx, conn)
	if err := conn.Close(); err != nil {
		return fmt.Errorf("closing: %w", err)
	}
	return <-served
}
