package chat_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/loop/chat"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// What is wrong with the network has a kind and a next step.
func TestNetwork(t *testing.T) {
	plain := serve(t, answering(200, ""))
	unsigned := httptest.NewUnstartedServer(answering(200, ""))
	unsigned.Config.ErrorLog = log.New(io.Discard, "", 0)
	unsigned.StartTLS()
	t.Cleanup(unsigned.Close)
	for base, want := range map[string]struct {
		kind.Kind
		text string
	}{
		strings.Replace(plain, "http", "https", 1): {kind.Configuration, "does not speak TLS. BASE_URL must begin with http://"},
		unsigned.URL:                     {kind.Configuration, "the certificate of 127.0.0.1"},
		"http://no-such-host.invalid/v1": {kind.Configuration, "cannot be found. See whether BASE_URL is right"},
		"http://127.0.0.1:1/v1":          {kind.ServiceUnavailable, "Is the server running? Start it"},
	} {
		_, err := events(t, chat.New(&chat.Options{BaseURL: base, Model: "m"}), hello)
		e, ok := kind.From(err)
		require.True(t, ok, err)
		assert.Equal(t, want.Kind, e.Kind, base)
		assert.Contains(t, e.Message, want.text)
		assert.NotEmpty(t, e.Hint)
	}
}

// A time to wait may be a date.
func TestRetryAfterDate(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
		w.WriteHeader(503)
	})
	_, err := events(t, chat.New(&chat.Options{BaseURL: url, Model: "m"}), hello)
	advice := kind.AdviceFor(err)
	assert.Equal(t, kind.ActionWait, advice.Action)
	assert.InDelta(t, time.Hour, advice.After, float64(5*time.Second))
}
