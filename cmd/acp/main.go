// Command acp shows the traffic between clients and agents of the Agent Client Protocol, and checks
// both.
//
// In the settings of an editor, put acp tap before the command of the agent. Every byte passes
// unchanged, and a recording of the conversation is written:
//
//	acp tap -- gemini --acp
//
// acp view shows it, while it is written too. acp check says whether an agent, or a client, does
// what the protocol demands:
//
//	acp check agent -- gemini --acp
//	acp check client -- my-editor --agent {agent}
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/acpkit/go-sdk/acptest"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// command is one of the commands of acp.
type command struct {
	name, does string
	run        func(args []string) error
}

// commands are listed in this order.
var commands = []command{
	{"tap", "pass on what a client and an agent send, and record it", tap},
	{"view", "show a recording in a browser, or as text", viewRecording},
	{"fixture", "print a recording as a Go test", writeFixture},
	{"check", "check whether an agent or a client is right", checkPeer},
	{"serve", "share the sessions of an agent between editors and a page", serve},
	{"attach", "connect an editor with what acp serve serves", attach},
	{"recordings", "list the recordings, or remove them", recordings},
	{"version", "print the version", printVersion},
}

func main() {
	witness()
	if launched, err := acptest.Launched(); launched { // by a client that is checked
		os.Exit(exitCode(err))
	}
	args := append(os.Args[1:], "")
	for _, c := range commands {
		if c.name == args[0] {
			os.Exit(exitCode(c.run(os.Args[2:])))
		}
	}
	if args[0] != "" && !isHelp(args[0]) {
		fmt.Fprintf(os.Stderr, "acp: there is no command %q\n\n", args[0])
	}
	fmt.Fprint(os.Stderr, "usage: acp COMMAND [ARG ...]\n\nCommands:\n")
	for _, c := range commands {
		fmt.Fprintf(os.Stderr, "  %-11s %s\n", c.name, c.does)
	}
	fmt.Fprint(os.Stderr, "\nacp COMMAND -h shows the flags of a command.\n")
	os.Exit(2)
}

func isHelp(arg string) bool {
	return arg == "help" || arg == "-h" || arg == "-help" || arg == "--help"
}

// codeError ends the program with a code. Its text is printed if it is not empty.
type codeError struct {
	code int
	text string
}

func (e *codeError) Error() string { return e.text }

// exitCode prints err and returns the code with which the program ends.
func exitCode(err error) int {
	if err == nil {
		return 0
	}
	code := &codeError{code: 1}
	if text := err.Error(); text != "" {
		fmt.Fprintln(os.Stderr, "acp:", safetext.Lines(text, len(text))) // a peer may have a part in it
	}
	_ = errors.As(err, &code)
	return code.code
}

// newFlags returns the flags of a command. Synopsis has a line for each form of it. Parsing arguments
// that are wrong, or ask for help, ends the program.
func newFlags(name string, synopsis ...string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ExitOnError)
	flags.Usage = func() {
		for i, line := range synopsis {
			fmt.Fprintf(flags.Output(), "%-6s acp %s %s\n", []string{"usage:", ""}[min(i, 1)], name, line)
		}
		fmt.Fprintln(flags.Output(), "\nFlags:")
		flags.PrintDefaults()
	}
	return flags
}

// version returns the version of this program, which the go command has put into it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(unknown)"
}

func printVersion(args []string) error {
	if len(args) > 0 {
		return &codeError{2, "version takes no arguments"}
	}
	fmt.Printf("acp %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}
