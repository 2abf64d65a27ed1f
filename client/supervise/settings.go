package supervise

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
)

// setting is a mode or an option that the user has set.
type setting struct {
	name  string
	set   func(context.Context, *client.Session) error
	holds func(*client.Session) bool // the session already has the value
}

// SetMode changes the mode of the session. The mode is set again when the session is
// reopened.
func (x *Session) SetMode(ctx context.Context, id acp.SessionModeID) error {
	return x.change(ctx, setting{
		name: "mode",
		set:  func(ctx context.Context, s *client.Session) error { return s.SetMode(ctx, id) },
		holds: func(s *client.Session) bool {
			modes := s.Modes()
			return modes != nil && modes.CurrentModeID == id
		},
	})
}

// SetConfigOption changes an option of the session. The option is set again when the
// session is reopened.
func (x *Session) SetConfigOption(ctx context.Context, id acp.SessionConfigID, value acp.SessionConfigValueID) error {
	return x.change(ctx, setting{
		name: fmt.Sprintf("option %q", id),
		set:  func(ctx context.Context, s *client.Session) error { return s.SetConfigOption(ctx, id, value) },
		holds: func(s *client.Session) bool {
			k, ok := kindOf(s, id).(*acp.SessionConfigSelect)
			return ok && k.CurrentValue == value
		},
	})
}

// SetConfigOptionBool changes a boolean option of the session. The option is set again
// when the session is reopened.
func (x *Session) SetConfigOptionBool(ctx context.Context, id acp.SessionConfigID, on bool) error {
	return x.change(ctx, setting{
		name: fmt.Sprintf("option %q", id),
		set:  func(ctx context.Context, s *client.Session) error { return s.SetConfigOptionBool(ctx, id, on) },
		holds: func(s *client.Session) bool {
			k, ok := kindOf(s, id).(*acp.SessionConfigBoolean)
			return ok && k.CurrentValue == on
		},
	})
}

func kindOf(s *client.Session, id acp.SessionConfigID) any {
	for _, o := range s.ConfigOptions() {
		if o.ID == id {
			return o.Kind
		}
	}
	return nil
}

func (x *Session) change(ctx context.Context, n setting) error {
	current, err := x.Current(ctx)
	if err != nil {
		return err
	}
	if err := n.set(ctx, current); err != nil {
		return err
	}
	x.supervisor.mu.Lock()
	defer x.supervisor.mu.Unlock()
	x.settings = append(slices.DeleteFunc(x.settings, func(old setting) bool { return old.name == n.name }), n)
	return nil
}

// setAgain sets what the session has lost, in the order in which the user set it.
func (x *Session) setAgain(ctx context.Context, s *client.Session) error {
	x.supervisor.mu.Lock()
	settings := slices.Clone(x.settings)
	x.supervisor.mu.Unlock()
	var errs []error
	for _, n := range settings {
		if n.holds(s) {
			continue
		}
		if err := n.set(ctx, s); err != nil {
			errs = append(errs, fmt.Errorf("setting the %s again: %w", n.name, err))
		}
	}
	return errors.Join(errs...)
}
