package remote_test

import (
	"bufio"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/pipenet"
	"github.com/acpkit/go-sdk/stream/remote"
)

// A client that announces a body and does not send it gets a response after a limited time.
// Otherwise it would hold its network connection forever.
func TestBodyThatIsNotSent(t *testing.T) {
	const kind = "Content-Type: application/json\r\nAccept: text/event-stream\r\n"
	for name, tt := range map[string]struct {
		head string
		code int
		took time.Duration
	}{
		"without token":  {"POST / HTTP/1.1\r\nHost: localhost\r\n" + kind, 401, 10 * time.Second},
		"another host":   {"POST / HTTP/1.1\r\nHost: example.com\r\nAuthorization: Bearer secret\r\n" + kind, 403, 10 * time.Second},
		"another origin": {"POST / HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\nAuthorization: Bearer secret\r\n" + kind, 403, 10 * time.Second},
		"preflight":      {"OPTIONS / HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n", 403, 10 * time.Second},
		"GET":            {"GET / HTTP/1.1\r\nHost: localhost\r\nAcp-Connection-Id: x\r\nAuthorization: Bearer secret\r\n" + kind, 404, 10 * time.Second},
		"DELETE":         {"DELETE / HTTP/1.1\r\nHost: localhost\r\nAcp-Connection-Id: x\r\nAuthorization: Bearer secret\r\n" + kind, 404, 10 * time.Second},
		"PUT":            {"PUT / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\n" + kind, 405, 10 * time.Second},
		"POST":           {"POST / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer secret\r\n" + kind, 400, time.Minute},
	} {
		for length, header := range map[string]string{"length known": "Content-Length: 100\r\n\r\n", "length unknown": "Transfer-Encoding: chunked\r\n\r\n"} {
			t.Run(name+", "+length, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					listener := pipenet.Listen()
					s := remote.NewServer("", remote.NewHandler(serving(nil), &remote.Options{Logger: quiet, Authorize: remote.BearerToken("secret")}))
					go s.Serve(listener) // ends with Close
					defer s.Close()
					c, err := listener.DialContext(t.Context(), "", "")
					require.NoError(t, err)
					defer c.Close()
					_, err = io.WriteString(c, tt.head+header)
					require.NoError(t, err)
					began := time.Now()
					resp, err := http.ReadResponse(bufio.NewReader(c), nil)
					require.NoError(t, err)
					assert.Equal(t, tt.code, resp.StatusCode)
					assert.Equal(t, tt.took, time.Since(began))
				})
			})
		}
	}
}
