package objectstream_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/objectstream"
)

// A program that has a jsonrpc2.Conn talks to an agent over any stream of this module, such
// as a child process that stream.Command starts.
func ExampleOf() {
	near, far := stream.Pipe() // in place of stream.Command
	go serve(far)

	conn := jsonrpc2.NewConn(context.Background(), objectstream.Of(near), jsonrpc2.HandlerWithError(
		func(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request) (any, error) { return nil, nil }))
	defer conn.Close()

	var answer struct{ ProtocolVersion int }
	if err := conn.Call(context.Background(), "initialize", map[string]int{"protocolVersion": 1}, &answer); err != nil {
		log.Fatal(err)
	}
	fmt.Println("version", answer.ProtocolVersion)
	// Output: version 1
}

// serve is an agent on the library, in place of a real one.
func serve(s stream.Stream) {
	<-jsonrpc2.NewConn(context.Background(), objectstream.Of(s), jsonrpc2.HandlerWithError(
		func(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
			if r.Method == "initialize" {
				return json.RawMessage(`{"protocolVersion":1,"agentCapabilities":{}}`), nil
			}
			return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "Method not found"}
		})).DisconnectNotify()
}

// A client of this module talks to an agent that frames its messages as language servers do.
func ExampleContentLength() {
	r, theirs := io.Pipe()
	ours, w := io.Pipe()
	go serve(objectstream.ContentLength(ours, theirs, nil)) // in place of a process

	ctx := context.Background()
	conn, err := client.Connect(ctx, objectstream.ContentLength(r, w, nil), func(*client.Conn) acp.Client { return quiet{} }, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	fmt.Println("version", conn.ProtocolVersion())
	// Output: version 1
}
