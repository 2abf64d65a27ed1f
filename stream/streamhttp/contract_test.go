package streamhttp_test

import (
	"testing"

	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/streamhttp"
	"github.com/acpkit/go-sdk/stream/streamtest"
)

func TestContract(t *testing.T) {
	for name, opts := range map[string]*streamhttp.HandlerOptions{
		"HTTP/1.1": {MaxBuffered: 4 << 20},
		"resume":   {MaxBuffered: 4 << 20, Resume: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, opts)
			streamtest.Test(t, func() (a, b stream.Stream) {
				client, end := s.connect(t, nil)
				open(t, client, end)
				return client, end
			})
		})
	}
	t.Run("HTTP/2", func(t *testing.T) {
		s := serve(t, &streamhttp.HandlerOptions{MaxBuffered: 4 << 20})
		client := h2c() // shared, so that its goroutines are there before
		c, end := s.connect(t, &streamhttp.DialOptions{Client: client})
		c.Close()
		end.Close()
		streamtest.Test(t, func() (a, b stream.Stream) {
			client, end := s.connect(t, &streamhttp.DialOptions{Client: client})
			open(t, client, end)
			return client, end
		})
	})
}
