package kit

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/rpcerr"
)

// Modes are the modes of a session, such as one that asks before each change.
type Modes []acp.SessionMode

// Settings are config options of a session, beside the mode.
type Settings []Setting

// A Setting is a config option with a list of values.
type Setting struct {
	ID          string
	Name        string
	Description string
	Category    acp.SessionConfigOptionCategory
	Default     string // empty means the first value

	// Values are the values that a client can choose. If Load is set, its result replaces them.
	// Load is called each time a session is opened; if it fails, Values are used.
	Values []acp.SessionConfigSelectOption
	Load   func(ctx context.Context) ([]acp.SessionConfigSelectOption, error)
}

// modeSetting is the id of the config option for the mode.
const modeSetting = "mode"

func (all Modes) check() error {
	for i, m := range all {
		if m.ID == "" || slices.ContainsFunc(all[:i], func(n acp.SessionMode) bool { return n.ID == m.ID }) {
			return fmt.Errorf("kit: the mode %d has the id %q, which is empty or that of another one", i, m.ID)
		}
	}
	return nil
}

func (all Modes) setting() Setting {
	t := Setting{ID: modeSetting, Name: "Mode", Category: acp.SessionConfigOptionCategoryMode}
	for _, m := range all {
		t.Values = append(t.Values, acp.SessionConfigSelectOption{Value: acp.SessionConfigValueID(m.ID), Name: m.Name, Description: m.Description})
	}
	return t
}

func (all Settings) check(modes bool) error {
	for i, t := range all {
		switch {
		case t.ID == "" || slices.ContainsFunc(all[:i], func(other Setting) bool { return other.ID == t.ID }):
			return fmt.Errorf("kit: the setting %d has the id %q, which is empty or that of another one", i, t.ID)
		case modes && t.ID == modeSetting:
			return errors.New(`kit: the id "mode" of a setting is that of the modes`)
		case t.Load == nil && len(t.Values) == 0:
			return fmt.Errorf("kit: the setting %q has no values", t.ID)
		case t.Load == nil && t.Default != "" && !t.offers(t.Default):
			return fmt.Errorf("kit: the default of the setting %q is none of its values", t.ID)
		}
	}
	return nil
}

func (t *Setting) offers(value string) bool {
	return slices.ContainsFunc(t.Values, func(o acp.SessionConfigSelectOption) bool { return string(o.Value) == value })
}

// offer returns the settings of a session that is being opened. The mode is the first one.
func (a *Agent) offer(ctx context.Context) []Setting {
	var all []Setting
	if len(a.opts.Modes) > 0 {
		all = append(all, a.opts.Modes.setting())
	}
	for _, t := range a.opts.Settings {
		if t.Load != nil {
			var values []acp.SessionConfigSelectOption
			err := panics.Guard(func() (err error) { values, err = t.Load(ctx); return err })
			if err == nil {
				t.Values = values
			} else {
				a.log.Warn("the values of a setting cannot be loaded", "setting", t.ID, "error", err)
			}
		}
		if len(t.Values) > 0 {
			if t.Default == "" || !t.offers(t.Default) {
				t.Default = string(t.Values[0].Value)
			}
			all = append(all, t)
		}
	}
	if len(a.opts.Modes) > 0 {
		all[0].Default = string(a.opts.Modes[0].ID)
	}
	return all
}

// apply sets values that are stored for the session. The default replaces a stored value that is no
// longer offered, and one that is neither stored nor set. The caller holds s.mu if the session is open.
func (s *Session) apply(stored map[string]string) {
	for _, t := range s.settings {
		value, ok := stored[t.ID]
		if ok && !t.offers(value) {
			s.held = append(s.held, fmt.Sprintf("%s: %q is not offered any more. It is %q now.", t.Name, value, t.Default))
			value = t.Default
		}
		if ok {
			s.values[t.ID] = value
		} else if _, set := s.values[t.ID]; !set {
			s.values[t.ID] = t.Default
		}
	}
}

// Mode returns the mode of the session, or "" if Options has no Modes.
func (s *Session) Mode() acp.SessionModeID { return acp.SessionModeID(s.Setting(modeSetting)) }

// Setting returns the value of a setting, or "" if the session has no setting with this id. The
// person may change it while a turn runs.
func (s *Session) Setting(id string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values[id]
}

// SetMode changes the mode and tells the client. It fails if the mode is not offered.
func (s *Session) SetMode(ctx context.Context, id acp.SessionModeID) error {
	return s.set(ctx, modeSetting, string(id), byAgent)
}

// SetSetting changes a setting and tells the client. It fails if the value is not offered.
func (s *Session) SetSetting(ctx context.Context, id, value string) error {
	return s.set(ctx, id, value, byAgent)
}

// A writer tells who changes a setting. If the response to the writer contains the new value, no
// update is sent for it.
type writer int

const (
	byAgent writer = iota
	byMode
	byOption
)

// set changes a setting. It stores the value, applies it, and then tells the client.
func (s *Session) set(ctx context.Context, id, value string, by writer) error {
	i := slices.IndexFunc(s.settings, func(t Setting) bool { return t.ID == id })
	switch {
	case i >= 0 && s.settings[i].offers(value):
	case by == byAgent:
		return fmt.Errorf("kit: this session has no setting %q with the value %q", id, value)
	case by == byMode, i >= 0 && id == modeSetting:
		return rpcerr.InvalidParams(map[string]any{"modeId": value}).WithDetail("this session has no such mode")
	case i < 0:
		return rpcerr.InvalidParams(map[string]any{"configId": id}).WithDetail("this session has no such option")
	default:
		return rpcerr.InvalidParams(map[string]any{"configId": id, "value": value}).WithDetail("this option has no such value")
	}
	s.setting.Lock() // so that changes reach the client in order
	defer s.setting.Unlock()
	// A chosen value is stored even if it is the current default: the default may change, and a
	// stored value that is not offered now may be offered again. The end of ctx must not leave a
	// stored value that was not applied.
	if err := s.store(context.WithoutCancel(ctx), record{journal.KindSetting, settingRecord{id, value}}); err != nil {
		return err
	}
	if err := s.tellMissed(context.WithoutCancel(ctx)); err != nil || s.Setting(id) == value {
		return err
	}
	s.mu.Lock()
	s.values[id] = value
	s.mu.Unlock()
	if id == modeSetting && by != byMode {
		if err := s.client.SetMode(ctx, acp.SessionModeID(value)); err != nil {
			return err
		}
	}
	if by != byOption {
		return s.client.SetConfigOptions(ctx, s.configOptions()...)
	}
	return nil
}

// modes returns the modes for a response, or nil if there are none.
func (s *Session) modes() *acp.SessionModeState {
	if len(s.agent.opts.Modes) == 0 {
		return nil
	}
	return &acp.SessionModeState{CurrentModeID: s.Mode(), AvailableModes: s.agent.opts.Modes}
}

func (s *Session) configOptions() []acp.SessionConfigOption {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]acp.SessionConfigOption, len(s.settings))
	for i, t := range s.settings {
		all[i] = t.option(s.values[t.ID])
	}
	return all
}

func (t *Setting) option(value string) acp.SessionConfigOption {
	return acp.SessionConfigOption{
		ID: acp.SessionConfigID(t.ID), Name: t.Name, Description: t.Description, Category: t.Category,
		Kind: &acp.SessionConfigSelect{CurrentValue: acp.SessionConfigValueID(value), Options: acp.SessionConfigSelectOptions{Ungrouped: t.Values}},
	}
}
