package agent

import (
	"context"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/talk/serving"
)

const switchBit = "session.configOptions.boolean"

// leaveOutSwitches changes the rows of the methods whose responses list config options, so that a client that did
// not advertise boolean ones gets none. The agent cannot be expected to know each client before it opens a session.
func (c *Conn) leaveOutSwitches(t *endpoint.Table) {
	for _, e := range t.Entries {
		handle := e.Handle
		e.Handle = func(ctx context.Context, params any) (any, error) {
			res, err := handle(ctx, params)
			if err != nil || c.showsSwitches() {
				return res, err
			}
			switch r := res.(type) {
			case *acp.NewSessionResponse:
				return withoutSwitches(r, func(r *acp.NewSessionResponse) *[]acp.SessionConfigOption { return &r.ConfigOptions }), nil
			case *acp.LoadSessionResponse:
				return withoutSwitches(r, func(r *acp.LoadSessionResponse) *[]acp.SessionConfigOption { return &r.ConfigOptions }), nil
			case *acp.ResumeSessionResponse:
				return withoutSwitches(r, func(r *acp.ResumeSessionResponse) *[]acp.SessionConfigOption { return &r.ConfigOptions }), nil
			case *acp.ForkSessionResponse:
				return withoutSwitches(r, func(r *acp.ForkSessionResponse) *[]acp.SessionConfigOption { return &r.ConfigOptions }), nil
			case *acp.SessionOptionsResponse:
				return withoutSwitches(r, func(r *acp.SessionOptionsResponse) *[]acp.SessionConfigOption { return &r.ConfigOptions }), nil
			case *acp.SetSessionConfigOptionResponse:
				return withoutSwitches(r, func(r *acp.SetSessionConfigOptionResponse) *[]acp.SessionConfigOption { return &r.ConfigOptions }), nil
			}
			return res, nil
		}
	}
}

// showsSwitches reports whether boolean config options may be sent. Before initialize nothing is known.
func (c *Conn) showsSwitches() bool {
	p := c.peer.Load()
	return p == nil || p.caps.Has(switchBit) || c.opts.IgnoreCapabilities
}

func withoutSwitches[R any](res *R, list func(*R) *[]acp.SessionConfigOption) *R {
	return serving.Without(res, list, isSwitch)
}

func isSwitch(o acp.SessionConfigOption) bool {
	_, ok := o.Kind.(*acp.SessionConfigBoolean)
	return ok
}

func listsSwitches(u *acp.ConfigOptionUpdate) bool {
	return slices.ContainsFunc(endpoint.ValueOf(u).ConfigOptions, isSwitch)
}
