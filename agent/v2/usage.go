package agent

import "github.com/acpkit/go-sdk/acp/v2"

// SetTurnUsage sets the number of tokens that the work on the current prompt has consumed.
// When the work ends, [Session.Accept] reports it with the state idle. A later call replaces
// it, and nil means unknown. The argument u is copied. If no work on a prompt is in progress,
// SetTurnUsage does nothing. [Session.Usage] reports the size of the context window instead.
//
// Protocol: session/update with a state_update.
//
// Unstable: the protocol may change or drop this number.
func (s *Session) SetTurnUsage(u *acp.Usage) {
	var own *acp.Usage
	if u != nil {
		copied := *u
		own = &copied
	}
	_ = s.conn.states.with(s.id, func(st *state) error { // never fails
		if st.working {
			st.usage = own
		}
		return nil
	})
}
