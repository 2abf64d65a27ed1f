package serve_test

import (
	"context"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/draft2/serve"
	"github.com/acpkit/go-sdk/internal/leak"
	"github.com/acpkit/go-sdk/internal/rawpeer"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// Every transport carries both versions.
func TestTransports(t *testing.T) {
	leak.Check(t)
	serve := func(ctx context.Context, s stream.Stream) error {
		return serve.Route(ctx, s, (&seen{}).both(), discarding)
	}
	handler := remote.NewHandler(serve, &remote.Options{Logger: discarding.Logger})
	server := httptest.NewServer(handler)
	defer server.Close()
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		assert.NoError(t, handler.Shutdown(ctx))
	}()
	for name, dial := range map[string]func(t *testing.T) stream.Stream{
		"lines": func(t *testing.T) stream.Stream {
			inR, inW := io.Pipe()
			outR, outW := io.Pipe()
			go serve(t.Context(), stream.Lines(inR, outW, &stream.LinesOptions{})) // ends with the stream
			return stream.Lines(outR, inW, nil)
		},
		"WebSocket": func(t *testing.T) stream.Stream {
			s, err := remote.Dial(t.Context(), "ws"+strings.TrimPrefix(server.URL, "http"), nil)
			require.NoError(t, err)
			return s
		},
		"HTTP": func(t *testing.T) stream.Stream {
			s, err := remote.Dial(t.Context(), server.URL, nil)
			require.NoError(t, err)
			return s
		},
	} {
		for version, result := range map[string]string{"1": initialized1, "2": initialized2} {
			t.Run(name+" version "+version, func(t *testing.T) {
				s := dial(t)
				p := rawpeer.New(t, s)
				if name == "lines" { // network transports accept one initialize only
					p.Send("%s", initialize("7", `{"protocolVersion":-1}`))
					p.ExpectJSON(failure("7", -32602, "Invalid params: protocolVersion must be an integer from 0 to 65535"))
				}
				p.Send("%s", initialize("1", `{"protocolVersion":`+version+`,"info":{"name":"c","version":"1"}}`))
				p.ExpectJSON(result)
				p.Send("%s", `{"jsonrpc":"2.0","id":3,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`)
				session := map[string]string{"1": "s1", "2": "two"}[version]
				p.ExpectJSON(`{"jsonrpc":"2.0","id":3,"result":{"sessionId":"` + session + `"}}`)
				p.Send("%s", `{"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":"`+session+`","prompt":[{"type":"text","text":"x"}]}}`)
				m := p.Next()
				for m.Method != "" { // skip updates
					m = p.Next()
				}
				assert.Equal(t, "4", string(m.ID))
				assert.Nil(t, m.Error, m.Raw)
				require.NoError(t, s.Close())
			})
		}
	}
}

// Over HTTP, a client whose initialize is refused can read the reason.
func TestRefusalOverHTTP(t *testing.T) {
	serve := func(ctx context.Context, s stream.Stream) error {
		return serve.Route(ctx, s, &serve.Agents{V2: (&seen{}).both().V2}, discarding)
	}
	handler := remote.NewHandler(serve, &remote.Options{Logger: discarding.Logger})
	server := httptest.NewServer(handler)
	defer server.Close()
	s, err := remote.Dial(t.Context(), server.URL, nil)
	require.NoError(t, err)
	p := rawpeer.New(t, s)
	p.Send("%s", initialize("1", `{"protocolVersion":1}`))
	p.ExpectJSON(unsupported("1", "[2]"))
}

// The agent closes the stream of the router, with a reason for the peer.
func TestReasonOfTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := stream.Pipe()
		s := &reasoned{Stream: far, reasons: make(chan stream.Reason, 1)}
		served := make(chan error, 1)
		go func() { served <- serve.Route(t.Context(), s, (&seen{}).both(), discarding) }() // ends with near
		p := rawpeer.New(t, near)
		p.Send("%s", initialize("1", `{"protocolVersion":1}`))
		p.ExpectJSON(initialized1)
		require.NoError(t, near.Close())
		require.ErrorIs(t, <-served, io.ErrUnexpectedEOF)
		require.Len(t, s.reasons, 1)
		assert.Equal(t, stream.ReasonFailure, <-s.reasons)
	})
}

// reasoned is a stream that ends when its peer leaves. It records why it was closed.
type reasoned struct {
	stream.Stream
	reasons chan stream.Reason
}

func (s *reasoned) Read() ([]byte, error) {
	msg, err := s.Stream.Read()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return msg, err
}

func (s *reasoned) Features() *stream.Features {
	return &stream.Features{CloseFor: func(why stream.Reason) error {
		s.reasons <- why
		return s.Close()
	}}
}
