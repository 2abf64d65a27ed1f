package agent

import "github.com/acpkit/go-sdk/acp"

// Capabilities returns what an agent can advertise by the interfaces it
// implements: loadSession for an [acp.SessionLoader], sessionCapabilities.list for
// an [acp.SessionLister], and so on. A Conn answers initialize with it when the
// agent's answer leaves AgentCapabilities nil.
//
// What no interface tells, such as the kinds of content a prompt may hold or the
// MCP transports, is left out. To advertise those start from the result:
//
//	caps := agent.Capabilities(a)
//	caps.PromptCapabilities = &acp.PromptCapabilities{Image: true}
//
// For a connection to an agent the result is what that agent advertised, nil if
// it is not known yet.
func Capabilities(a acp.Agent) *acp.AgentCapabilities {
	if r, ok := a.(remoteAgent); ok {
		return r.AgentCapabilities()
	}
	caps := &acp.AgentCapabilities{}
	session := func() *acp.SessionCapabilities {
		if caps.SessionCapabilities == nil {
			caps.SessionCapabilities = &acp.SessionCapabilities{}
		}
		return caps.SessionCapabilities
	}
	auth := func() *acp.AgentAuthCapabilities {
		if caps.Auth == nil {
			caps.Auth = &acp.AgentAuthCapabilities{}
		}
		return caps.Auth
	}
	if _, ok := a.(acp.SessionLoader); ok {
		caps.LoadSession = true
	}
	if _, ok := a.(acp.SessionResumer); ok {
		session().Resume = &acp.SessionResumeCapabilities{}
	}
	if _, ok := a.(acp.SessionLister); ok {
		session().List = &acp.SessionListCapabilities{}
	}
	if _, ok := a.(acp.SessionDeleter); ok {
		session().Delete = &acp.SessionDeleteCapabilities{}
	}
	if _, ok := a.(acp.SessionCloser); ok {
		session().Close = &acp.SessionCloseCapabilities{}
	}
	if _, ok := a.(acp.LogoutHandler); ok {
		auth().Logout = &acp.LogoutCapabilities{}
	}
	if _, ok := a.(acp.ProviderManager); ok {
		caps.Providers = &acp.ProvidersCapabilities{}
	}
	if _, ok := a.(acp.SessionForker); ok {
		session().Fork = &acp.SessionForkCapabilities{}
	}
	if _, ok := a.(acp.SessionArchiver); ok {
		session().Archive = &acp.SessionArchiveCapabilities{}
	}
	if _, ok := a.(acp.SessionStatusReporter); ok {
		session().Status = &acp.SessionStatusCapabilities{}
	}
	if _, ok := a.(acp.SessionTitleSetter); ok {
		session().Title = &acp.SessionTitleCapabilities{}
	}
	if _, ok := a.(acp.AuthStatusReporter); ok {
		auth().Status = &acp.AuthStatusCapabilities{}
	}
	if _, ok := a.(acp.MCPNotificationHandler); ok {
		caps.MCPCapabilities = &acp.MCPCapabilities{ACP: true}
	}
	return caps
}

// methodBits lists the capabilities that promise a method, with the interface that
// holds it.
var methodBits = []struct{ path, method, role string }{
	{"loadSession", acp.MethodSessionLoad, "SessionLoader"},
	{"sessionCapabilities.resume", acp.MethodSessionResume, "SessionResumer"},
	{"sessionCapabilities.list", acp.MethodSessionList, "SessionLister"},
	{"sessionCapabilities.delete", acp.MethodSessionDelete, "SessionDeleter"},
	{"sessionCapabilities.close", acp.MethodSessionClose, "SessionCloser"},
	{"auth.logout", acp.MethodLogout, "LogoutHandler"},
	{"providers", acp.MethodProvidersList, "ProviderManager"},
	{"sessionCapabilities.fork", acp.MethodSessionFork, "SessionForker"},
	{"sessionCapabilities.archive", acp.MethodSessionArchive, "SessionArchiver"},
	{"sessionCapabilities.status", acp.MethodSessionStatus, "SessionStatusReporter"},
	{"sessionCapabilities.title", acp.MethodSessionSetTitle, "SessionTitleSetter"},
	{"auth.status", acp.MethodAuthStatus, "AuthStatusReporter"},
}
