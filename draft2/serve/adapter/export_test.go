package adapter

import acp2 "github.com/acpkit/go-sdk/draft2/acp"

// Sessions returns how many sessions an adapter remembers.
func Sessions(a acp2.Agent) int {
	own := a.(*adapter)
	own.mu.Lock()
	defer own.mu.Unlock()
	return len(own.sessions)
}
