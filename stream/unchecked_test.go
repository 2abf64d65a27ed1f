package stream_test

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/stream"
)

// A connection checks objects itself and reports what is none.
func TestUnchecked(t *testing.T) {
	var noise []string
	s := stream.Lines(strings.NewReader("banner\n{\"broken\n{\"a\":1}\n"), io.Discard, &stream.LinesOptions{
		Tolerant: true, OnNoise: func(line []byte) { noise = append(noise, string(line)) },
	})
	report := stream.FeaturesOf(s).Unchecked()
	require.NotNil(t, report)

	msg, err := s.Read()
	require.NoError(t, err)
	assert.Equal(t, `{"broken`, string(msg))
	report(msg)
	msg, err = s.Read()
	require.NoError(t, err)
	assert.Equal(t, `{"a":1}`, string(msg))
	assert.Equal(t, []string{"banner", `{"broken`}, noise)

	assert.Nil(t, stream.FeaturesOf(stream.Lines(strings.NewReader(""), io.Discard, nil)).Unchecked, "not tolerant")
}
