package classify_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// Windows returns these error numbers.
func TestWindowsErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, missing := os.Open(filepath.Join(dir, "none"))
	_, missingFolder := os.Open(filepath.Join(dir, "none", "none"))
	_, folder := os.ReadFile(dir)
	_, name := os.Open(filepath.Join(dir, "a?b"))
	_, zero := os.Open("a\x00b")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	_, inUse := net.Listen("tcp", address)
	require.NoError(t, listener.Close())
	_, refused := net.Dial("tcp", address)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, r.Close())
	_, closed := w.Write([]byte("x"))
	require.NoError(t, w.Close())
	for what, c := range map[string]struct {
		err  error
		want kind.Kind
	}{
		"missing file":   {missing, kind.NotFound},
		"missing folder": {missingFolder, kind.NotFound},
		"folder":         {folder, kind.Validation},
		"bad name":       {name, kind.Validation},
		"zero byte":      {zero, kind.Validation},
		"exists":         {os.Mkdir(dir, 0o700), kind.Conflict},
		"not empty":      {os.Remove(dir), kind.Conflict},
		"port in use":    {inUse, kind.Conflict},
		"refused":        {refused, kind.ServiceUnavailable},
		"closed pipe":    {closed, kind.ServiceUnavailable},
	} {
		assert.Equal(t, c.want, kind.Of(classify.Error(c.err)), "%s: %v", what, c.err)
	}
}
