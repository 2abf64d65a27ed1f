package agent

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/rpc"
	"github.com/acpkit/go-sdk/internal/wire"
)

// Options configure a [Conn]. The zero value selects the defaults, and a nil *Options is
// equivalent to it. New copies the options.
type Options struct {
	// Unstable allows the methods that the protocol marks as unstable: an agent
	// may implement their interfaces, and the Conn may send them. They can change
	// with any release of the schema.
	Unstable bool

	// IgnoreCapabilities disables the checks of what the client advertised: every call
	// is sent, even before the client has initialized the connection. It is meant for
	// tests of clients.
	IgnoreCapabilities bool

	// LenientPaths allows relative paths and empty ids in the params of the requests that
	// start or open a session. Without it, such requests fail with -32602.
	LenientPaths bool

	// CheckIDs makes the Conn refuse ids that the agent has not sent: prompts and settings
	// of a session that no response has opened fail with -32002, and modes and config options
	// that the agent has not listed for the session with -32602. A session is open until it is
	// closed or deleted. By default the agent checks them itself.
	CheckIDs bool

	// OnError, if not nil, is called once with each error that is about to be sent to the
	// client, before the error is converted: the error of a request, and the error that ends
	// a tool call (ToolCall.Fail in version 1 of the protocol) or the work on a prompt
	// (Session.Accept in version 2). The argument where names the method, or "tool call" and
	// the id. The error that OnError returns is converted in place of err; if it returns
	// nil, err is converted. ctx is the ctx of the handler, of Fail or of the work. OnError
	// must be safe for concurrent use.
	// The function OnError of package rpcerr/classify returns a function for this option
	// that classifies and logs errors.
	OnError func(ctx context.Context, where string, err error) error

	// Relay tells that handlers pass requests on over another connection and return its
	// responses, as those of a proxy do. What that connection receives after such a response
	// is then handled after the response of the handler has been queued, so that an update
	// does not overtake the response to session/new. New sets it for an agent that is a *client.Conn
	// or embeds or wraps one; set it for one that keeps the Conn in a field. See [Release].
	Relay bool

	// RawParams keeps the undecoded params of each message while its handler runs, so
	// that the function [RawParams] can return them. They stay in memory until it returns.
	RawParams bool

	// ExposeErrors sends the details of errors to the peer: the text of an unexpected
	// error, of which the peer otherwise reads only "Internal error", and what
	// other errors wrap, what is wrapped around them or joined with them, and their texts for
	// developers. Set it for development only: such texts contain paths, host names and other
	// text of other packages.
	ExposeErrors bool

	// Logger receives what cannot be returned to a caller: dropped messages, errors of
	// notification handlers, and panics. Params, content and the environment are never
	// logged. If Logger is nil, slog.Default() is used.
	Logger *slog.Logger

	// OnDropped, if not nil, is called for each notification that reaches no handler
	// because it could not be decoded or arrived before initialize. It is called in the
	// order of arrival and must not block.
	OnDropped func(method string, err error)

	// Receiving wraps the handling of every message that arrives, and Sending the
	// sending of every message. The first middleware of a list is the outermost.
	Receiving, Sending []acp.Middleware

	// Limits bound the memory, the handlers and the waiting times of the Conn.
	Limits Limits
}

func (o *Options) clone() Options {
	c := endpoint.ValueOf(o)
	c.Receiving = slices.Clone(c.Receiving)
	c.Sending = slices.Clone(c.Sending)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c
}

// config returns the configuration of the engine for the options.
func (o *Options) config() rpc.Config {
	return rpc.Config{
		Role:         "agent",
		Defined:      func(method string) bool { return wire.Defines(acp.ProtocolVersion, method) },
		Handshake:    acp.MethodInitialize,
		Reopens:      reopens,
		Receiving:    endpoint.Middlewares(o.Receiving),
		Sending:      endpoint.Middlewares(o.Sending),
		Logger:       o.Logger,
		OnDropped:    o.OnDropped,
		OnError:      o.OnError,
		ExposeErrors: o.ExposeErrors,
		RawParams:    o.RawParams,
		LenientPaths: o.LenientPaths,
		Invalid:      invalid,
		Limits:       o.Limits.engine(),
	}
}

// reopens reports whether a request of the method opens a session again that the stream has
// lost.
func reopens(method string) bool {
	return method == acp.MethodSessionLoad || method == acp.MethodSessionResume
}

// Limits bound the memory, the handlers and the waiting times of a connection. The zero
// value of a field means its default. The maximum length of a message is a limit of the
// stream; see package stream.
type Limits struct {
	// Backlog is the number of bytes of notifications that may wait for their handlers
	// before the connection stops reading, which slows the client down. The default is
	// 64 MiB.
	Backlog int64
	// MaxBacklog is the number of bytes of waiting notifications at which the connection
	// ends with acp.ErrOverloaded. It applies while a response is awaited, when the
	// connection must not stop reading. If it is less than Backlog, it also replaces
	// Backlog. The default is 1 GiB.
	MaxBacklog int64
	// MaxHandlers is the number of request handlers that may run at once; further
	// requests wait. Handlers of prompts, handlers that load a session, and handlers that
	// wait in a call of the Conn do not count. The default is 1024.
	MaxHandlers int
	// MaxOpen is the number of bytes of requests that may wait or run before new ones
	// fail with -32603 "Too many requests". A running request counts 8 KiB more than its
	// length, so the default of 1 GiB allows about 130,000 short requests.
	MaxOpen int64
	// Results is the number of bytes that results may occupy, in memory and encoded, from
	// the return of their handlers until they are written. While they exceed it, requests
	// that count for MaxHandlers are not started. The default is 64 MiB.
	Results int64
	// SendQueue is the number of bytes that may wait to be written before senders must
	// wait. The default is 8 MiB.
	SendQueue int64

	// StallTimeout is how long the client may read nothing while the send queue is
	// full, before the connection ends with acp.ErrStalled. The default is 60 s.
	StallTimeout time.Duration
	// DrainGrace is how long handlers may run after the client has closed its end. The default
	// is 5 s.
	DrainGrace time.Duration
	// HandlerGrace is how long handlers may run after their ctx is done, before Run
	// returns acp.ErrHandlerStuck. The default is 5 s.
	HandlerGrace time.Duration
}

// engine returns the limits of the engine. Those that a program cannot set have their defaults.
func (l *Limits) engine() rpc.Limits {
	return rpc.Limits{
		Backlog: l.Backlog, MaxBacklog: l.MaxBacklog, MaxHandlers: l.MaxHandlers, MaxOpen: l.MaxOpen, Results: l.Results,
		SendQueue: l.SendQueue, StallTimeout: l.StallTimeout, DrainGrace: l.DrainGrace, HandlerGrace: l.HandlerGrace,
	}
}
