package text

import (
	"os"

	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

func failed(path string) error {
	_, err := os.ReadFile(path)
	if err != nil {
		return tools.Failf("%s: %v", path, err) // want `the person and the model read the text of this error`
	}
	return tools.Failf("%s is empty: %s", path, err.Error()) // want `the peer reads the text of this error`
}

func denied(err error) tools.Decision { return tools.Denyf("it failed: %v", err) } // want `the person and the model read the text`

// own is an error that builds another form of itself.
type own struct{ path string }

func (e *own) Error() string       { return "no " + e.path }
func (e *own) Record() *kind.Error { return kind.NotFound.New(e.Error()) }
