package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/bench/work"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// listen serves over WebSocket and HTTP until stdin ends.
func listen() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/acp\n", listener.Addr())
	ctx, cancel := context.WithCancel(context.Background())
	go func() { // ends with stdin
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	return remote.NewHandler(func(ctx context.Context, s stream.Stream) error {
		return agent.Serve(ctx, s, newAgent, nil)
	}, nil).Serve(ctx, listener)
}

func dial(url string, env *work.Env) (work.Client, error) {
	s, err := remote.Dial(context.Background(), url, nil)
	if err != nil {
		return nil, err
	}
	return newClient(s, env)
}
