package kit

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/tools"
)

type todoInput struct {
	Entries []todo `json:"entries" description:"the whole plan; it takes the place of the one before" validate:"max=100,dive"`
}

type todo struct {
	Text   string `json:"text" description:"one step, in a few words" validate:"required,max=500"`
	Status string `json:"status" validate:"required,oneof=pending in_progress completed"`
}

// TodoTool returns a tool with which the model shows its plan.
func (s *Session) TodoTool() tools.Tool {
	t := tools.Typed("update_plan", "Shows the person the steps of the work and how far it has come. Use it for work of several steps.",
		func(ctx context.Context, _ *tools.Call, in todoInput) (tools.Result, error) {
			entries := make([]acp.PlanEntry, len(in.Entries))
			for i, e := range in.Entries {
				entries[i] = acp.PlanEntry{Content: e.Text, Priority: acp.PlanEntryPriorityMedium, Status: acp.PlanEntryStatus(e.Status)}
			}
			return tools.Text("The person sees the plan."), s.Plan(ctx, entries...)
		})
	t.Title, t.Kind, t.Effect = "Update the plan", acp.ToolKindThink, tools.Reads
	return t
}
