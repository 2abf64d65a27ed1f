package agent

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
	e "github.com/acpkit/go-sdk/internal/endpoint"
)

// byName holds the plain methods of the client under their names on the wire.
var byName = e.ByName[*Conn]{
	Peer: "client",
	Requests: map[string]func(*Conn, context.Context, any, any) error{
		acp.MethodSessionRequestPermission: e.OnRequest(acp.MethodSessionRequestPermission, (*Conn).RequestPermission),
		acp.MethodFSReadTextFile:           e.OnRequest(acp.MethodFSReadTextFile, (*Conn).ReadTextFile),
		acp.MethodFSWriteTextFile:          e.OnRequest(acp.MethodFSWriteTextFile, (*Conn).WriteTextFile),
		acp.MethodTerminalCreate:           e.OnRequest(acp.MethodTerminalCreate, (*Conn).CreateTerminal),
		acp.MethodTerminalOutput:           e.OnRequest(acp.MethodTerminalOutput, (*Conn).TerminalOutput),
		acp.MethodTerminalWaitForExit:      e.OnRequest(acp.MethodTerminalWaitForExit, (*Conn).WaitForTerminalExit),
		acp.MethodTerminalKill:             e.OnRequest(acp.MethodTerminalKill, (*Conn).KillTerminal),
		acp.MethodTerminalRelease:          e.OnRequest(acp.MethodTerminalRelease, (*Conn).ReleaseTerminal),
		acp.MethodElicitationCreate:        e.OnRequest(acp.MethodElicitationCreate, (*Conn).CreateElicitation),
		acp.MethodMCPMessage:               e.OnRequest(acp.MethodMCPMessage, (*Conn).MessageMCP),
	},
	Notifications: map[string]func(*Conn, context.Context, any) error{
		acp.MethodSessionUpdate:       e.OnNotification(acp.MethodSessionUpdate, (*Conn).SessionUpdate),
		acp.MethodElicitationComplete: e.OnNotification(acp.MethodElicitationComplete, (*Conn).CompleteElicitation),
		acp.MethodAuthStatusUpdate:    e.OnNotification(acp.MethodAuthStatusUpdate, (*Conn).AuthStatusUpdate),
	},
}

// Call sends a request by the name of its method and waits for the answer. It is
// the way to call extensions, whose names begin with an underscore; a method of the
// protocol takes the same path as the Conn's own method for it.
//
// Params may be a pointer to the method's params, a json.RawMessage, or anything
// encoding/json can write; nil leaves them out. The answer is put into what result
// points to, with encoding/json unless it is a *json.RawMessage or of the method's
// own type; nil drops it.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	return byName.Call(c, ctx, method, params, result, c.engine.Get().CallExtension)
}

// Notify sends a notification by its name, as [Conn.Call] does with a request.
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	return byName.Notify(c, ctx, method, params, c.engine.Get().NotifyExtension)
}
