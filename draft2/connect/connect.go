// Package connect connects to an agent in the version of the protocol that the agent speaks, and
// provides one API for both versions. Experimental: it may change in any release.
//
//	conn, err := connect.Connect(ctx, stream.CommandDial(func() *exec.Cmd {
//		return exec.Command("my-agent", "--acp")
//	}, nil), &connect.Options{Permission: policy})
//	if err != nil {
//		return err
//	}
//	defer conn.Close()
//	session, err := conn.StartSession(ctx, &connect.SessionParams{Cwd: "/work"})
//	if err != nil {
//		return err
//	}
//	go func() {
//		for snapshot, changes := range session.Thread().Watch(ctx) {
//			draw(snapshot, changes)
//		}
//	}()
//	turn, err := session.Prompt(ctx, connect.Text("What is in this folder?")).Wait()
//
// A program that speaks only version 1 uses package client and does not link this package.
//
// # How the version is found
//
// Connect sends one initialize request that both versions understand: it requests version 2
// and has the members of both versions. The members of the response decide, because some
// agents of version 1 repeat the requested version:
//
//   - The agent speaks version 2 if the response has that version and the members info and
//     capabilities.
//   - It speaks version 1 if the response has that version or the member agentCapabilities.
//     The connection continues.
//   - Otherwise, and if the agent responds with an error or exits, Connect dials it again
//     and sends an initialize request of version 1. ConnectOver sends that request over the
//     same stream.
//   - If the agent's error lists the supported versions and version 1 is not among them, or
//     means that the user must sign in (-32000), Connect does not try again.
//
// An endpoint that serves both versions may derive the capabilities of the client from the
// members of version 2, which cannot express files, terminals and some other features.
// Therefore, if the agent speaks version 1 and the client offers anything that version 2
// cannot express, Connect sends a second initialize request, of version 1. If the agent
// rejects it, the first response is used. Endpoints on a network take one initialize:
// Connect dials them again, and ConnectOver uses the first response.
//
// If there is no common version, the error is a *[acp.VersionError] with the versions of
// both ends.
//
// # What a client offers
//
// Options.V1 and Options.V2 return the client for each version, and are called when the version
// of the agent is known. What the client offers is sent before, so a program with a client of its own
// gives it with Options.InitializeV1 and Options.InitializeV2. The client of version 1 may be that of
// package client/host, with files and terminals. The default client answers permission requests as
// Options.Permission decides, and implements nothing else.
//
// # The conversation
//
// The [thread.Thread] of a session holds its content, independent of the version. The
// versions differ in these points:
//
//   - During a turn, [Session.Prompt] fails in version 1. In version 2 the agent accepts
//     the prompt at once or later; until then it is in Snapshot.Queued. See Features.Queue.
//   - [Conn.LoadSession] calls session/load in version 1, and session/resume with a replay
//     in version 2.
//   - The modes of version 1 are an option; see [Session.Options].
//   - Version 1 has no skills: a prompt with one fails. See Features.Skill.
//   - Terminals belong to the client in version 1. In version 2 they belong to the agent,
//     and Snapshot.Terminals holds their output.
//
// [Conn.V1] and [Conn.V2] return the underlying connection, for what only one version has.
package connect

import (
	"context"
	"errors"
	"fmt"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/stream"
)

// Connect connects to an agent in the newest version that both ends support; see the
// package comment. ctx bounds the handshake only, as Options.Handshake does: once Connect has
// returned, the connection lives until [Conn.Close] is called or the agent ends it.
//
// If the agent supports neither version, or not the one that Options.Only allows, the error
// is a *[acp.VersionError] that names the versions of both ends. If Connect fails, it
// closes the stream that dial returned.
func Connect(ctx context.Context, dial Dial, opts *Options) (*Conn, error) {
	if dial == nil {
		return nil, errors.New("draft2/connect: Connect was given no Dial: pass the result of stream.CommandDial, or a func that connects")
	}
	n, stop, err := begin(ctx, opts)
	if err != nil {
		return nil, err
	}
	defer stop()
	n.dial = dial
	s, err := n.dialed()
	if err != nil {
		return nil, err
	}
	return n.run(s)
}

// ConnectOver is like [Connect] for an agent that cannot be dialed again: a second
// initialize request is sent over s as well. ConnectOver takes ownership of s.
func ConnectOver(ctx context.Context, s stream.Stream, opts *Options) (*Conn, error) {
	if endpoint.IsNil(s) {
		return nil, errors.New("draft2/connect: ConnectOver was given a nil stream: pass the result of stream.Command or another stream")
	}
	n, stop, err := begin(ctx, opts)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	defer stop()
	return n.run(s)
}

// negotiation is one call of Connect.
type negotiation struct {
	ctx   context.Context // ctx of the caller
	start context.Context // ctx of Connect, until the connection is ready
	dial  Dial            // nil if the agent cannot be dialed again
	opts  Options
}

func begin(ctx context.Context, opts *Options) (n *negotiation, stop func(), err error) {
	if err := endpoint.ValueOf(opts).check(); err != nil {
		return nil, nil, err
	}
	n = &negotiation{ctx: ctx, start: ctx, opts: opts.clone()}
	if n.opts.Handshake < 0 {
		return n, func() {}, nil
	}
	n.start, stop = context.WithTimeout(ctx, n.opts.Handshake)
	return n, stop, nil
}

func (n *negotiation) dialed() (stream.Stream, error) {
	s, err := n.dial(n.start)
	switch {
	case err != nil:
		return nil, err
	case endpoint.IsNil(s):
		return nil, errors.New("draft2/connect: Dial returned no stream")
	}
	return s, nil
}

// run connects over s, or over another stream if that fails.
func (n *negotiation) run(s stream.Stream) (*Conn, error) {
	conn, err := n.attempt(s, n.opts.Only != acp2.ProtocolVersion, n.opts.Only != acp.ProtocolVersion)
	again, ok := errors.AsType[*againError](err)
	if !ok {
		return conn, err
	}
	if s, err = n.dialed(); err != nil {
		return nil, fmt.Errorf("%w (dialed again because: %w)", err, again.err)
	}
	conn, err = n.attempt(s, true, false)
	if err != nil {
		return nil, fmt.Errorf("%w (version %d before: %w)", named(err), acp2.ProtocolVersion, again.err)
	}
	return conn, nil
}

// againError means that the agent may speak version 1 if it is dialed again.
type againError struct{ err error }

func (e *againError) Error() string { return e.err.Error() }

// named adds both versions to an error about the version. It returns other errors unchanged.
func named(err error) error {
	e, ok := errors.AsType[*acp.VersionError](err)
	if !ok {
		return err
	}
	both := *e
	both.Own = []int{acp.ProtocolVersion, acp2.ProtocolVersion}
	return &both
}
