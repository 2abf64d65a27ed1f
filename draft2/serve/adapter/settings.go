package adapter

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// optionMode is the id of the config option for the modes of version 1.
const optionMode acp2.SessionConfigID = "mode"

// settings are the options of a session, and its commands.
type settings struct {
	modes    *acp.SessionModeState // used only if there are no options
	options  []acp2.SessionConfigOption
	commands []acp2.AvailableCommand
}

// list returns all options in the form of version 2.
func (s *settings) list() []acp2.SessionConfigOption {
	if len(s.options) > 0 || s.modes == nil || len(s.modes.AvailableModes) == 0 {
		return s.options
	}
	var values []acp2.SessionConfigSelectOption
	for _, m := range s.modes.AvailableModes {
		values = append(values, acp2.SessionConfigSelectOption{
			Value: acp2.SessionConfigValueID(m.ID), Name: m.Name, Description: m.Description, Meta: m.Meta,
		})
	}
	return []acp2.SessionConfigOption{{
		ConfigID: optionMode, Name: "Mode", Category: acp2.SessionConfigOptionCategoryMode, Meta: s.modes.Meta,
		Kind: &acp2.SessionConfigSelect{
			CurrentValue: acp2.SessionConfigValueID(s.modes.CurrentModeID),
			Options:      acp2.SessionConfigSelectOptions{Ungrouped: values},
		},
	}}
}

// isMode reports whether the option with that id sets the mode.
func (s *settings) isMode(id acp2.SessionConfigID) bool {
	return id == optionMode && len(s.options) == 0 && s.modes != nil && len(s.modes.AvailableModes) > 0
}

// started stores the settings in the response that opens a session. It returns the options and
// commands of the session. The values of earlier updates stay if modes or options are absent, or if
// the session is new, because they are newer then.
func (s *session) started(isNew bool, modes *acp.SessionModeState, options []acp.SessionConfigOption) ([]acp2.SessionConfigOption, []acp2.AvailableCommand, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if modes != nil {
		told := s.settings.modes
		s.settings.modes = new(*modes)
		if isNew && told != nil {
			s.settings.modes.CurrentModeID = told.CurrentModeID
		}
	}
	if options != nil && !(isNew && s.settings.options != nil) {
		converted, err := configOptions(options)
		if err != nil {
			return nil, nil, err
		}
		s.settings.options = converted
	}
	return s.settings.list(), s.settings.commands, nil
}

// mode stores the current mode. If an option changes by that, it returns the options.
func (s *session) mode(id acp.SessionModeID) (changed []acp2.SessionConfigOption) {
	var modes acp.SessionModeState
	if s.settings.modes != nil {
		modes = *s.settings.modes
	}
	modes.CurrentModeID = id
	s.settings.modes = &modes
	if len(modes.AvailableModes) == 0 || len(s.settings.options) > 0 {
		return nil
	}
	return s.settings.list()
}

// SetSessionConfigOption sets a config option, or the mode of the agent.
func (a *adapter) SetSessionConfigOption(ctx context.Context, req *acp2.SetSessionConfigOptionRequest) (*acp2.SetSessionConfigOptionResponse, error) {
	s, err := a.known(req.SessionID)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	isMode := s.settings.isMode(req.ConfigID)
	s.mu.Unlock()
	var value acp.SessionConfigOptionValue
	switch v := req.Value.(type) {
	case *acp2.SessionConfigValue:
		if isMode {
			return a.setMode(ctx, s, acp.SessionModeID(v.Value), req.Meta)
		}
		value = &acp.SessionConfigValue{Value: acp.SessionConfigValueID(v.Value)}
	case *acp2.SessionConfigBooleanValue:
		value = &acp.SessionConfigBooleanValue{Value: v.Value}
	}
	if value == nil || isMode {
		return nil, rpcerr.InvalidParams(map[string]any{"configId": req.ConfigID}).WithDetail("the agent does not support values of this type for the option")
	}
	res, err := a.below.SetSessionConfigOption(ctx, &acp.SetSessionConfigOptionRequest{
		SessionID: s.id, ConfigID: acp.SessionConfigID(req.ConfigID), Value: value, Meta: req.Meta,
	})
	if err != nil {
		return nil, err
	}
	options, err := configOptions(res.ConfigOptions)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings.options = options
	return &acp2.SetSessionConfigOptionResponse{ConfigOptions: s.settings.list(), Meta: res.Meta}, nil
}

func (a *adapter) setMode(ctx context.Context, s *session, id acp.SessionModeID, meta acp2.Meta) (*acp2.SetSessionConfigOptionResponse, error) {
	res, err := a.below.SetSessionMode(ctx, &acp.SetSessionModeRequest{SessionID: s.id, ModeID: id, Meta: meta})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode(id)
	return &acp2.SetSessionConfigOptionResponse{ConfigOptions: s.settings.list(), Meta: res.Meta}, nil
}
