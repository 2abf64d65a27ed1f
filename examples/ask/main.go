// Command ask is the smallest client: it starts an agent, asks it one thing and
// prints the answer:
//
//	go run ./examples/ask "How are you?" go run ./examples/echo
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream"
)

type asker struct{}

func (asker) SessionUpdate(context.Context, *acp.SessionNotification) error { return nil }

func (asker) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return acp.Cancelled(), nil // nobody is here to say yes
}

func ask(ctx context.Context, question string, agent *exec.Cmd) (string, error) {
	process, err := stream.Command(agent, nil)
	if err != nil {
		return "", err
	}
	conn, err := client.Connect(ctx, process, func(*client.Conn) acp.Client { return asker{} }, nil)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	cwd, _ := os.Getwd()
	session, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: cwd})
	if err != nil {
		return "", err
	}
	return session.Prompt(ctx, acp.Text(question)).Text()
}

func main() {
	log.SetFlags(0)
	if len(os.Args) < 3 {
		log.Fatal("usage: ask QUESTION AGENT [ARG ...]")
	}
	answer, err := ask(context.Background(), os.Args[1], exec.Command(os.Args[2], os.Args[3:]...))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer)
}
