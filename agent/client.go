package agent

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
)

// The methods of the client, in the order of the protocol. Each sends its params as
// they are; nil stands for empty params.

// RequestPermission asks the person at the client whether a tool call may go on,
// and waits for the answer, for as long as it takes. When the turn is cancelled
// meanwhile the outcome is an [acp.CancelledPermissionOutcome] or ctx ends.
//
// Protocol: session/request_permission.
func (c *Conn) RequestPermission(ctx context.Context, req *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return endpoint.Call[acp.RequestPermissionRequest, acp.RequestPermissionResponse](ctx, &c.out, acp.MethodSessionRequestPermission, req, nil)
}

// SessionUpdate reports one step of a session's work. It returns when the update is
// queued for sending; it waits while the queue is full. Sent by a handler before it
// returns, it is on the wire before the handler's answer. [Session] has shorter
// forms, and their ctx survives a cancelled turn.
//
// Protocol: session/update.
func (c *Conn) SessionUpdate(ctx context.Context, n *acp.SessionNotification) error {
	return endpoint.Notify(ctx, &c.out, acp.MethodSessionUpdate, n)
}

// ReadTextFile reads a text file as the client sees it, changes in editors that are
// not saved yet included. A file that does not exist gives
// rpcerr.ErrResourceNotFound.
//
// Protocol: fs/read_text_file. Capability: fs.readTextFile.
func (c *Conn) ReadTextFile(ctx context.Context, req *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	return endpoint.Call[acp.ReadTextFileRequest, acp.ReadTextFileResponse](ctx, &c.out, acp.MethodFSReadTextFile, req, nil)
}

// WriteTextFile creates or replaces a text file.
//
// Protocol: fs/write_text_file. Capability: fs.writeTextFile.
func (c *Conn) WriteTextFile(ctx context.Context, req *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	return endpoint.Call[acp.WriteTextFileRequest, acp.WriteTextFileResponse](ctx, &c.out, acp.MethodFSWriteTextFile, req, nil)
}

// CreateTerminal starts a command at the client and returns at once. The terminal
// must be released; [Conn.StartTerminal] and [Conn.RunTerminal] help with that.
//
// Protocol: terminal/create. Capability: terminal.
func (c *Conn) CreateTerminal(ctx context.Context, req *acp.CreateTerminalRequest) (*acp.CreateTerminalResponse, error) {
	return endpoint.Call[acp.CreateTerminalRequest, acp.CreateTerminalResponse](ctx, &c.out, acp.MethodTerminalCreate, req, nil)
}

// TerminalOutput returns what the command has printed so far, without waiting.
//
// Protocol: terminal/output. Capability: terminal.
func (c *Conn) TerminalOutput(ctx context.Context, req *acp.TerminalOutputRequest) (*acp.TerminalOutputResponse, error) {
	return endpoint.Call[acp.TerminalOutputRequest, acp.TerminalOutputResponse](ctx, &c.out, acp.MethodTerminalOutput, req, nil)
}

// WaitForTerminalExit waits until the command has ended.
//
// Protocol: terminal/wait_for_exit. Capability: terminal.
func (c *Conn) WaitForTerminalExit(ctx context.Context, req *acp.WaitForTerminalExitRequest) (*acp.WaitForTerminalExitResponse, error) {
	return endpoint.Call[acp.WaitForTerminalExitRequest, acp.WaitForTerminalExitResponse](ctx, &c.out, acp.MethodTerminalWaitForExit, req, nil)
}

// KillTerminal ends the command. The terminal stays valid, so that its output can
// still be read.
//
// Protocol: terminal/kill. Capability: terminal.
func (c *Conn) KillTerminal(ctx context.Context, req *acp.KillTerminalRequest) (*acp.KillTerminalResponse, error) {
	return endpoint.Call[acp.KillTerminalRequest, acp.KillTerminalResponse](ctx, &c.out, acp.MethodTerminalKill, req, nil)
}

// ReleaseTerminal ends the command if it still runs and gives the terminal up.
//
// Protocol: terminal/release. Capability: terminal.
func (c *Conn) ReleaseTerminal(ctx context.Context, req *acp.ReleaseTerminalRequest) (*acp.ReleaseTerminalResponse, error) {
	return endpoint.Call[acp.ReleaseTerminalRequest, acp.ReleaseTerminalResponse](ctx, &c.out, acp.MethodTerminalRelease, req, nil)
}

// CreateElicitation asks the person at the client to fill in a form or to visit a
// web page, and waits for the answer. An action the SDK does not know means the same
// as cancel. Only http and https URLs are sent.
//
// Protocol: elicitation/create. Capability: elicitation.form or elicitation.url.
func (c *Conn) CreateElicitation(ctx context.Context, req *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	return endpoint.Call[acp.CreateElicitationRequest, acp.CreateElicitationResponse](ctx, &c.out, acp.MethodElicitationCreate, req, nil)
}

// CompleteElicitation tells the client that what it was asked to do on a web page
// has been done.
//
// Protocol: elicitation/complete. Capability: elicitation.url.
func (c *Conn) CompleteElicitation(ctx context.Context, n *acp.CompleteElicitationNotification) error {
	return endpoint.Notify(ctx, &c.out, acp.MethodElicitationComplete, n)
}

// AuthStatusUpdate tells the client that the state of authentication has changed.
//
// Unstable: see Options.Unstable. Protocol: auth/status_update.
func (c *Conn) AuthStatusUpdate(ctx context.Context, n *acp.AuthStatusUpdateNotification) error {
	return endpoint.Notify(ctx, &c.out, acp.MethodAuthStatusUpdate, n)
}

// MessageMCP sends a request to an MCP server that the client provides over this
// connection. An error of the MCP server is part of the answer, not of err.
//
// Unstable: see Options.Unstable. Protocol: mcp/message.
func (c *Conn) MessageMCP(ctx context.Context, req *acp.MessageMCPRequest) (*acp.MessageMCPResponse, error) {
	return endpoint.Call[acp.MessageMCPRequest, acp.MessageMCPResponse](ctx, &c.out, acp.MethodMCPMessage, req, nil)
}
