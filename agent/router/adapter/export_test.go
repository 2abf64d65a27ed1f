package adapter

import acp2 "github.com/acpkit/go-sdk/acp/v2"

// Sessions returns how many sessions an agent of this package remembers.
func Sessions(a acp2.Agent) int {
	own := a.(*adapter)
	own.mu.Lock()
	defer own.mu.Unlock()
	return len(own.sessions)
}
