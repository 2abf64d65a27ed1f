package localfs

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// These tests call unexported functions: only Windows treats the names specially, and a real writer
// may be slower than the reader.

func TestWindowsNames(t *testing.T) {
	for name, safe := range map[string]bool{
		"a.txt": true, "console": true, "COM10": true, "LPT": true, "a~b": true, "nul_": true, "backup~": true, "long name~1.txt": true, ".git": true,
		"CON": false, "con": false, "Con.txt": false, "NUL": false, "nul .txt": false, "AUX": false, "prn": false, "COM1": false, "lpt9.log": false,
		"COM¹": false, "CONIN$": false, "conout$": false,
		"a.txt:stream": false, "a::$DATA": false, "C:": false, "a.": false, "a ": false, "...": false, "a?": false, "a*": false, `a"`: false,
		"a<": false, "a|b": false, "a\x01": false, `a\b`: false, "a/b": false, "PROGRA~1": false, "secret~2.txt": false,
	} {
		assert.Equal(t, safe, safeName(name, "windows"), "%q", name)
		assert.True(t, safeName(name, "linux"), "%q", name)
	}
}

func TestSpelling(t *testing.T) {
	names := []string{"Makefile", "SECRETS", "Both", "both"}
	for name, want := range map[string]string{"makefile": "Makefile", "Secrets": "SECRETS", "both": "both", "new": "new"} {
		assert.Equal(t, want, spelling(names, name))
	}
}

// endless is a file that grows faster than it is read.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	if e.read += len(p); e.read > 1<<30 {
		return 0, io.EOF // the test has seen enough
	}
	return copy(p, strings.Repeat("x", len(p))), nil
}

func TestReadAllOfAFileThatGrows(t *testing.T) {
	const limit = 1 << 20
	for _, size := range []int64{0, 100, limit - 1, limit} { // size when the file was opened
		e := &endless{}
		_, err := readAll(e, size, limit)
		assert.ErrorIs(t, err, ErrTooLarge, size)
		assert.LessOrEqual(t, e.read, 2*limit, "it is not followed for ever")

		text, err := readAll(strings.NewReader(strings.Repeat("y", limit)), size, limit)
		require.NoError(t, err, "it has grown up to the limit")
		assert.Len(t, text, limit)

		text, err = readAll(io.LimitReader(e, 10), size, limit)
		require.NoError(t, err, "it has become shorter")
		assert.Len(t, text, 10)
	}
	_, err := readAll(&endless{}, limit+1, limit)
	assert.ErrorIs(t, err, ErrTooLarge)
}
