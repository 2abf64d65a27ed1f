// Command chat talks to any agent of the Agent Client Protocol on the terminal:
//
//	go run ./examples/chat                          # examples/agent, and a prompt to type at
//	go run ./examples/chat -yes -prompt "run ls"    # one turn, nothing asked
//	go run ./examples/chat -- gemini --acp          # another agent
//
// The agent gets the text files below the working directory, and terminals that run
// with your rights. Ctrl-C ends the turn, and at the prompt the program.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// settings is what the flags say.
type settings struct {
	prompt  string
	yes, no bool
	dir     string
	record  string
	auth    string
	verbose bool
	agent   []string
}

func main() {
	var s settings
	flag.StringVar(&s.prompt, "prompt", "", "send this and end after the turn")
	flag.BoolVar(&s.yes, "yes", false, "allow whatever the agent asks permission for")
	flag.BoolVar(&s.no, "no", false, "reject whatever the agent asks permission for")
	flag.StringVar(&s.dir, "dir", ".", "folder to work in; the agent's files end there")
	flag.StringVar(&s.record, "record", "", "write the conversation to this file, one JSON object a line")
	flag.StringVar(&s.auth, "auth", "", "id of the method to sign in with when the agent asks for it")
	flag.BoolVar(&s.verbose, "v", false, "show what the agent writes to its standard error")
	flag.Parse()
	s.agent = flag.Args()
	if len(s.agent) == 0 {
		s.agent = []string{"go", "run", "github.com/acpkit/go-sdk/examples/agent"}
	}
	if err := run(context.Background(), s, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "chat:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings, in io.Reader, out io.Writer) error {
	if s.yes && s.no {
		return errors.New("-yes and -no exclude each other")
	}
	files, err := openFiles(s.dir)
	if err != nil {
		return err
	}
	defer files.Close()
	terminals := newTerminals(files)
	defer terminals.Close()

	options := &stream.CommandOptions{}
	if s.verbose {
		options.Stderr = os.Stderr
	}
	process, err := stream.Command(exec.Command(s.agent[0], s.agent[1:]...), options)
	if err != nil {
		return fmt.Errorf("starting the agent: %w", err)
	}
	var wire stream.Stream = process
	if s.record != "" {
		file, err := os.OpenFile(s.record, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			process.Close()
			return err
		}
		defer file.Close()
		wire = record(process, file)
	}

	ui := &ui{files: files, terminals: terminals, screen: newScreen(out), lines: readLines(in), yes: s.yes, no: s.no}
	conn := client.New(wire, func(*client.Conn) acp.Client { return ui }, &client.Options{
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err := conn.Start(ctx); err != nil {
		return err
	}
	chat := &chat{conn: conn, ui: ui, settings: s, dir: files.dir}
	err = chat.talk(ctx)
	conn.Close()
	return errors.Join(err, ignoreEnd(conn.Wait()))
}

// ignoreEnd drops the error of an agent that did not take the end of its input
// gracefully: the conversation is over either way.
func ignoreEnd(err error) error {
	if _, ok := errors.AsType[*stream.ExitError](err); ok || errors.Is(err, acp.ErrClosed) {
		return nil
	}
	return err
}

// chat is one conversation.
type chat struct {
	conn     *client.Conn
	ui       *ui
	settings settings
	dir      string
}

func (c *chat) talk(ctx context.Context) error {
	starting, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	can := client.Capabilities(c.ui)
	can.Session = &acp.ClientSessionCapabilities{Notices: &acp.NoticeCapabilities{}} // no method tells
	_, err := c.conn.Initialize(starting, &acp.InitializeRequest{
		ClientInfo:         &acp.Implementation{Name: "acpkit-chat", Title: "Chat", Version: "1.0.0"},
		ClientCapabilities: can,
	})
	if err != nil {
		return fmt.Errorf("the agent did not start: %w", err)
	}
	session, err := c.open(ctx)
	if err != nil {
		return err
	}
	if c.settings.prompt != "" {
		return c.turn(ctx, session, c.settings.prompt)
	}
	return c.loop(ctx, session)
}

func (c *chat) open(ctx context.Context) (*client.Session, error) {
	open := func(ctx context.Context) (*client.Session, error) {
		return c.conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: c.dir})
	}
	session, err := open(ctx)
	if !errors.Is(err, rpcerr.ErrAuthRequired) {
		return session, err
	}
	if c.settings.auth == "" {
		return nil, c.explainAuth(err)
	}
	if _, err := c.conn.Authenticate(ctx, &acp.AuthenticateRequest{MethodID: acp.AuthMethodID(c.settings.auth)}); err != nil {
		return nil, fmt.Errorf("signing in: %w", err)
	}
	return open(ctx)
}
