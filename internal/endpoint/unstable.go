package endpoint

import (
	"fmt"

	"github.com/acpkit/go-sdk/rpcerr"
)

// notEnabled is the error of a call of an unstable method without Options.Unstable.
type notEnabled struct{ end, method string }

// NotEnabled returns the error of a call of an unstable method that the options do not
// allow. end is the name of the package of the end.
func NotEnabled(end, method string) error { return &notEnabled{end, method} }

func (e *notEnabled) Error() string {
	return fmt.Sprintf("%s: %s is an unstable method: set Options.Unstable to call it", e.end, e.method)
}

// RequestError returns the error that the peer of a proxy gets: the method does not exist
// for it.
func (e *notEnabled) RequestError() *rpcerr.RequestError {
	return rpcerr.MethodNotFound(e.method).WithCause(e)
}
