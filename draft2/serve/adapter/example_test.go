package adapter_test

import (
	"context"
	"fmt"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/draft2/serve"
	"github.com/acpkit/go-sdk/stream"
)

// One agent of version 1 serves clients of both versions. A program that is started by its client
// passes stream.Stdio() in place of the pipe.
func Example() {
	newV1 := func(conn *agent.Conn) acp.Agent {
		return &testAgent{conn: conn}
	}

	client, server := stream.Pipe()
	served := make(chan error, 1)
	go func() { served <- serve.Serve(context.Background(), server, newV1, nil) }()

	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"c","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/"}}`,
	} {
		if err := client.Write([]byte(line)); err != nil {
			fmt.Println(err)
			return
		}
		response, err := client.Read()
		fmt.Println(string(response), err)
	}
	_ = client.Close()
	fmt.Println(<-served)
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":2,"info":{"name":"unknown","version":"unknown"},"capabilities":{"session":{"prompt":{},"mcp":{"stdio":{}}}}}} <nil>
	// {"jsonrpc":"2.0","id":2,"result":{"sessionId":"s1"}} <nil>
	// <nil>
}
