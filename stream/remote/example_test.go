package remote_test

import (
	"context"
	"expvar"
	"fmt"
	"log"
	"net"
	"net/http"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// serveAgents serves one agent to each client that knows the token, until ctx is done.
func serveAgents(ctx context.Context, listener net.Listener, token string) error {
	serve := func(ctx context.Context, s stream.Stream) error {
		return agent.Serve(ctx, s, newAgent, nil)
	}
	handler := remote.NewHandler(serve, &remote.Options{
		Authorize:    remote.BearerToken(token),
		AllowedHosts: []string{"https://agent.example.com"},
	})
	return handler.Serve(ctx, listener) // when ctx is done, turns in flight may still end
}

// connect connects to the agent at a URL.
func connect(ctx context.Context, url, token string) (*client.Conn, error) {
	s, err := remote.Dial(ctx, url, &remote.DialOptions{
		Header: func(context.Context) (http.Header, error) {
			return http.Header{"Authorization": {"Bearer " + token}}, nil
		},
	})
	if err != nil {
		return nil, err
	}
	return client.Connect(ctx, s, newClient, nil)
}

// publish shows the numbers of a handler at /debug/vars of http.DefaultServeMux.
func publish(handler *remote.Handler) {
	expvar.Publish("acp", expvar.Func(func() any { return handler.Stats() }))
}

// A server and its client, over both transports at the same address.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- serveAgents(ctx, listener, "secret") }() // ends with cancel

	for _, scheme := range []string{"ws", "http"} {
		conn, err := connect(ctx, scheme+"://"+listener.Addr().String()+"/acp", "secret")
		if err != nil {
			log.Fatal(err)
		}
		session, err := conn.StartSession(ctx, &acp.NewSessionRequest{Cwd: "/work"})
		if err != nil {
			log.Fatal(err)
		}
		text, err := session.Prompt(ctx, acp.Text("Hello over "+scheme)).Text()
		fmt.Println(text, err)
		conn.Close()
	}
	cancel()
	fmt.Println(<-served)
	// Output:
	// Hello over ws <nil>
	// Hello over http <nil>
	// <nil>
}
