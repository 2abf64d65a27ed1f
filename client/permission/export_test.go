package permission

// Kept returns how many sessions there are, and how many bytes of their tool calls.
func (s *Scope) Kept() (sessions, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.sessions {
		bytes += x.calls.bytes
	}
	return len(s.sessions), bytes
}
