package client

import (
	"context"
	"fmt"

	"github.com/acpkit/go-sdk/acp"
	e "github.com/acpkit/go-sdk/internal/endpoint"
)

// methods builds the table of what the client handles, in the order of the
// protocol. What the client does not implement has no row and is answered with
// -32601.
func (c *Conn) methods() error {
	cl, t := c.client, &c.table

	e.Request(t, acp.MethodSessionRequestPermission, c.requestPermission)
	e.Notification(t, acp.MethodSessionUpdate, c.sessionUpdate)
	if h, ok := cl.(acp.TextFileReader); ok {
		e.Request(t, acp.MethodFSReadTextFile, h.ReadTextFile)
	}
	if h, ok := cl.(acp.TextFileWriter); ok {
		e.Request(t, acp.MethodFSWriteTextFile, h.WriteTextFile)
	}
	if h, ok := cl.(acp.TerminalHost); ok {
		e.Request(t, acp.MethodTerminalCreate, h.CreateTerminal)
		e.Request(t, acp.MethodTerminalOutput, h.TerminalOutput)
		e.Request(t, acp.MethodTerminalWaitForExit, h.WaitForTerminalExit)
		e.Request(t, acp.MethodTerminalKill, h.KillTerminal)
		e.Request(t, acp.MethodTerminalRelease, h.ReleaseTerminal)
	}
	if h, ok := cl.(acp.Elicitor); ok {
		e.Request(t, acp.MethodElicitationCreate, func(ctx context.Context, req *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
			return c.createElicitation(ctx, h, req)
		})
	}
	if h, ok := cl.(acp.ElicitationCompleter); ok {
		e.Notification(t, acp.MethodElicitationComplete, h.CompleteElicitation)
	}
	return c.unstableMethods()
}

// unstableMethods adds the rows that Options.Unstable allows. A client that is
// itself a connection has all of them, and its own options decide.
func (c *Conn) unstableMethods() error {
	cl, t := c.client, &c.table
	var refused string
	allowed := func(name string) bool {
		if c.opts.Unstable || c.remote {
			return true
		}
		if refused == "" {
			refused = name
		}
		return false
	}
	if h, ok := cl.(acp.AuthStatusUpdater); ok && allowed("acp.AuthStatusUpdater") {
		e.Notification(t, acp.MethodAuthStatusUpdate, h.AuthStatusUpdate)
	}
	if h, ok := cl.(acp.MCPMessageHandler); ok && allowed("acp.MCPMessageHandler") {
		e.Request(t, acp.MethodMCPMessage, h.MessageMCP)
	}
	if refused != "" {
		return fmt.Errorf("client: %T implements %s, which is unstable: set Options.Unstable or drop the method", cl, refused)
	}
	return nil
}
