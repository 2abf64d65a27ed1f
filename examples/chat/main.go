// Command chat talks to any agent of the Agent Client Protocol on the terminal:
//
//	go run ./examples/chat                          # the example agent, and a prompt to type at
//	go run ./examples/chat -yes -prompt "run ls"    # one turn, nothing asked
//	go run ./examples/chat -- gemini --acp          # another agent
//	go run ./examples/chat -url http://127.0.0.1:8080/acp    # one that listens
//
// The agent gets the text files below the working directory, and terminals that run
// with your rights. What it writes and runs is asked for, whether or not the agent asks: an
// answer holds for the one write that the agent has shown, or for the one command. Ctrl-C
// ends the turn. At the prompt, and when pressed twice, it ends the program.
//
// With -protocol 2 or newest, chat speaks version 2 of the protocol, which is a draft. The
// agent then uses its own files and terminals, and only what it asks is asked for.
//
// At the prompt, a line that begins with a slash is a command of the agent, and one that
// begins with a colon a command of chat; :help lists both, and Tab completes their names.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/examples/agent/worker"
	"github.com/acpkit/go-sdk/stream"
)

func main() {
	s, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		os.Exit(2) // the flag package has said why
	case s.serve:
		err = serve()
	default:
		console := openConsole()
		stream.EndOnSignal(&stream.SignalOptions{Interrupt: console.interrupts.handle})
		err = run(context.Background(), s, console)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "chat:", text(err))
		os.Exit(1)
	}
}

// serve is the example agent, as chat starts it by default.
func serve() error {
	stream.EndOnSignal(nil)
	serve, err := worker.Serve(worker.DefaultState(), true)
	if err != nil {
		return err
	}
	return serve(context.Background(), stream.Stdio())
}

// text returns the text of an error for the user.
func text(err error) string {
	if said, ok := errors.AsType[*explained](err); ok {
		return said.text
	}
	return client.Explain(nil, err)
}
