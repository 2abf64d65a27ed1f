// Command chat talks to any agent of the Agent Client Protocol on the terminal:
//
//	go run ./examples/chat                          # the agent that is built in, and a prompt to type at
//	go run ./examples/chat -yes -prompt "run ls"    # one turn, nothing asked
//	go run ./examples/chat -- gemini --acp          # another agent
//	ACP_TOKEN=... go run ./examples/chat -- go run ./examples/bridge -url http://127.0.0.1:8080/acp    # one that listens
//
// The agent gets the text files below the working directory, and terminals that run
// with your rights. Chat asks before each write and each command, whether or not the agent
// asks: an answer holds for the one write that the agent has shown, or for the one command. Ctrl-C
// ends the turn. At the prompt, and when pressed twice, it ends the program.
//
// At the prompt, a line that begins with a slash is a command of the agent, and one that
// begins with a colon a command of chat; :help lists both, and Tab completes their names.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/examples/chat/builtin"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/safetext"
)

func main() {
	s, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		os.Exit(2) // parse has printed the error
	case s.serve:
		err = beAgent()
	default:
		console := openConsole()
		stream.EndOnSignal(&stream.SignalOptions{Interrupt: console.interrupts.handle})
		err = run(context.Background(), s, console)
	}
	if err != nil {
		said := text(err)
		fmt.Fprintln(os.Stderr, "chat:", safetext.Lines(said, len(said)))
		os.Exit(1)
	}
}

func beAgent() error {
	stream.EndOnSignal(nil)
	return agent.Serve(context.Background(), stream.Stdio(), builtin.New, nil)
}

func text(err error) string {
	if said, ok := errors.AsType[*explained](err); ok {
		return said.text
	}
	return client.Explain(nil, err)
}

// settings holds the flags.
type settings struct {
	prompt  string
	yes, no bool
	dir     string
	record  string
	auth    string
	verbose bool
	list    bool
	load    string
	system  string
	agent   []string // the command; empty means the example agent
	serve   bool     // be the example agent
}

const usage = `usage: chat [FLAG ...] [-- AGENT [ARG ...]]

Chat talks to an agent of the Agent Client Protocol. Without an agent it starts an example
that is built in and needs no model. Others are, for example:

  chat -- gemini --acp
  chat -- npx @agentclientprotocol/claude-agent-acp
  chat -- bridge -url https://host/acp

Flags:
`

// parse reads the arguments. It has printed the error that it returns.
func parse(args []string, out io.Writer) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("chat", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() {
		fmt.Fprint(out, usage)
		flags.PrintDefaults()
	}
	flags.StringVar(&s.prompt, "prompt", "", "send this `text` and end after the turn")
	flags.BoolVar(&s.yes, "yes", false, "allow what the agent asks permission for, once each time")
	flags.BoolVar(&s.no, "no", false, "reject what the agent asks permission for")
	flags.StringVar(&s.dir, "dir", ".", "`folder` to work in; the agent gets no files outside")
	flags.StringVar(&s.record, "record", "", "write the conversation to this `file`, one JSON object a line")
	flags.StringVar(&s.auth, "auth", "", "`id` of the way to sign in if the agent asks for it")
	flags.BoolVar(&s.list, "list", false, "list the sessions that the agent has stored for the folder, and end")
	flags.StringVar(&s.load, "load", "", "go on with the session of this `id`")
	flags.StringVar(&s.system, "system", "", "append this `text` to the instructions of the agent, if it takes that")
	flags.BoolVar(&s.serve, "agent", false, "be the example agent, on standard input and output; chat starts itself so")
	flags.BoolVar(&s.verbose, "v", false, "show what the agent writes to its standard error")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	s.agent = flags.Args()
	if s.yes && s.no {
		err := errors.New("-yes and -no exclude each other")
		fmt.Fprintln(out, "chat:", err)
		return s, err
	}
	return s, nil
}
