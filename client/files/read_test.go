package files

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// endless is a file that grows faster than it is read.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	if e.read += len(p); e.read > 1<<30 {
		return 0, io.EOF // the test has seen enough
	}
	return copy(p, strings.Repeat("x", len(p))), nil
}

// This test calls an unexported function, because a real writer may be slower than the reader.
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
