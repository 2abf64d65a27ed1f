package history

import "github.com/acpkit/go-sdk/acp"

// OnlyPlan is the plan of a client that supports one plan: the entries of the latest one. The zero OnlyPlan
// is that of a client without a plan.
type OnlyPlan struct{ id acp.PlanID }

// Of returns what the client gets of an update, or nil if it gets nothing.
func (p *OnlyPlan) Of(u acp.SessionUpdate) acp.SessionUpdate {
	switch v := u.(type) {
	case *acp.PlanUpdate:
		items, ok := v.Plan.(*acp.PlanItems)
		if !ok {
			return nil
		}
		p.id = items.PlanID
		return &acp.Plan{Entries: items.Entries, Meta: v.Meta}
	case *acp.PlanRemoved:
		if p.id != v.PlanID {
			return nil
		}
		p.id = ""
		return &acp.Plan{Entries: []acp.PlanEntry{}}
	}
	return u
}
