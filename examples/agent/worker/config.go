package worker

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
)

// The agent's settings. The mode is offered twice, as a mode and as a config
// option of that category, because older clients know only modes.
const (
	modeAsk  acp.SessionModeID = "ask"
	modeAuto acp.SessionModeID = "auto"

	optionMode   acp.SessionConfigID = "mode"
	optionDetail acp.SessionConfigID = "detail"

	detailBrief acp.SessionConfigValueID = "brief"
	detailFull  acp.SessionConfigValueID = "full"
)

var allModes = []acp.SessionMode{
	{ID: modeAsk, Name: "Ask", Description: "Asks before it changes a file or runs a command."},
	{ID: modeAuto, Name: "Auto", Description: "Changes files and runs commands without asking."},
}

var commands = []acp.AvailableCommand{
	{Name: "help", Description: "Lists what the agent understands."},
	{Name: "plan", Description: "Carries out several requests by a plan.", Input: &acp.UnstructuredCommandInput{Hint: "requests, joined by then"}},
}

func (s *session) modes() *acp.SessionModeState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &acp.SessionModeState{CurrentModeID: s.Mode, AvailableModes: allModes}
}

func (s *session) configOptions() []acp.SessionConfigOption {
	s.mu.Lock()
	defer s.mu.Unlock()
	var modes []acp.SessionConfigSelectOption
	for _, m := range allModes {
		modes = append(modes, acp.SessionConfigSelectOption{
			Value: acp.SessionConfigValueID(m.ID), Name: m.Name, Description: m.Description,
		})
	}
	return []acp.SessionConfigOption{
		{ID: optionMode, Name: "Mode", Category: acp.SessionConfigOptionCategoryMode, Kind: &acp.SessionConfigSelect{
			CurrentValue: acp.SessionConfigValueID(s.Mode),
			Options:      acp.SessionConfigSelectOptions{Ungrouped: modes},
		}},
		{ID: optionDetail, Name: "Detail", Description: "How much of what it read the agent repeats.", Kind: &acp.SessionConfigSelect{
			CurrentValue: s.Detail,
			Options: acp.SessionConfigSelectOptions{Ungrouped: []acp.SessionConfigSelectOption{
				{Value: detailBrief, Name: "Brief"}, {Value: detailFull, Name: "Full"},
			}},
		}},
	}
}

func (w *worker) SetSessionMode(ctx context.Context, req *acp.SetSessionModeRequest) (*acp.SetSessionModeResponse, error) {
	s, err := w.session(req.SessionID)
	if err != nil {
		return nil, err
	}
	if err := w.setMode(s, req.ModeID); err != nil {
		return nil, err
	}
	// A client that shows config options has to see the change there too.
	return nil, w.conn.Session(s.ID).ConfigOptions(ctx, s.configOptions()...)
}

func (w *worker) SetSessionConfigOption(ctx context.Context, req *acp.SetSessionConfigOptionRequest) (*acp.SetSessionConfigOptionResponse, error) {
	s, err := w.session(req.SessionID)
	if err != nil {
		return nil, err
	}
	value, ok := req.Value.(*acp.SessionConfigValue)
	if !ok {
		return nil, rpcerr.InvalidParams(map[string]any{"configId": req.ConfigID}).WithDetail("this option takes one of the values it lists")
	}
	switch {
	case req.ConfigID == optionMode:
		err = w.setMode(s, acp.SessionModeID(value.Value))
		if err == nil {
			err = w.conn.Session(s.ID).Mode(ctx, acp.SessionModeID(value.Value))
		}
	case req.ConfigID == optionDetail && (value.Value == detailBrief || value.Value == detailFull):
		s.mu.Lock()
		s.Detail = value.Value
		s.mu.Unlock()
		err = w.store.save(s.snapshot())
	default:
		err = rpcerr.InvalidParams(map[string]any{"configId": req.ConfigID, "value": value.Value}).WithDetail("no such option or value")
	}
	if err != nil {
		return nil, err
	}
	return &acp.SetSessionConfigOptionResponse{ConfigOptions: s.configOptions()}, nil
}

func (w *worker) setMode(s *session, id acp.SessionModeID) error {
	if id != modeAsk && id != modeAuto {
		return rpcerr.InvalidParams(map[string]any{"modeId": id}).WithDetail("no such mode")
	}
	s.mu.Lock()
	s.Mode = id
	s.mu.Unlock()
	return w.store.save(s.snapshot())
}
