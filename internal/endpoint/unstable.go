package endpoint

import (
	"fmt"

	"github.com/acpkit/go-sdk/rpcerr"
)

// notEnabled says that an unstable method was called without the option.
type notEnabled struct{ end, method string }

// NotEnabled returns the error for an unstable method that the options of the end
// (a package name) do not allow to call.
func NotEnabled(end, method string) error { return &notEnabled{end, method} }

func (e *notEnabled) Error() string {
	return fmt.Sprintf("%s: %s is an unstable method: set Options.Unstable to call it", e.end, e.method)
}

// RequestError is how the error leaves a proxy: for its peer there is no such
// method.
func (e *notEnabled) RequestError() *rpcerr.RequestError {
	return rpcerr.MethodNotFound(e.method).WithCause(e)
}
