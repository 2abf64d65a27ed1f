package endpoint

import (
	"fmt"

	"github.com/acpkit/go-sdk/stream"
)

// End names an end for the texts of errors: "client", "newClient", "the result of stream.Command",
// "an agent".
type End struct{ Name, New, Stream, Peer string }

// The two ends.
var (
	AgentEnd  = End{"agent", "newAgent", "stream.Stdio()", "a client"}
	ClientEnd = End{"client", "newClient", "the result of stream.Command", "an agent"}
)

// Make calls newRole with c, and returns what it returned and the innermost value that this wraps.
// It returns an error for an invalid argument of New. embeds reports whether a value embeds the Conn.
func Make[C, T any](e End, c C, s stream.Stream, newRole func(C) T, embeds func(T) bool) (v, inner T, err error) {
	if newRole == nil {
		return v, v, fmt.Errorf("%s: New was given no %s: pass a func that returns your %s", e.Name, e.New, e.Name)
	}
	v = newRole(c)
	if IsNil(s) {
		return v, v, fmt.Errorf("%s: New was given a nil stream: pass %s or another stream", e.Name, e.Stream)
	}
	if IsNil(v) {
		return v, v, fmt.Errorf("%s: %s returned nil (%T): return your %s", e.Name, e.New, v, e.Name)
	}
	if inner = Innermost(v); IsNil(inner) {
		return v, v, fmt.Errorf("%s: %T wraps no %s", e.Name, v, e.Name)
	}
	for _, v := range []T{v, inner} {
		if embeds(v) {
			return v, inner, fmt.Errorf("%s: %T embeds the *%s.Conn, whose methods are those of %s: keep it in a field", e.Name, v, e.Name, e.Peer)
		}
	}
	return v, inner, nil
}
