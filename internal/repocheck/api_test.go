package repocheck_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"os/exec"
	"testing"

	"github.com/sourcegraph/jsonrpc2"
	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	agentlib "github.com/acpkit/go-sdk/agent/onjsonrpc2"
	"github.com/acpkit/go-sdk/client"
	clientlib "github.com/acpkit/go-sdk/client/onjsonrpc2"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/stream"
)

// What stands in this file is the public contract of the module: names and exact
// signatures that programs are compiled against. Types may gain methods and fields;
// what is written here does not change within a major version.

type baselineAgent interface {
	Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error)
	NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error)
	Prompt(context.Context, *acp.PromptRequest) (*acp.PromptResponse, error)
	Cancel(context.Context, *acp.CancelNotification) error
}

type baselineClient interface {
	RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error)
	SessionUpdate(context.Context, *acp.SessionNotification) error
}

// The roles. Two interfaces implement each other only if they have the same methods, so the baseline
// can neither grow nor shrink unnoticed.
var (
	_ baselineAgent        = acp.Agent(nil)
	_ acp.Agent            = baselineAgent(nil)
	_ baselineClient       = acp.Client(nil)
	_ acp.Client           = baselineClient(nil)
	_ acp.ExtensionHandler = (interface {
		HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error)
	})(nil)
	_ acp.ExtensionNotificationHandler = (interface {
		HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error
	})(nil)
)

// The names of package acp that almost every program uses.
var (
	_ = [1]struct{}{}[acp.ProtocolVersion-1]

	_ acp.Handler    = (func(ctx context.Context, method string, params any) (any, error))(nil)
	_ acp.Middleware = (func(acp.Handler) acp.Handler)(nil)

	_ func(string) *acp.TextContent = acp.Text

	_, _, _, _, _, _ error = acp.ErrClosed, acp.ErrOverloaded, acp.ErrStalled, acp.ErrTurnCancelled, acp.ErrTurnRunning, acp.ErrHandlerStuck

	_ error = &acp.CapabilityError{Method: "", Capability: ""}
	_ error = &acp.InvalidError{Where: "", Fields: nil}

	_ func(string) acp.Opt[string] = acp.Some[string]
	_ func() acp.Opt[string]       = acp.Null[string]

	_ map[string]any = acp.Meta(nil)
)

// Both ends of a connection.
var (
	_ func(stream.Stream, func(*agent.Conn) acp.Agent, *agent.Options) *agent.Conn            = agent.New
	_ func(context.Context, stream.Stream, func(*agent.Conn) acp.Agent, *agent.Options) error = agent.Serve
	_ func(acp.Agent) *acp.AgentCapabilities                                                  = agent.Capabilities
	_ func(*agent.Conn, context.Context, *acp.CreateTerminalRequest) (*agent.Terminal, error) = (*agent.Conn).StartTerminal
	_ func(*agent.Conn, acp.SessionID) *agent.Session                                         = (*agent.Conn).Session
	_ func(*agent.Conn) *acp.ClientCapabilities                                               = (*agent.Conn).ClientCapabilities
	_ func(stream.Stream, func(*client.Conn) acp.Client, *client.Options) *client.Conn        = client.New
	_ func(acp.Client) *acp.ClientCapabilities                                                = client.Capabilities
	_ func(context.Context, acp.SessionID) ([]string, uint64, bool)                           = client.Asked
	_ func(*client.Conn, func())                                                              = (*client.Conn).OnEnd
	_ func(*client.Conn, func(acp.SessionID))                                                 = (*client.Conn).OnSessionEnd
	_ func(*client.Conn) *acp.AgentCapabilities                                               = (*client.Conn).AgentCapabilities
	_ func(*client.Conn, context.Context, *acp.NewSessionRequest) (*client.Session, error)    = (*client.Conn).StartSession
	_ func(*client.Session, context.Context, ...acp.ContentBlock) *client.Turn                = (*client.Session).Prompt
	_ func(*client.Turn) iter.Seq2[acp.SessionUpdate, error]                                  = (*client.Turn).Updates
	_ func(*client.Turn) (*acp.PromptResponse, error)                                         = (*client.Turn).Wait
	_ func(*client.Turn) (string, error)                                                      = (*client.Turn).Text
	_ conn                                                                                    = (*agent.Conn)(nil)
	_ conn                                                                                    = (*client.Conn)(nil)
	_ terminal                                                                                = (*agent.Terminal)(nil)
	_ everyClientInterface                                                                    = (*agent.Conn)(nil)
	_ everyAgentInterface                                                                     = (*client.Conn)(nil)
)

// The ends on a connection of sourcegraph/jsonrpc2.
var (
	_ func(func(acp.Client) acp.Agent, *agentlib.Options) jsonrpc2.Handler  = agentlib.Handler
	_ func(*jsonrpc2.Conn) acp.Client                                       = agentlib.Client
	_ func(func(acp.Agent) acp.Client, *clientlib.Options) jsonrpc2.Handler = clientlib.Handler
	_ func(*jsonrpc2.Conn) acp.Agent                                        = clientlib.Agent
)

// conn is what both ends have in common.
type conn interface {
	Start(context.Context) error
	Wait() error
	Run(context.Context) error
	Close() error
	Shutdown(context.Context) error
	Done() <-chan struct{}
	Err() error
	ProtocolVersion() int
	PeerInfo() *acp.Implementation
	Call(ctx context.Context, method string, params, result any) error
	Notify(ctx context.Context, method string, params any) error
}

