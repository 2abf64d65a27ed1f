package agent

import (
	"sync"

	"github.com/acpkit/go-sdk/internal/endpoint"
)

// A Joiner joins the deltas of a model as [Session.MessageFrom] does, for an agent that does more with
// them than to send them: the first is passed on at once, the following ones within 25 ms or as soon as
// there are 2 KiB, and a rune when it is complete. The caller holds the lock of NewJoiner during each call.
type Joiner struct{ join *endpoint.Joiner }

// NewJoiner returns a Joiner that passes on texts to send, which it calls with mu locked.
func NewJoiner(mu sync.Locker, send func(text string) error) *Joiner {
	return &Joiner{endpoint.NewJoiner(mu, send)}
}

// Add adds a delta. It returns the first error of send, after which nothing more is passed on.
func (j *Joiner) Add(delta string) error { return j.join.Add(delta) }

// Flush passes on all that waits. The next delta is passed on at once again. Call it at the end of a message.
func (j *Joiner) Flush() error { return j.join.Flush() }
