package main

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// attach carries messages between an editor, which starts it as its agent, and the agents at a URL.
func attach(args []string) error {
	flags := newFlags("attach", "URL")
	_ = flags.Parse(args) // ends the program if it fails
	if flags.NArg() != 1 {
		flags.Usage()
		return &codeError{2, "name the address that acp serve has printed, without what follows #: its token belongs into " + remote.TokenVariable}
	}
	address, err := agentAddress(flags.Arg(0))
	if err != nil {
		return err
	}
	stream.EndOnSignal(nil)
	agent, err := remote.Dial(context.Background(), address, &remote.DialOptions{Header: remote.TokenHeader})
	if err != nil {
		return &codeError{1, refusal(err)}
	}
	e := &speaker{Stream: stream.Stdio()}
	if err := stream.Forward(e, agent); err != nil {
		return &codeError{1, refusal(err)}
	}
	if !e.spoke.Load() { // an address that is reached by HTTP was not even tried
		return &codeError{1, "standard input, or the connection, has ended before there was a message: attach is started by an editor, as its agent, and standard input stays open meanwhile"}
	}
	return nil
}

// refusal explains why the server cannot be reached, or did not let the client in.
func refusal(err error) string {
	text := client.Explain(nil, err)
	if status, ok := errors.AsType[*stream.StatusError](err); ok && status.Code == http.StatusUnauthorized {
		text += "\nThe token is missing or wrong: set " + remote.TokenVariable + " to what follows # in the address that acp serve has printed. It is another one at each start, unless the variable is set there too."
	}
	return text
}

// speaker is a stream that remembers whether a message has come.
type speaker struct {
	stream.Stream
	spoke atomic.Bool
}

func (s *speaker) Read() ([]byte, error) {
	msg, err := s.Stream.Read()
	if err == nil {
		s.spoke.Store(true)
	}
	return msg, err
}
