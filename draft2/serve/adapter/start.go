package adapter

import (
	"context"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/errs"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Handles implements acp2.Selective. Unstable methods exist where the connection to the client allows them,
// and are refused if the agent did not advertise them.
func (a *adapter) Handles(method string) bool {
	switch method {
	case acp2.MethodSessionOptions, acp2.MethodSessionFork:
		return a.above.Unstable()
	}
	return true
}

// SessionOptions reports what a session of the agent would start with.
func (a *adapter) SessionOptions(ctx context.Context, req *acp2.SessionOptionsRequest) (*acp2.SessionOptionsResponse, error) {
	defer a.outsideSession(ctx)()
	res, err := a.below.SessionOptions(ctx, &acp.SessionOptionsRequest{
		Cwd: string(req.Cwd), AdditionalDirectories: paths(req.AdditionalDirectories), SessionID: acp.SessionID(req.SessionID), Meta: req.Meta,
	})
	if err != nil {
		return nil, err
	}
	options, err := configOptions(res.ConfigOptions)
	if err != nil {
		return nil, err
	}
	start := settings{modes: res.Modes, options: options}
	return &acp2.SessionOptionsResponse{ConfigOptions: start.list(), Meta: res.Meta}, nil
}

// ForkSession starts a session from the context of another one, or from what was before a cursor.
func (a *adapter) ForkSession(ctx context.Context, req *acp2.ForkSessionRequest) (*acp2.ForkSessionResponse, error) {
	defer a.outsideSession(ctx)()
	servers, system, err := opening(req.MCPServers, req.SystemPrompt)
	if err != nil {
		return nil, err
	}
	values, err := a.initial(req.ConfigOptions)
	if err != nil {
		return nil, err
	}
	res, err := a.below.ForkSession(ctx, &acp.ForkSessionRequest{
		SessionID: acp.SessionID(req.SessionID), CursorID: req.CursorID, Cwd: string(req.Cwd), AdditionalDirectories: paths(req.AdditionalDirectories),
		MCPServers: servers, SystemPrompt: system, ConfigOptions: values, Meta: req.Meta,
	})
	if err != nil {
		return nil, err
	}
	s := a.opens(res.SessionID, req.Cwd, req.AdditionalDirectories, system)
	options, commands, err := s.started(true, res.Modes, res.ConfigOptions)
	if err != nil {
		return nil, err
	}
	options = a.startInMode(ctx, s, values, options)
	return &acp2.ForkSessionResponse{SessionID: acp2.SessionID(res.SessionID), ConfigOptions: options, AvailableCommands: commands, Meta: res.Meta}, nil
}

// initial returns values for the start of a session in the form of version 1, or none if the agent did not
// advertise that it takes them. It refuses types of values that version 1 does not have.
func (a *adapter) initial(list []acp2.InitialSessionConfigOption) ([]acp.InitialSessionConfigOption, error) {
	if !a.has("sessionCapabilities.options") {
		return nil, nil
	}
	var all []acp.InitialSessionConfigOption
	for _, o := range list {
		own := acp.InitialSessionConfigOption{ConfigID: acp.SessionConfigID(o.ConfigID), Meta: o.Meta}
		switch v := o.Value.(type) {
		case *acp2.SessionConfigValue:
			own.Value = &acp.SessionConfigValue{Value: acp.SessionConfigValueID(v.Value)}
		case *acp2.SessionConfigBooleanValue:
			own.Value = &acp.SessionConfigBooleanValue{Value: v.Value}
		default:
			return nil, rpcerr.InvalidParams(map[string]any{"configId": o.ConfigID}).WithDetail("configOptions: the agent supports values of type id and boolean only")
		}
		all = append(all, own)
	}
	return all, nil
}

// startInMode sets the mode that the client has chosen for the start of a session, if the modes of the agent
// are an option only here. It returns the options that hold: as with other values, a mode that cannot be set
// is none.
func (a *adapter) startInMode(ctx context.Context, s *session, values []acp.InitialSessionConfigOption, now []acp2.SessionConfigOption) []acp2.SessionConfigOption {
	for _, o := range values {
		v, ok := o.Value.(*acp.SessionConfigValue)
		if !ok || !s.hasMode(acp2.SessionConfigID(o.ConfigID), acp.SessionModeID(v.Value)) {
			continue
		}
		res, err := a.setMode(ctx, s, acp.SessionModeID(v.Value), nil)
		if err != nil {
			a.log.Warn("adapter: the agent refused the mode that the client has chosen for the start of a session", "error", errs.LogText(err))
			continue
		}
		now = res.ConfigOptions
	}
	return now
}

// hasMode reports whether the option sets the mode, and has the value.
func (s *session) hasMode(id acp2.SessionConfigID, mode acp.SessionModeID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings.isMode(id) && slices.ContainsFunc(s.settings.modes.AvailableModes, func(m acp.SessionMode) bool { return m.ID == mode })
}
