package clients

import (
	"time"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

// A client may take endsWithin to end. The first of the interrupts may only cancel its turn.
const (
	endsWithin = 15 * time.Second
	interrupts = 3
)

var ending = []check.Check{
	{ID: "AKC-EXIT-001", Title: "A client whose agent ends before it has answered initialize ends, or goes on for its user.", Tier: check.Should, Fact: "transports", In: check.Both,
		Run: func(t *check.T) { dies(t, "initialize") }},
	{ID: "AKC-EXIT-002", Title: "A client whose agent ends before it has answered session/new ends, or goes on for its user.", Tier: check.Should, Fact: "transports", In: check.Both,
		Run: func(t *check.T) { dies(t, "session/new") }},
	{ID: "AKC-EXIT-003", Title: "A client whose agent ends in a turn ends, or goes on for its user.", Tier: check.Should, Fact: "transports", In: check.Both, Prompts: []string{"text"},
		Run: func(t *check.T) { dies(t, "session/prompt") }},
	{ID: "AKC-EXIT-004", Title: "A client can be ended while its agent does not answer initialize.", Tier: check.Should, Fact: "transports", In: check.Both,
		Run: func(t *check.T) { interrupted(t, "initialize") }},
	{ID: "AKC-EXIT-005", Title: "A client can be ended while its agent does not answer a prompt, nor its cancellation.", Tier: check.Should, Fact: "transports", In: check.Both, Prompts: []string{"text"},
		Run: func(t *check.T) { interrupted(t, "session/prompt") }},
}

// until starts the client, and leaves the first request of a method unanswered.
func until(t *check.T, method string) *check.Peer {
	answers := handlers(t.Version)
	answers[method] = func(check.Message) any { return check.NoAnswer }
	var p *check.Peer
	t.Works(func() {
		p = accept(t, answers)
		p.Await(0, method, is(method))
	})
	return p
}

// dies checks that the client ends when its agent has ended. A client that goes on when its turn is
// over waits for its user, and the check is skipped.
func dies(t *check.T, method string) {
	if t.Target.Kind != check.Memory {
		t.SkipIf(!t.Prompts, "The client waits for its user.")
		s := open(t)
		s.endTurn()
		t.SkipIf(!s.Ends(t.Wait/2), "The client goes on when its turn has ended.")
	}
	p := until(t, method)
	p.CloseInput()
	t.FailIf(!p.Ends(endsWithin), "The agent has ended, and the client has not within %v.", endsWithin)
}

// interrupted asks the client to end while a request has no response.
func interrupted(t *check.T, method string) {
	p := until(t, method)
	for range interrupts {
		t.SkipIf(!p.Interrupt(), "Nothing asks this client to end.")
		if p.Ends(endsWithin / interrupts) {
			return
		}
	}
	t.Fail("The client has not ended within %v, though it was interrupted %d times.", endsWithin, interrupts)
}
