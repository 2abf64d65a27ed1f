package serve_test

import (
	"context"
	"fmt"

	"github.com/acpkit/go-sdk/draft2/serve"
	"github.com/acpkit/go-sdk/stream"
)

// The version that the client requests decides which agent serves it. A program that is started by
// its client passes stream.Stdio() to Serve. A server passes the function serve to
// remote.NewHandler.
func Example() {
	agents := (&seen{}).both() // has V1: newV1 and V2: newV2
	serve := func(ctx context.Context, s stream.Stream) error {
		return serve.Route(ctx, s, agents, nil)
	}

	for _, version := range []string{"1", "2"} {
		client, server := stream.Pipe()
		served := make(chan error, 1)
		go func() { served <- serve(context.Background(), server) }()

		err := client.Write([]byte(initialize("1", `{"protocolVersion":`+version+`,"info":{"name":"c","version":"1"}}`)))
		if err != nil {
			fmt.Println(err)
			return
		}
		response, err := client.Read()
		fmt.Println(string(response), err)

		_ = client.Close()
		fmt.Println(<-served)
	}
	// Output:
	// {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{},"authMethods":[]}} <nil>
	// <nil>
	// {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{}}}} <nil>
	// <nil>
}
