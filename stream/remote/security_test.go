package remote_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/remote"
)

// A token in a URL is ignored, because URLs are often logged.
func TestTokensInURLsAreIgnored(t *testing.T) {
	_, s := start(t, &remote.Options{Authorize: remote.BearerToken("secret")}, nil)
	for kind, r := range requests(s.URL + "/?token=secret&access_token=secret&authorization=Bearer+secret") {
		assert.Equal(t, 401, status(t, r), kind)
	}
}

// The default limit of a body is 32 MiB.
func TestBodyLimit(t *testing.T) {
	_, s := start(t, nil, nil)
	for size, want := range map[int]int{stream.DefaultMaxMessage: 404, stream.DefaultMaxMessage + 1: 413} {
		msg := `{"jsonrpc":"2.0","method":"x","params":{"x":""}}`
		msg = strings.Replace(msg, `""`, `"`+strings.Repeat("x", size-len(msg))+`"`, 1)
		r, err := http.NewRequest("POST", s.URL, strings.NewReader(msg))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Acp-Connection-Id", "unknown")
		assert.Equal(t, want, status(t, r), "%d bytes", size)
	}
}

// The server refuses compression, because its result would let a page guess secrets.
func TestNoCompression(t *testing.T) {
	_, s := start(t, nil, nil)
	r := requests(s.URL)["upgrade"]
	r.Header.Set("Sec-WebSocket-Extensions", "permessage-deflate; client_max_window_bits")
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	assert.Equal(t, 101, resp.StatusCode)
	assert.Empty(t, resp.Header.Values("Sec-Websocket-Extensions"))
	r = requests(s.URL)["POST"]
	r.Header.Set("Accept-Encoding", "gzip")
	resp, err = http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	assert.Empty(t, resp.Header.Get("Content-Encoding"))
}

// NewServer speaks HTTP/2 without TLS, which proxies use.
func TestNewServerSpeaksHTTP2(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := remote.NewServer("", remote.NewHandler(serving(nil), &remote.Options{Logger: quiet}))
	go s.Serve(listener) // ends with the test
	defer s.Close()
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols}
	defer transport.CloseIdleConnections()
	_, session := talk(t, "http://"+listener.Addr().String(), &remote.DialOptions{Client: &http.Client{Transport: transport}})
	text, err := session.Prompt(t.Context(), acp.Text("hello")).Text()
	require.NoError(t, err)
	assert.Equal(t, "hello", text)
	resp, err := (&http.Client{Transport: transport}).Do(requests("http://" + listener.Addr().String())["DELETE"])
	require.NoError(t, err)
	_, _ = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	assert.Equal(t, 2, resp.ProtoMajor)
}
