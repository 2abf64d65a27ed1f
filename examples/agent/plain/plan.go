package plain

import "github.com/acpkit/go-sdk/acp"

// Follow carries out the requests of a plan one after the other, and shows the plan and how far it has come. A step
// that fails does not keep the others from being tried. show sends the plan. carryOut reports whether a request was
// done; its error ends the turn. The result is the last sentence of the answer.
func Follow(requests []Request, show func([]acp.PlanEntry) error, carryOut func(Request) (done bool, err error)) (end string, err error) {
	plan := make([]acp.PlanEntry, len(requests))
	for i, r := range requests {
		plan[i] = acp.PlanEntry{Content: r.Title(), Priority: acp.PlanEntryPriorityMedium, Status: acp.PlanEntryStatusPending}
	}
	end = "Everything is done.\n"
	for i, r := range requests {
		plan[i].Status = acp.PlanEntryStatusInProgress
		if err := show(plan); err != nil {
			return "", err
		}
		done, err := carryOut(r)
		if err != nil {
			return "", err
		}
		if !done {
			end = "Not everything worked; see above.\n"
		}
		plan[i].Status = acp.PlanEntryStatusCompleted // completed also if the step failed
	}
	return end, show(plan)
}
