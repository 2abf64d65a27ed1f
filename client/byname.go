package client

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
	e "github.com/acpkit/go-sdk/internal/endpoint"
)

// byName holds the plain methods of the agent under their names on the wire.
var byName = e.ByName[*Conn]{
	Peer: "agent",
	Requests: map[string]func(*Conn, context.Context, any, any) error{
		acp.MethodInitialize:             e.OnRequest(acp.MethodInitialize, (*Conn).Initialize),
		acp.MethodAuthenticate:           e.OnRequest(acp.MethodAuthenticate, (*Conn).Authenticate),
		acp.MethodLogout:                 e.OnRequest(acp.MethodLogout, (*Conn).Logout),
		acp.MethodSessionNew:             e.OnRequest(acp.MethodSessionNew, (*Conn).NewSession),
		acp.MethodSessionLoad:            e.OnRequest(acp.MethodSessionLoad, (*Conn).LoadSession),
		acp.MethodSessionResume:          e.OnRequest(acp.MethodSessionResume, (*Conn).ResumeSession),
		acp.MethodSessionList:            e.OnRequest(acp.MethodSessionList, (*Conn).ListSessions),
		acp.MethodSessionDelete:          e.OnRequest(acp.MethodSessionDelete, (*Conn).DeleteSession),
		acp.MethodSessionClose:           e.OnRequest(acp.MethodSessionClose, (*Conn).CloseSession),
		acp.MethodSessionSetMode:         e.OnRequest(acp.MethodSessionSetMode, (*Conn).SetSessionMode),
		acp.MethodSessionSetConfigOption: e.OnRequest(acp.MethodSessionSetConfigOption, (*Conn).SetSessionConfigOption),
		acp.MethodSessionPrompt:          e.OnRequest(acp.MethodSessionPrompt, (*Conn).Prompt),
		acp.MethodProvidersList:          e.OnRequest(acp.MethodProvidersList, (*Conn).ListProviders),
		acp.MethodProvidersSet:           e.OnRequest(acp.MethodProvidersSet, (*Conn).SetProvider),
		acp.MethodProvidersDisable:       e.OnRequest(acp.MethodProvidersDisable, (*Conn).DisableProvider),
		acp.MethodSessionFork:            e.OnRequest(acp.MethodSessionFork, (*Conn).ForkSession),
		acp.MethodSessionArchive:         e.OnRequest(acp.MethodSessionArchive, (*Conn).ArchiveSession),
		acp.MethodSessionUnarchive:       e.OnRequest(acp.MethodSessionUnarchive, (*Conn).UnarchiveSession),
		acp.MethodSessionStatus:          e.OnRequest(acp.MethodSessionStatus, (*Conn).SessionStatus),
		acp.MethodSessionSetTitle:        e.OnRequest(acp.MethodSessionSetTitle, (*Conn).SetSessionTitle),
		acp.MethodAuthStatus:             e.OnRequest(acp.MethodAuthStatus, (*Conn).AuthStatus),
	},
	Notifications: map[string]func(*Conn, context.Context, any) error{
		acp.MethodSessionCancel: e.OnNotification(acp.MethodSessionCancel, (*Conn).Cancel),
		acp.MethodMCPMessage:    e.OnNotification(acp.MethodMCPMessage, (*Conn).MessageMCPNotification),
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
