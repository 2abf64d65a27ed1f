package streamhttp_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A rawClient is a client without the stream, for what a stream never does.
type rawClient struct {
	t   testing.TB
	url string
	id  string // of the connection

	client *http.Client // nil over TCP
}

// request makes a request; header holds names and values.
func (c *rawClient) request(method, body string, header ...string) *http.Response {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, method, c.url, strings.NewReader(body))
	require.NoError(c.t, err)
	if method == "POST" {
		r.Header.Set("Content-Type", "application/json")
	}
	if method == "GET" {
		r.Header.Set("Accept", "text/event-stream")
	}
	if c.id != "" {
		r.Header.Set("Acp-Connection-Id", c.id)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i+1] == "" {
			r.Header.Del(header[i])
		} else {
			r.Header.Set(header[i], header[i+1])
		}
	}
	client := http.DefaultClient
	if c.client != nil {
		client = c.client
	}
	resp, err := client.Do(r)
	require.NoError(c.t, err)
	c.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func (c *rawClient) post(body string, header ...string) int {
	c.t.Helper()
	resp := c.request("POST", body, header...)
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

// rawEvents reads an event stream line by line.
type rawEvents struct {
	t    testing.TB
	resp *http.Response
	r    *bufio.Reader
	id   string
}

func (c *rawClient) events(header ...string) *rawEvents {
	c.t.Helper()
	resp := c.request("GET", "", header...)
	require.Equal(c.t, 200, resp.StatusCode)
	assert.Equal(c.t, "text/event-stream", resp.Header.Get("Content-Type"))
	return &rawEvents{t: c.t, resp: resp, r: bufio.NewReader(resp.Body)}
}

// next returns the data of the next event.
func (e *rawEvents) next() string {
	e.t.Helper()
	var data []string
	for {
		line, err := e.r.ReadString('\n')
		require.NoError(e.t, err)
		line = strings.TrimSuffix(line, "\n")
		if value, ok := strings.CutPrefix(line, "data: "); ok {
			data = append(data, value)
		}
		if value, ok := strings.CutPrefix(line, "id: "); ok {
			e.id = value
		}
		if line == "" && data != nil {
			return strings.Join(data, "\n")
		}
	}
}

// connectRaw initializes a connection.
func (s *server) connectRaw(t testing.TB) (*rawClient, *serverEnd) {
	t.Helper()
	c := &rawClient{t: t, url: s.URL}
	answered := make(chan *http.Response, 1)
	go func() { answered <- c.request("POST", initialize) }() // ends with the response
	end := <-s.conns
	t.Cleanup(func() { end.Close() })
	assert.Equal(t, initialize, receive(t, end))
	require.NoError(t, end.Write([]byte(initialized)))
	resp := <-answered
	require.Equal(t, 200, resp.StatusCode)
	assert.Equal(t, "application/json", resp.Header.Get("Content-Type"))
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	assert.Equal(t, initialized, string(body))
	c.id = resp.Header.Get("Acp-Connection-Id")
	assert.Equal(t, end.ConnectionID(), c.id)
	return c, end
}

// rest returns what remains of an event stream that has ended cleanly.
func (e *rawEvents) rest() string {
	e.t.Helper()
	rest, err := io.ReadAll(e.r)
	require.NoError(e.t, err)
	return string(rest)
}
