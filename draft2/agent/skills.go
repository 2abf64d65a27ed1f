package agent

import (
	"context"
	"slices"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
)

// leaveOutSkills changes the rows of the methods whose responses list commands, so that a client that did
// not advertise skills gets none. The agent cannot be expected to know each client before it opens a session.
func (c *Conn) leaveOutSkills(t *endpoint.Table) {
	for _, e := range t.Entries {
		handle := e.Handle
		e.Handle = func(ctx context.Context, params any) (any, error) {
			res, err := handle(ctx, params)
			if p := c.peer.Load(); err != nil || p == nil || p.caps.Has("session.commands.skill") || c.opts.IgnoreCapabilities {
				return res, err
			}
			switch r := res.(type) {
			case *acp.NewSessionResponse:
				return without(r, func(r *acp.NewSessionResponse) *[]acp.AvailableCommand { return &r.AvailableCommands }), nil
			case *acp.ResumeSessionResponse:
				return without(r, func(r *acp.ResumeSessionResponse) *[]acp.AvailableCommand { return &r.AvailableCommands }), nil
			case *acp.ForkSessionResponse:
				return without(r, func(r *acp.ForkSessionResponse) *[]acp.AvailableCommand { return &r.AvailableCommands }), nil
			case *acp.SessionOptionsResponse:
				return without(r, func(r *acp.SessionOptionsResponse) *[]acp.AvailableCommand { return &r.AvailableCommands }), nil
			}
			return res, nil
		}
	}
}

// without returns a response without the skills in its list, or the response itself if it has none.
func without[R any](res *R, list func(*R) *[]acp.AvailableCommand) *R {
	isSkill := func(c acp.AvailableCommand) bool { _, ok := c.(*acp.Skill); return ok }
	if res == nil || !slices.ContainsFunc(*list(res), isSkill) {
		return res
	}
	out := *res
	*list(&out) = slices.DeleteFunc(slices.Clone(*list(res)), isSkill)
	return &out
}
