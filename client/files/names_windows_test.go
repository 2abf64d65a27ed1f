package files_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/client/files"
	"github.com/acpkit/go-sdk/rpcerr"
)

func TestWindowsPaths(t *testing.T) {
	var seen []string
	h := newFixture(t, files.Options{}, recordPaths(&seen))
	h.put(h.at("Secret.txt"), "x")
	volume := filepath.VolumeName(h.work)
	for _, path := range []string{
		volume + "a.txt", `\a.txt`, `\\server\share\a.txt`, `\\?\` + h.secret, `\\.\NUL`, "NUL",
		h.at("CON"), h.at("nul.txt"), h.at("Secret.txt:stream"), h.at("Secret.txt::$DATA"), h.at("Secret.txt."), h.at("SECRET~1.TXT"),
		h.at(`..\secret.txt`), h.at("../secret.txt"), strings.ToUpper(h.secret),
	} {
		_, err := h.read(path)
		assert.ErrorIs(t, err, rpcerr.ErrInvalidParams, path)
		assert.ErrorIs(t, h.write(path, "x"), rpcerr.ErrInvalidParams, path)
	}
	assert.Empty(t, seen)
	_, err := h.read(strings.ToUpper(h.at("Secret.txt")))
	require.NoError(t, err)
	_, err = h.read(strings.ReplaceAll(h.at("Secret.txt"), `\`, "/"))
	require.NoError(t, err)
	assert.Equal(t, []string{h.at("Secret.txt"), h.at("Secret.txt")}, seen, "a rule for paths sees one spelling")
	names, err := os.ReadDir(h.work)
	require.NoError(t, err)
	assert.Len(t, names, 1)
}
