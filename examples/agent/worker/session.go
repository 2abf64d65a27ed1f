package worker

import (
	"crypto/rand"
	"slices"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/acp"
)

// A session is one conversation that is open on this connection.
type session struct {
	mu      sync.Mutex // guards what follows, but for the ID and the CWD, which stay
	running bool
	record
}

// record is what outlives the process.
type record struct {
	ID        acp.SessionID             `json:"id"`
	CWD       string                    `json:"cwd"`
	Title     string                    `json:"title,omitempty"`
	UpdatedAt time.Time                 `json:"updatedAt"`
	Mode      acp.SessionModeID         `json:"mode"`
	Detail    acp.SessionConfigValueID  `json:"detail"`
	History   []acp.SessionNotification `json:"history,omitempty"`
}

func newMessageID() acp.MessageID { return acp.MessageID("msg_" + rand.Text()) }

// begin marks the session as busy; it reports false when it is already.
func (s *session) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running {
		return false
	}
	s.running = true
	return true
}

func (s *session) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = false
}

// remember adds an update to what a later session/load shows.
func (s *session) remember(u acp.SessionUpdate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.History = append(s.History, acp.SessionNotification{SessionID: s.ID, Update: u})
}

func (s *session) history() []acp.SessionNotification {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.History)
}

func (s *session) snapshot() *record {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.record
	r.History = slices.Clone(r.History)
	return &r
}

// nameAfter gives a session without a title one, and reports whether it did.
func (s *session) nameAfter(prompt string) (title string, named bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Title != "" {
		return s.Title, false
	}
	s.Title = firstLine(prompt, 60)
	return s.Title, s.Title != ""
}

func firstLine(text string, limit int) string {
	for i, r := range text {
		if r == '\n' || i >= limit {
			return text[:i]
		}
	}
	return text
}
