package embed

import (
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

type Quota struct {
	*rpcerr.RequestError // want `the embedded field hides the method RequestError`
	Limit                int
}

type Broken struct {
	*kind.Error // want `the embedded field hides the method Error, so that this is no error: give the field a name`
}

type Named struct {
	wire  *rpcerr.RequestError
	Limit int
}

func (n *Named) Error() string                      { return n.wire.Error() }
func (n *Named) RequestError() *rpcerr.RequestError { return n.wire }

var _ error = &Quota{}
var _ = Broken{}
