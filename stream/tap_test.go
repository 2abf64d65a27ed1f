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
	mu  sync.Mutex // guards all
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
	require.NoError(t, a.(stream.BatchWriter).WriteBatch([][]byte{[]byte(`{"n":2}`), []byte(`{"n":3}`)}))
	require.NoError(t, b.Write([]byte(`{"n":4}`)))
	msg, err := a.Read()
	require.NoError(t, err)
	assert.Equal(t, `{"n":4}`, string(msg))
	assert.Equal(t, []string{`sent {"n":1}`, `sent {"n":2}`, `sent {"n":3}`, `received {"n":4}`}, s.all)
}

func TestTapContract(t *testing.T) {
	streamtest.Test(t, func() (a, b stream.Stream) {
		a, b = stream.Pipe()
		return stream.Tap(a, func(stream.Direction, []byte) {}), b
	})
}

// What a tolerant stream skips is not a message and is not shown.
func TestTapDoesNotShowNoise(t *testing.T) {
	var noise []string
	s := stream.Lines(strings.NewReader("banner\n{oops}\n{\"n\":1}\n"), nil, &stream.LinesOptions{Tolerant: true, OnNoise: func(line []byte) {
		noise = append(noise, string(line))
	}})
	var shown seen
	s = stream.Tap(s, shown.see)
	_, err := s.Read()
	require.NoError(t, err)
	assert.Equal(t, []string{`received {"n":1}`}, shown.all)
	assert.Equal(t, []string{"banner", "{oops}"}, noise)
}

type (
	withBatch    struct{}
	withReader   struct{}
	withWriter   struct{}
	withProgress struct{}
	withDrain    struct{ c chan struct{} }
	withHasten   struct{ n *int }
	withSingle   struct{}
)

func (withBatch) WriteBatch([][]byte) error { return nil }
func (withReader) ReadMessage() (stream.Message, error) {
	return stream.ParseMessage([]byte(`{"jsonrpc":"2.0","method":"in"}`)), nil
}
func (withWriter) WriteMessage(stream.Message) error { return nil }
func (withProgress) Written() int64                  { return 17 }
func (d withDrain) Draining() <-chan struct{}        { return d.c }
func (e withHasten) Hasten()                         { *e.n++ }
func (withSingle) SingleInitialize() bool            { return true }

func TestTapPassesOptionalInterfaces(t *testing.T) {
	plain, _ := stream.Pipe()
	type base struct{ stream.Stream }
	none := base{plain}
	drain, expected := withDrain{make(chan struct{})}, 0
	for name, s := range map[string]stream.Stream{
		"none": none,
		"batch": struct {
			base
			withBatch
		}{base: none},
		"reader": struct {
			base
			withReader
		}{base: none},
		"writer": struct {
			base
			withWriter
		}{base: none},
		"batch, reader": struct {
			base
			withBatch
			withReader
		}{base: none},
		"batch, writer": struct {
			base
			withBatch
			withWriter
		}{base: none},
		"reader, writer": struct {
			base
			withReader
			withWriter
		}{base: none},
		"all": struct {
			base
			withBatch
			withReader
			withWriter
			withProgress
			withDrain
			withHasten
			withSingle
		}{base: none, withDrain: drain, withHasten: withHasten{&expected}},
	} {
		t.Run(name, func(t *testing.T) {
			var shown seen
			tapped := stream.Tap(s, shown.see)
			_, want := s.(stream.BatchWriter)
			batch, got := tapped.(stream.BatchWriter)
			assert.Equal(t, want, got, "BatchWriter")
			if got {
				require.NoError(t, batch.WriteBatch([][]byte{[]byte("batch")}))
			}
			_, want = s.(stream.MessageReader)
			reader, got := tapped.(stream.MessageReader)
			assert.Equal(t, want, got, "MessageReader")
			if got {
				m, err := reader.ReadMessage()
				require.NoError(t, err)
				assert.Equal(t, "in", m.Method)
			}
			_, want = s.(stream.MessageWriter)
			writer, got := tapped.(stream.MessageWriter)
			assert.Equal(t, want, got, "MessageWriter")
			if got {
				require.NoError(t, writer.WriteMessage(stream.Message{Data: []byte("message")}))
			}
			for part, line := range map[string]string{"batch": "sent batch", "reader": `received {"jsonrpc":"2.0","method":"in"}`, "writer": "sent message"} {
				if strings.Contains(name, part) || name == "all" {
					assert.Contains(t, shown.all, line)
				}
			}
			written, draining := int64(0), (<-chan struct{})(nil)
			if name == "all" {
				written, draining = 17, drain.c
			}
			assert.Equal(t, written, tapped.(stream.ProgressWriter).Written())
			assert.Equal(t, draining, tapped.(stream.Drainer).Draining())
			assert.Equal(t, name == "all", tapped.(stream.SingleInitializer).SingleInitialize())
			expected = 0
			tapped.(stream.Hastener).Hasten()
			assert.Equal(t, name == "all", expected == 1)
		})
	}
}
