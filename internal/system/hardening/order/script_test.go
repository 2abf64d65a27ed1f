package order_test

import (
	"encoding/json"
	"math/rand/v2"

	"github.com/acpkit/go-sdk/acp"
)

// An act is one step of a script. A message that one end sends contains the acts of the
// peer's handler for it, to any depth.
type act struct {
	Kind    string `json:"kind"`
	UID     int    `json:"uid,omitempty"`
	Session int    `json:"session,omitempty"`
	Millis  int    `json:"millis,omitempty"`  // of a sleep
	Timeout int    `json:"timeout,omitempty"` // of a call, in milliseconds; 0: none
	Do      []act  `json:"do,omitempty"`      // what the handler does
}

// What each side can do: in the handlers of any message, and beyond that where a
// conversation starts.
var (
	agentActs  = []string{"update", "update", "update", "note", "call", "call", "permission", "read", "sleep"}
	clientActs = []string{"note", "call", "call", "mode", "prompt", "sleep"}
	clientTop  = []string{"prompt", "prompt", "turn", "turn", "load", "restore", "cancel", "call", "note", "mode", "sleep"}
)

// writer makes scripts.
type writer struct {
	*rand.Rand
	uid      int
	sessions int
	ownTurns bool // each turn has a session of its own
	calm     bool // no call has a timeout, and nothing is cancelled
}

// acts returns up to most acts of one end. Each act contains the acts of the handler that
// the peer runs for it.
func (w *writer) acts(kinds []string, agent bool, session, depth, most int) []act {
	var all []act
	for range w.IntN(most + 1) {
		w.uid++
		a := act{Kind: kinds[w.IntN(len(kinds))], UID: w.uid, Session: session}
		if !agent && w.IntN(3) == 0 {
			a.Session = w.IntN(w.sessions)
		}
		other, most := clientActs, 2
		if !agent {
			other = agentActs
		}
		if a.Kind == "prompt" || a.Kind == "turn" || a.Kind == "load" || a.Kind == "restore" {
			most = 6
		}
		switch {
		case a.Kind == "sleep":
			a.Millis = w.IntN(10)
		case a.Kind == "cancel" && w.calm:
			continue
		case a.Kind == "restore", a.Kind == "turn" && w.ownTurns:
			a.Session = 1000 + a.UID
			fallthrough
		case a.Kind != "cancel" && depth > 0:
			a.Do = w.acts(other, !agent, a.Session, depth-1, most)
		}
		switch a.Kind {
		case "sleep", "cancel", "note", "update":
		default:
			if !w.calm && w.IntN(8) == 0 {
				a.Timeout = 1 + w.IntN(20)
			}
		}
		all = append(all, a)
	}
	return all
}

// meta carries an act where a message has no place of its own for it.
func meta(a act) acp.Meta { return acp.Meta{"act": a} }

// carried takes an act out of a message.
func carried(m acp.Meta) act {
	raw, err := json.Marshal(m["act"])
	if err != nil {
		return act{}
	}
	var a act
	_ = json.Unmarshal(raw, &a)
	return a
}
