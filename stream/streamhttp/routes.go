package streamhttp

import (
	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/stream"
)

// maxElicitations is the number of elicitations that are remembered. The completion of another one
// is sent on the stream of the connection.
const maxElicitations = 1024

// routes determines the stream on which a message of the agent is sent.
type routes struct {
	pending      map[string]route  // the client's requests, by id
	asked        asked             // the agent's requests
	elicitations map[string]string // the sessions of elicitations, by their own id
}

type route struct {
	session string
	load    bool // the response follows a replay
	effect  effect
}

// effect is the effect of a successful request on the event stream of its session.
type effect uint8

const (
	noEffect effect = iota
	opens           // the session begins or continues
	closes          // it ends
)

func effectOf(method string) effect {
	switch method {
	case "session/load", "session/resume":
		return opens
	case "session/close", "session/delete":
		return closes
	}
	return noEffect
}

// maxAsked is the number of the agent's requests that are always remembered. Up to as many older
// ones are remembered too. If the client never responds, the oldest requests are forgotten.
const maxAsked = 4096

// asked holds the sessions of the agent's requests, by id.
type asked struct{ recent, older map[string]string }

func newAsked() asked { return asked{recent: map[string]string{}} }

func (a *asked) add(id, session string) {
	if len(a.recent) >= maxAsked {
		a.older, a.recent = a.recent, map[string]string{}
	}
	a.recent[id] = session
}

func (a *asked) session(id string) (session string, known bool) {
	if session, known = a.recent[id]; !known {
		session, known = a.older[id]
	}
	return session, known
}

func (a *asked) remove(id string) {
	delete(a.recent, id)
	delete(a.older, id)
}

func (a *asked) empty() bool { return len(a.recent)+len(a.older) == 0 }

func newRoutes() routes {
	return routes{pending: map[string]route{}, asked: newAsked(), elicitations: map[string]string{}}
}

// out returns the session on whose stream m is sent, or "" for the stream of the connection. For a
// response it also returns the route of the request. attached reports whether a session's stream
// has a receiver.
func (r *routes) out(m *stream.Message, attached func(session string) bool) (session string, to route) {
	id := string(m.ID)
	switch {
	case m.IsResponse():
		to = r.pending[id]
		delete(r.pending, id)
		if to.load && !attached(to.session) {
			return "", to
		}
		return to.session, to
	case m.Kind == stream.KindRequest:
		r.asked.add(id, m.SessionID)
		if m.Method == "elicitation/create" && len(r.elicitations) < maxElicitations {
			if elicitation := elicitationID(m.Data); elicitation != "" {
				r.elicitations[elicitation] = m.SessionID
			}
		}
	case m.CancelID != nil:
		session, _ = r.asked.session(string(m.CancelID))
		return session, to
	case m.Method == "elicitation/complete":
		elicitation := elicitationID(m.Data)
		session = r.elicitations[elicitation]
		delete(r.elicitations, elicitation)
		return session, to
	}
	return m.SessionID, to
}

// busy reports whether a request of a session waits for its response.
func (r *routes) busy(session string) bool {
	for _, to := range r.pending {
		if to.session == session {
			return true
		}
	}
	return false
}

// elicitationID returns the member elicitationId of a message's params.
func elicitationID(data []byte) string {
	e := envelope.Parse(data)
	id, _ := envelope.Text(envelope.Member(e.Params, "elicitationId"))
	return id
}
