package peertest

import (
	"context"
	"encoding/json"

	"github.com/acpkit/go-sdk/acp"
)

// FullClient is a client with every method, extensions included. All of them call Do.
type FullClient struct{ Do Do }

// RequestPermission implements acp.Client. Its default result selects the first option.
func (c *FullClient) RequestPermission(ctx context.Context, p *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	def := acp.Cancelled()
	if len(p.Options) > 0 {
		def = acp.Selected(p.Options[0].OptionID)
	}
	return Result(ctx, c.Do, acp.MethodSessionRequestPermission, p, def)
}

// SessionUpdate implements acp.Client.
func (c *FullClient) SessionUpdate(ctx context.Context, p *acp.SessionNotification) error {
	return Note(ctx, c.Do, acp.MethodSessionUpdate, p)
}

// ReadTextFile implements acp.TextFileReader.
func (c *FullClient) ReadTextFile(ctx context.Context, p *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	return Result(ctx, c.Do, acp.MethodFSReadTextFile, p, &acp.ReadTextFileResponse{})
}

// WriteTextFile implements acp.TextFileWriter.
func (c *FullClient) WriteTextFile(ctx context.Context, p *acp.WriteTextFileRequest) (*acp.WriteTextFileResponse, error) {
	return Result(ctx, c.Do, acp.MethodFSWriteTextFile, p, &acp.WriteTextFileResponse{})
}

// CreateTerminal implements acp.TerminalHost. Its terminal is called t.
func (c *FullClient) CreateTerminal(ctx context.Context, p *acp.CreateTerminalRequest) (*acp.CreateTerminalResponse, error) {
	return Result(ctx, c.Do, acp.MethodTerminalCreate, p, &acp.CreateTerminalResponse{TerminalID: "t"})
}

// TerminalOutput implements acp.TerminalHost.
func (c *FullClient) TerminalOutput(ctx context.Context, p *acp.TerminalOutputRequest) (*acp.TerminalOutputResponse, error) {
	return Result(ctx, c.Do, acp.MethodTerminalOutput, p, &acp.TerminalOutputResponse{})
}

// WaitForTerminalExit implements acp.TerminalHost.
func (c *FullClient) WaitForTerminalExit(ctx context.Context, p *acp.WaitForTerminalExitRequest) (*acp.WaitForTerminalExitResponse, error) {
	return Result(ctx, c.Do, acp.MethodTerminalWaitForExit, p, &acp.WaitForTerminalExitResponse{})
}

// KillTerminal implements acp.TerminalHost.
func (c *FullClient) KillTerminal(ctx context.Context, p *acp.KillTerminalRequest) (*acp.KillTerminalResponse, error) {
	return Result(ctx, c.Do, acp.MethodTerminalKill, p, &acp.KillTerminalResponse{})
}

// ReleaseTerminal implements acp.TerminalHost.
func (c *FullClient) ReleaseTerminal(ctx context.Context, p *acp.ReleaseTerminalRequest) (*acp.ReleaseTerminalResponse, error) {
	return Result(ctx, c.Do, acp.MethodTerminalRelease, p, &acp.ReleaseTerminalResponse{})
}

// CreateElicitation implements acp.Elicitor.
func (c *FullClient) CreateElicitation(ctx context.Context, p *acp.CreateElicitationRequest) (*acp.CreateElicitationResponse, error) {
	return Result(ctx, c.Do, acp.MethodElicitationCreate, p, &acp.CreateElicitationResponse{Action: &acp.ElicitationDeclineAction{}})
}

// CompleteElicitation implements acp.ElicitationCompleter.
func (c *FullClient) CompleteElicitation(ctx context.Context, p *acp.CompleteElicitationNotification) error {
	return Note(ctx, c.Do, acp.MethodElicitationComplete, p)
}

// AuthStatusUpdate implements acp.AuthStatusUpdater.
func (c *FullClient) AuthStatusUpdate(ctx context.Context, p *acp.AuthStatusUpdateNotification) error {
	return Note(ctx, c.Do, acp.MethodAuthStatusUpdate, p)
}

// MessageMCP implements acp.MCPMessageHandler.
func (c *FullClient) MessageMCP(ctx context.Context, p *acp.MessageMCPRequest) (*acp.MessageMCPResponse, error) {
	return Result(ctx, c.Do, acp.MethodMCPMessage, p, &acp.MessageMCPResponse{Result: json.RawMessage(`{}`)})
}

// HandleExtension implements acp.ExtensionHandler. Its default result is the params.
func (c *FullClient) HandleExtension(ctx context.Context, method string, params json.RawMessage) (any, error) {
	return Extension(ctx, c.Do, method, params)
}

// HandleExtensionNotification implements acp.ExtensionNotificationHandler.
func (c *FullClient) HandleExtensionNotification(ctx context.Context, method string, params json.RawMessage) error {
	return Note(ctx, c.Do, method, params)
}
