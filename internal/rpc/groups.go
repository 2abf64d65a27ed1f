package rpc

import (
	"slices"

	"github.com/acpkit/go-sdk/internal/wire"
)

// endGroupLocked ends the ctx of all members of a group and returns them.
func (in *inbound) endGroupLocked(group string) []*request {
	members := slices.Clone(in.groups[group])
	for _, r := range members {
		r.groupEnded = true
		r.end(wire.ErrTurnCancelled)
	}
	return members
}

// groupKey names the group that a message belongs to.
func groupKey(params []byte) string { return idKey(string(wire.Member(params, "sessionId"))) }