type terminal interface {
	Output(context.Context) (*acp.TerminalOutputResponse, error)
	WaitForExit(context.Context) (*acp.WaitForTerminalExitResponse, error)
	Kill(context.Context) error
	Release(context.Context) error
}

type everyClientInterface interface {
	acp.Client
	acp.TextFileReader
	acp.TextFileWriter
	acp.TerminalHost
	acp.Elicitor
	acp.ElicitationCompleter
	acp.AuthStatusUpdater
	acp.MCPMessageHandler
	acp.ExtensionHandler
	acp.ExtensionNotificationHandler
}

type everyAgentInterface interface {
	acp.Agent
	acp.Authenticator
	acp.LogoutHandler
	acp.SessionLoader
	acp.SessionResumer
	acp.SessionLister
	acp.SessionDeleter
	acp.SessionCloser
	acp.SessionModeSetter
	acp.SessionConfigOptionSetter
	acp.ProviderManager
	acp.SessionForker
	acp.SessionArchiver
	acp.SessionStatusReporter
	acp.SessionTitleSetter
	acp.SessionOptionsReporter
	acp.AuthStatusReporter
	acp.MCPNotificationHandler
	acp.ExtensionHandler
	acp.ExtensionNotificationHandler
}

// Errors that travel.
var (
	_ = rpcerr.RequestError{Code: rpcerr.Code(0), Message: "", Data: any(nil)}

	_, _, _, _, _, _ func(any) *rpcerr.RequestError = rpcerr.ParseError, rpcerr.InvalidRequest, rpcerr.InvalidParams,
		rpcerr.InternalError, rpcerr.RequestCancelled, rpcerr.AuthRequired
	_, _, _ func(string) *rpcerr.RequestError      = rpcerr.MethodNotFound, rpcerr.ResourceNotFound, rpcerr.SessionNotFound
	_       func(int, ...int) *rpcerr.RequestError = rpcerr.UnsupportedProtocolVersion

	_ interface {
		error
		WithDetail(string) *rpcerr.RequestError
		WithData(any) *rpcerr.RequestError
		WithCause(error) *rpcerr.RequestError
		DecodeData(any) error
		ToResult() rpcerr.Result
		ToErrorResponse() rpcerr.ErrorResponse
		Unwrap() error
		Is(error) bool
	} = (*rpcerr.RequestError)(nil)

	_ func(error) error               = rpcerr.From
	_ func(error) (rpcerr.Code, bool) = rpcerr.CodeOf

	_, _, _, _, _, _, _, _, _, _ error = rpcerr.ErrParse, rpcerr.ErrInvalidRequest, rpcerr.ErrMethodNotFound, rpcerr.ErrInvalidParams,
		rpcerr.ErrInternal, rpcerr.ErrRequestCancelled, rpcerr.ErrAuthRequired, rpcerr.ErrResourceNotFound, rpcerr.ErrSessionNotFound,
		rpcerr.ErrUnsupportedProtocolVersion
)

// Streams.
var (
	_ stream.Stream = (interface {
		Read() ([]byte, error)
		Write([]byte) error
		Close() error
	})(nil)
	_ func(io.Reader, io.Writer, *stream.LinesOptions) stream.Stream   = stream.Lines
	_ func() stream.Stream                                             = stream.Stdio
	_ func() (stream.Stream, stream.Stream)                            = stream.Pipe
	_ func(*exec.Cmd, *stream.CommandOptions) (*stream.Process, error) = stream.Command
	_ stream.Stream                                                    = (*stream.Process)(nil)
	_ func(*stream.SignalOptions) func()                               = stream.EndOnSignal
	_ interface{ Features() *stream.Features }                         = (*stream.Process)(nil)
	_ error                                                            = &stream.TooLargeError{Method: "", ID: json.RawMessage(nil), HasResult: false}
	_ error                                                            = &stream.ExitError{Status: 0, Stderr: ""}
)

// A kind of update, a handler and an error, written as a user writes them.
func TestTheContractReadsAsPlanned(t *testing.T) {
	describe := func(u acp.SessionUpdate) string {
		switch u := u.(type) {
		case *acp.AgentMessageChunk:
			return acp.PlainText(u.Content)
		case *acp.UnknownSessionUpdate:
			return u.Type
		}
		return ""
	}
	assert.Equal(t, "hi", describe(acp.AgentText("hi")))
	assert.Equal(t, "from_the_future", describe(&acp.UnknownSessionUpdate{Type: "from_the_future"}))

	var err error = rpcerr.InvalidParams(nil).WithDetail("no such mode")
	assert.ErrorIs(t, err, rpcerr.ErrInvalidParams)
	assert.EqualError(t, err, "Invalid params: no such mode (-32602)")
	var missing error = &acp.CapabilityError{Method: "session/list", Capability: "sessionCapabilities.list"}
	code, ok := rpcerr.CodeOf(missing)
	assert.Equal(t, rpcerr.CodeMethodNotFound, code, "as which it leaves a proxy")
	assert.True(t, ok)
	_, isPeer := errors.AsType[*rpcerr.RequestError](missing)
	assert.False(t, isPeer, "nobody but the peer says a RequestError")
}
