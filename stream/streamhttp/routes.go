package streamhttp

import (
	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/stream"
)

// maxElicitations is how many elicitations are remembered. The completion of one beyond
// it leaves on the stream of the connection.
const maxElicitations = 1024

// routes knows on which stream a message of the agent leaves.
type routes struct {
	pending      map[string]route  // the client's requests, by id
	asked        map[string]string // the sessions of the agent's requests, by id
	elicitations map[string]string // the sessions of elicitations, by their own id
}

type route struct {
	session string
	load    bool // the response follows a replay
	effect  effect
}

// effect is what the success of a request does to the event stream of its session.
type effect uint8

const (
	noEffect effect = iota
	opens           // the session begins or goes on
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

func newRoutes() routes {
	return routes{pending: map[string]route{}, asked: map[string]string{}, elicitations: map[string]string{}}
}

// out returns the session on whose stream m leaves, or "" for that of the connection, and of a
// response the route of its request. attached reports whether a session's stream has a receiver.
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
		r.asked[id] = m.SessionID
		if m.Method == "elicitation/create" && len(r.elicitations) < maxElicitations {
			if elicitation := elicitationID(m.Data); elicitation != "" {
				r.elicitations[elicitation] = m.SessionID
			}
		}
	case m.CancelID != nil:
		return r.asked[string(m.CancelID)], to
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
