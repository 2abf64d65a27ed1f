package rpc

import (
	"cmp"

	"github.com/acpkit/go-sdk/internal/rpc/outbox"
	"github.com/acpkit/go-sdk/rpcerr"
)

// maxOwnResponses is how many bytes of the connection's own responses may wait to be
// written while neither end reads.
const maxOwnResponses = 64 << 20

// frameRefused deals with a message that the stream cannot carry. A call fails with the
// error, a request gets the response -32603; the connection goes on. The writer calls it.
func (c *Conn) frameRefused(f *outbox.Frame, err error) {
	switch {
	case f.Call != 0:
		c.calls.failOne(f.Call, err)
		return
	case f.Request != "" && !f.IsOwn():
		id := rpcerr.NewErrorID()
		c.log.Error("acp: stream refused a response", "method", shown(f.About), "error", err, memberErrorID, id)
		c.respondOwn([]byte(f.Request), InternalError(id))
		return
	}
	c.log.Error("acp: stream refused a message", "method", shown(cmp.Or(f.About, "response")), "error", err)
}

// peerMistake is the error of a request that the peer got wrong: no failure of this end, so
// OnError need not log it.
type peerMistake struct{ response *rpcerr.RequestError }

func (e *peerMistake) Error() string                      { return e.response.Error() }
func (e *peerMistake) Is(target error) bool               { return e.response.Is(target) }
func (e *peerMistake) RequestError() *rpcerr.RequestError { return e.response }
func (*peerMistake) Logged() bool                         { return true }

func (e *peerMistake) As(target any) bool {
	r, ok := target.(**rpcerr.RequestError)
	if ok {
		*r = e.response
	}
	return ok
}
