package mcp_test

import (
	"context"
	"log"
	"os"

	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/agent/loop/chat"
	"github.com/acpkit/go-sdk/agent/mcp"
	"github.com/acpkit/go-sdk/stream"
)

// An agent offers the tools of the MCP servers that its client names.
func ExampleConnector() {
	model := chat.New(&chat.Options{BaseURL: os.Getenv("BASE_URL"), Model: os.Getenv("MODEL")})
	a := kit.New(&kit.Options{
		Auth: model.Auth(),
		MCP:  mcp.Connector(nil),
		Turn: loop.New(model, nil).Turn,
	})
	if err := a.Serve(context.Background(), stream.Stdio()); err != nil {
		log.Fatal(err)
	}
}
