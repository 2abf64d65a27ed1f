package stream_test

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/stream"
)

func TestPipeIsBounded(t *testing.T) {
	for name, size := range map[string]int{"by messages": 1, "by bytes": 10_000} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leak.Check(t)
				a, b := stream.Pipe()
				written := 0
				go func() { // ends with the close
					for a.Write(make([]byte, size)) == nil {
						written++
					}
				}()
				synctest.Wait()
				assert.LessOrEqual(t, written, 256)
				assert.LessOrEqual(t, written*size, 256<<10)
				before := written
				receive(t, b)
				synctest.Wait()
				assert.Greater(t, written, before, "reading makes room")
				require.NoError(t, b.Close())
			})
		})
	}
}

func TestPipeAfterClose(t *testing.T) {
	a, b := stream.Pipe()
	require.NoError(t, a.Write([]byte("1")))
	require.NoError(t, b.Write([]byte("lost")))
	require.NoError(t, a.Close())
	assert.ErrorIs(t, a.Write([]byte("2")), stream.ErrClosed)
	_, err := a.Read()
	assert.ErrorIs(t, err, stream.ErrClosed)
	assert.ErrorIs(t, b.Write([]byte("3")), io.ErrClosedPipe)
	assert.Equal(t, "1", receive(t, b))
	_, err = b.Read()
	assert.Equal(t, io.EOF, err)
}

func TestPipeRefusesEmptyMessages(t *testing.T) {
	a, b := stream.Pipe()
	_, refused := errors.AsType[*stream.MessageError](a.Write(nil))
	assert.True(t, refused)
	_, refused = errors.AsType[*stream.MessageError](stream.FeaturesOf(a).WriteBatch([][]byte{[]byte("1"), {}}))
	assert.True(t, refused)
	require.NoError(t, a.Write([]byte("2")))
	assert.Equal(t, "2", receive(t, b))
}
