package supervise

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
)

// option is a config option that the user has set.
type option struct {
	id    acp.SessionConfigID
	value acp.SessionConfigValueID
	on    *bool // value of a boolean option
}

// SetMode changes the mode of the session. The mode is set again when the session is
// reopened.
func (x *Session) SetMode(ctx context.Context, id acp.SessionModeID) error {
	current, err := x.Current(ctx)
	if err != nil {
		return err
	}
	if err := current.SetMode(ctx, id); err != nil {
		return err
	}
	x.supervisor.mu.Lock()
	defer x.supervisor.mu.Unlock()
	x.mode = id
	return nil
}

// SetConfigOption changes an option of the session. The option is set again when the
// session is reopened.
func (x *Session) SetConfigOption(ctx context.Context, id acp.SessionConfigID, value acp.SessionConfigValueID) error {
	return x.setOption(ctx, option{id: id, value: value})
}

// SetConfigOptionBool changes a boolean option of the session. The option is set again
// when the session is reopened.
func (x *Session) SetConfigOptionBool(ctx context.Context, id acp.SessionConfigID, on bool) error {
	return x.setOption(ctx, option{id: id, on: &on})
}

func (x *Session) setOption(ctx context.Context, o option) error {
	current, err := x.Current(ctx)
	if err != nil {
		return err
	}
	if err := o.set(ctx, current); err != nil {
		return err
	}
	x.supervisor.mu.Lock()
	defer x.supervisor.mu.Unlock()
	x.options = append(slices.DeleteFunc(x.options, func(p option) bool { return p.id == o.id }), o)
	return nil
}

func (o option) set(ctx context.Context, s *client.Session) error {
	if o.on != nil {
		return s.SetConfigOptionBool(ctx, o.id, *o.on)
	}
	return s.SetConfigOption(ctx, o.id, o.value)
}

func (o option) holds(s *client.Session) bool {
	for _, c := range s.ConfigOptions() {
		if c.ID != o.id {
			continue
		}
		switch k := c.Kind.(type) {
		case *acp.SessionConfigSelect:
			return o.on == nil && k.CurrentValue == o.value
		case *acp.SessionConfigBoolean:
			return o.on != nil && k.CurrentValue == *o.on
		}
	}
	return false
}

// setAgain sets what the session has lost, in the order in which the user set it.
func (x *Session) setAgain(ctx context.Context, s *client.Session) error {
	x.supervisor.mu.Lock()
	mode, options := x.mode, slices.Clone(x.options)
	x.supervisor.mu.Unlock()
	var errs []error
	if mode != "" {
		if m := s.Modes(); m == nil || m.CurrentModeID != mode {
			if err := s.SetMode(ctx, mode); err != nil {
				errs = append(errs, fmt.Errorf("setting the mode %q again: %w", mode, err))
			}
		}
	}
	for _, o := range options {
		if !o.holds(s) {
			if err := o.set(ctx, s); err != nil {
				errs = append(errs, fmt.Errorf("setting the option %q again: %w", o.id, err))
			}
		}
	}
	return errors.Join(errs...)
}
