package rpc

import (
	"strconv"

	"github.com/acpkit/go-sdk/internal/envelope"
)

func idKey(id string) string { return envelope.IDKey(id) }

// callID reads the id of a response. Ours are integers from 1 on; a peer may
// write them as 7.0 or 7e0.
func callID(id []byte) (uint64, bool) {
	if len(id) == 0 || id[0] == '"' || id[0] == 'n' {
		return 0, false
	}
	if len(id) < 19 { // what all peers write, without making a string of it
		n, digits := uint64(0), true
		for _, c := range id {
			n = n*10 + uint64(c-'0')
			digits = digits && c-'0' <= 9
		}
		if digits {
			return n, n > 0
		}
	}
	n, err := strconv.ParseUint(idKey(string(id)), 10, 64)
	if err != nil {
		return 0, false
	}
	return n, n > 0
}

// groupKey names the group that a message belongs to.
func groupKey(params []byte) string { return idKey(string(envelope.Member(params, "sessionId"))) }
