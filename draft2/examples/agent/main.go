// Command agent serves the agent of examples/agent, which is one of version 1, to clients of both
// versions of the protocol. Version 2 is a draft. Its clients have neither files nor terminals, so the
// agent then uses its own.
package main

import (
	"context"
	"errors"
	"flag"
	"log"

	"github.com/acpkit/go-sdk/draft2/serve"
	"github.com/acpkit/go-sdk/examples/agent/worker"
	"github.com/acpkit/go-sdk/stream"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("agent: ")
	state := flag.String("state", worker.DefaultState(), "folder in which sessions are kept")
	flag.Usage = func() {
		log.SetPrefix("")
		log.Print("usage: agent [-state FOLDER] (a client starts it and talks to it on standard input and output)")
	}
	flag.Parse()
	a, err := worker.Open(*state, true)
	if err != nil {
		log.Fatal(err)
	}
	stream.EndOnSignal(&stream.SignalOptions{Before: a.Close})
	err = serve.Serve(context.Background(), stream.Stdio(), a.Agent, nil)
	if err = errors.Join(err, a.Close(context.Background())); err != nil {
		log.Fatal(err)
	}
}
