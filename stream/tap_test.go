package stream_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/streamtest"
)

// seen records what a tap shows.
type seen struct {
	mu  sync.Mutex // guards the fields below
	all []string
}

func (s *seen) see(dir stream.Direction, msg []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, fmt.Sprintf("%s %s", dir, msg))
}

func TestTapShowsEverything(t *testing.T) {
	a, b := stream.Pipe()
	var s seen
	a = stream.Tap(a, s.see)
	require.NoError(t, a.Write([]byte(`{"n":1}`)))
	require.NoError(t, stream.FeaturesOf(a).WriteBatch([][]byte{[]byte(`{"n":2}`), []byte(`{"n":3}`)}))
	require.NoError(t, b.Write([]byte(`{"n":4}`)))
	assert.Equal(t, `{"n":4}`, receive(t, a))
	assert.Equal(t, []string{`sent {"n":1}`, `sent {"n":2}`, `sent {"n":3}`, `received {"n":4}`}, s.all)
}

// A line that a tolerant stream skips is not a message, so a tap does not show it.
func TestTapDoesNotShowNoise(t *testing.T) {
	var noise []string
	s := stream.Lines(strings.NewReader("banner\n{oops}\n{\"n\":1}\n"), nil, &stream.LinesOptions{Tolerant: true, OnNoise: func(line string) {
		noise = append(noise, line)
	}})
	var shown seen
	s = stream.Tap(s, shown.see)
	receive(t, s)
	assert.Equal(t, []string{`received {"n":1}`}, shown.all)
	assert.Equal(t, []string{"banner", "{oops}"}, noise)
}

// A tap shows every message, whichever function carries it, and keeps all features.
func TestTapKeepsFeatures(t *testing.T) {
	streamtest.TestWrapper(t, func(s stream.Stream, see func([]byte)) stream.Stream {
		return stream.Tap(s, func(_ stream.Direction, msg []byte) { see(msg) })
	})
}
