package agent

import (
	"context"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/internal/talk/serving"
)

// leaveOutSkills changes the rows of the methods whose responses list commands, so that a client gets skills only
// if it advertised them, and the agent that a prompt may call them. The agent cannot be expected to know each
// client before it opens a session.
func (c *Conn) leaveOutSkills(t *endpoint.Table) {
	for _, e := range t.Entries {
		handle := e.Handle
		e.Handle = func(ctx context.Context, params any) (any, error) {
			res, err := handle(ctx, params)
			if p := c.peer.Load(); err != nil || p == nil || c.opts.IgnoreCapabilities ||
				p.caps.Has("session.commands.skill") && c.told.Load().Has("session.prompt.skill") {
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

func without[R any](res *R, list func(*R) *[]acp.AvailableCommand) *R {
	return serving.Without(res, list, isSkill)
}

func isSkill(c acp.AvailableCommand) bool {
	_, ok := c.(*acp.Skill)
	return ok
}
