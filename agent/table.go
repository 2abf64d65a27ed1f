package agent

import (
	"fmt"

	"github.com/acpkit/go-sdk/acp"
	e "github.com/acpkit/go-sdk/internal/endpoint"
)

// methods builds the table of what the agent handles, in the order of the
// protocol. What the agent does not implement has no row and is answered with
// -32601.
func (c *Conn) methods() error {
	a, t := c.agent, &c.table

	e.Request(t, acp.MethodInitialize, c.initialize)
	if h, ok := a.(acp.Authenticator); ok {
		e.Request(t, acp.MethodAuthenticate, h.Authenticate)
	}
	if h, ok := a.(acp.LogoutHandler); ok {
		e.Request(t, acp.MethodLogout, h.Logout)
	}
	e.Request(t, acp.MethodSessionNew, a.NewSession)
	if h, ok := a.(acp.SessionLoader); ok {
		e.Request(t, acp.MethodSessionLoad, h.LoadSession)
	}
	if h, ok := a.(acp.SessionResumer); ok {
		e.Request(t, acp.MethodSessionResume, h.ResumeSession)
	}
	if h, ok := a.(acp.SessionLister); ok {
		e.Request(t, acp.MethodSessionList, h.ListSessions)
	}
	if h, ok := a.(acp.SessionDeleter); ok {
		e.Request(t, acp.MethodSessionDelete, h.DeleteSession)
	}
	if h, ok := a.(acp.SessionCloser); ok {
		e.Request(t, acp.MethodSessionClose, h.CloseSession).EndsGroup = true
	}
	if h, ok := a.(acp.SessionModeSetter); ok {
		e.Request(t, acp.MethodSessionSetMode, h.SetSessionMode)
	}
	if h, ok := a.(acp.SessionConfigOptionSetter); ok {
		e.Request(t, acp.MethodSessionSetConfigOption, h.SetSessionConfigOption)
	}
	prompt := e.Request(t, acp.MethodSessionPrompt, c.prompt)
	prompt.Group, prompt.Ended = true, cancelledTurn
	e.Notification(t, acp.MethodSessionCancel, a.Cancel).EndsGroup = true
	return c.unstableMethods()
}

// unstableMethods adds the rows that Options.Unstable allows. An agent that is
// itself a connection has all of them, and its own options decide.
func (c *Conn) unstableMethods() error {
	a, t := c.agent, &c.table
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

	if h, ok := a.(acp.ProviderManager); ok && allowed("acp.ProviderManager") {
		e.Request(t, acp.MethodProvidersList, h.ListProviders)
		e.Request(t, acp.MethodProvidersSet, h.SetProvider)
		e.Request(t, acp.MethodProvidersDisable, h.DisableProvider)
	}
	if h, ok := a.(acp.SessionForker); ok && allowed("acp.SessionForker") {
		e.Request(t, acp.MethodSessionFork, h.ForkSession)
	}
	if h, ok := a.(acp.SessionArchiver); ok && allowed("acp.SessionArchiver") {
		e.Request(t, acp.MethodSessionArchive, h.ArchiveSession)
		e.Request(t, acp.MethodSessionUnarchive, h.UnarchiveSession)
	}
	if h, ok := a.(acp.SessionStatusReporter); ok && allowed("acp.SessionStatusReporter") {
		e.Request(t, acp.MethodSessionStatus, h.SessionStatus)
	}
	if h, ok := a.(acp.SessionTitleSetter); ok && allowed("acp.SessionTitleSetter") {
		e.Request(t, acp.MethodSessionSetTitle, h.SetSessionTitle)
	}
	if h, ok := a.(acp.AuthStatusReporter); ok && allowed("acp.AuthStatusReporter") {
		e.Request(t, acp.MethodAuthStatus, h.AuthStatus)
	}
	if h, ok := a.(acp.MCPNotificationHandler); ok && allowed("acp.MCPNotificationHandler") {
		e.Notification(t, acp.MethodMCPMessage, h.MessageMCPNotification)
	}
	if refused != "" {
		return fmt.Errorf("agent: %T implements %s, which is unstable: set Options.Unstable or drop the method", a, refused)
	}
	return nil
}
