// Command ask is the smallest client: it starts an agent, asks it one thing and
// prints what it says:
//
//	go run ./examples/ask "How are you?" go run ./examples/echo
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/safetext"
)

type asker struct{}

func (asker) SessionUpdate(context.Context, *acp.SessionNotification) error { return nil }

func (asker) RequestPermission(_ context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return acp.SelectKind(req.Options, acp.PermissionOptionKindRejectOnce), nil // this program allows nothing
}

func ask(ctx context.Context, question string, agent *exec.Cmd) (text string, err error) {
	var conn *client.Conn
	process, err := stream.Command(agent, &stream.CommandOptions{StderrTail: 2000})
	defer func() {
		if err == nil {
			return
		}
		text := client.Explain(conn, err) // adds the next step, such as how to sign in
		if errors.Is(err, rpcerr.ErrInternal) {
			text += "\n" + process.Stderr() // an agent logs what it does not send
		}
		err = errors.New(safetext.Lines(text, len(text)))
	}()
	if err != nil {
		return "", err
	}
	slow := time.AfterFunc(2*time.Second, func() {
		log.Print("ask: waiting for the agent to open a session; Ctrl-C ends it. ", safetext.OneLine(process.Noise(), 200))
	})
	defer slow.Stop()
	conn, err = client.Connect(ctx, process, func(*client.Conn) acp.Client { return asker{} }, nil)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	cwd, _ := os.Getwd()
	session, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: cwd})
	slow.Stop()
	if err != nil {
		return "", err
	}
	return session.Prompt(ctx, acp.Text(question)).Text()
}

func main() {
	stream.EndOnSignal(nil) // a signal ends the agent too
	log.SetFlags(0)
	flag.Usage = func() { log.Print("usage: ask QUESTION AGENT [ARG ...]") }
	if flag.Parse(); flag.NArg() < 2 {
		flag.Usage()
		os.Exit(2)
	}
	text, err := ask(context.Background(), flag.Arg(0), exec.Command(flag.Arg(1), flag.Args()[2:]...))
	if text != "" {
		fmt.Println(safetext.Lines(text, len(text))) // if the agent stopped early, this is what it has said
	}
	if err != nil {
		log.Fatal("ask: ", err)
	}
}
