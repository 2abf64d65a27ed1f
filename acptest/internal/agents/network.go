package agents

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

// keptAlive is the time after which an idle stream must have sent something.
const keptAlive = 35 * time.Second

var network = []check.Check{
	{ID: "AK-HTTP-001", Title: "A POST of initialize is answered with 200 and the id of a connection.", Tier: check.Must, Fact: "transports", In: check.Both, Over: check.HTTP, First: true,
		Run: func(t *check.T) { connectHTTP(t) }},
	{ID: "AK-HTTP-002", Title: "A POST of a further message is answered with 202.", Tier: check.Must, Fact: "transports", In: check.Both, Over: check.HTTP, First: true,
		Run: func(t *check.T) { begun(t).post(ping, nil, http.StatusAccepted) }},
	{ID: "AK-HTTP-003", Title: "A connection that does not exist is 404.", Tier: check.Must, Fact: "transports", In: check.Both, Over: check.HTTP, First: true,
		Run: check.With(begun, func(t *check.T, c *httpConn) {
			c.id = "acptest-no-such-connection"
			c.post(ping, nil, http.StatusNotFound)
			c.get(eventHeader, http.StatusNotFound)
		})},
	{ID: "AK-HTTP-004", Title: "A POST that is not JSON by its type is refused with 415, and bad JSON is refused or answered with an error.", Tier: check.Should, Fact: "transports", In: check.Both, Over: check.HTTP, First: true,
		Run: check.With(begun, func(t *check.T, c *httpConn) {
			c.post(ping, http.Header{"Content-Type": {"text/plain"}}, http.StatusUnsupportedMediaType)
			c.post("{nonsense", nil, http.StatusBadRequest, http.StatusAccepted)
		})},
	{ID: "AK-HTTP-005", Title: "A batch is refused.", Tier: check.Interop, Fact: "transports", In: check.Both, Over: check.HTTP, First: true,
		Run: func(t *check.T) { begun(t).post("["+ping+"]", nil, http.StatusNotImplemented, http.StatusBadRequest) }},
	{ID: "AK-HTTP-006", Title: "A GET that does not accept an event stream is 406.", Tier: check.Should, Fact: "transports", In: check.Both, Over: check.HTTP, First: true,
		Run: func(t *check.T) { begun(t).get(http.Header{"Accept": {"text/html"}}, http.StatusNotAcceptable) }},
	{ID: "AK-HTTP-007", Title: "A second event stream is 409, or takes the place of the first.", Tier: check.Should, Fact: "transports", In: check.Both, Over: check.HTTP, First: true,
		Run: check.With(begun, func(t *check.T, c *httpConn) {
			first := c.events("")
			second := c.get(eventHeader, http.StatusConflict, http.StatusOK)
			t.FailIf(second.StatusCode == http.StatusOK && !first.ends(), "Two event streams of one connection are open.")
		})},
	{ID: "AK-HTTP-008", Title: "DELETE ends a connection.", Tier: check.Must, Fact: "transports", In: check.Both, Over: check.HTTP, First: true,
		Run: check.With(begun, func(t *check.T, c *httpConn) {
			c.request(http.MethodDelete, "", "", nil, http.StatusAccepted, http.StatusOK, http.StatusNoContent)
			c.post(ping, nil, http.StatusNotFound)
		})},
	{ID: "AK-HTTP-009", Title: "A session in the header that is not the one in the params is 400.", Tier: check.Should, Fact: "transports", In: check.Both, Over: check.HTTP, First: true,
		Run: check.With(begun, func(t *check.T, c *httpConn) {
			id, _ := c.session()
			header := http.Header{"Acp-Session-Id": {id}}
			c.post(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"other"}}`, header, http.StatusBadRequest)
		})},
	{ID: "AK-HTTP-010", Title: "A page of another origin is refused.", Tier: check.Should, Fact: "transports", In: check.Both, Over: check.Network, First: true,
		Run: func(t *check.T) { newHTTP(t).reach(http.Header{"Origin": {"https://acptest.invalid"}}, "") }},
	{ID: "AK-HTTP-011", Title: "A server on this machine refuses names that are not its own.", Tier: check.Should, Fact: "transports", In: check.Both, Over: check.Network, First: true,
		Run: check.With(newHTTP, func(t *check.T, c *httpConn) {
			host := c.url.Hostname()
			t.SkipIf(host != "localhost" && host != "127.0.0.1" && host != "::1", "The agent is not reached by the loopback interface.")
			c.reach(nil, "acptest.invalid")
		})},
	{ID: "AK-HTTP-012", Title: "Without its token nothing is served.", Tier: check.Must, Fact: "transports", In: check.Both, Over: check.Network, First: true,
		Run: check.With(newHTTP, func(t *check.T, c *httpConn) {
			t.SkipIf(len(c.credentials) == 0, "No token is set.")
			c.credentials = nil
			c.reach(nil, "")
			if t.Target.Kind == check.HTTP {
				c.id = "acptest-no-such-connection"
				c.get(eventHeader)
			}
		})},
	{ID: "AK-HTTP-013", Title: "An event stream on which nothing happens shows that it lives.", Tier: check.Should, Fact: "transports", In: check.Both, Over: check.HTTP, First: true,
		Run: check.With(begun, func(t *check.T, c *httpConn) {
			s := c.events("")
			for _, err := s.line(time.Second); err == nil; _, err = s.line(time.Second) {
			} // what comes with the headers
			_, err := s.line(keptAlive)
			t.FailIf(err != nil, "Nothing came on the event stream in %v.", keptAlive)
		})},
	{ID: "AK-HTTP-014", Title: "An event stream that was cut continues with the event after the last one.", Tier: check.Must, Fact: "transports", In: check.Both, Over: check.HTTP, First: true, Prompts: []string{"text"},
		Run: check.With(begun, resumes)},
	{ID: "AK-HTTP-015", Title: "What belongs to a session comes on its event stream, and not on that of the connection.", Tier: check.Must, Fact: "transports", In: check.Both, Over: check.HTTP, First: true, Prompts: []string{"text"},
		Run: check.With(begun, routes)},
	{ID: "AK-WS-001", Title: "Messages are text frames.", Tier: check.Must, Fact: "transports", In: check.Both, Over: check.WebSocket, Passive: check.FramesRule},
	{ID: "AK-WS-002", Title: "The response to the handshake names the connection.", Tier: check.Should, Fact: "transports", In: check.Both, Over: check.WebSocket, First: true,
		Run: func(t *check.T) {
			r := newHTTP(t).reach(nil, "", http.StatusSwitchingProtocols)
			t.FailIf(r.Header.Get("Acp-Connection-Id") == "", "The response has no Acp-Connection-Id.")
		}},
}

var (
	jsonHeader  = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	eventHeader = http.Header{"Accept": {"text/event-stream"}}
)

// httpConn is a connection over streamable HTTP, made by hand. Its requests fail the check unless
// the status of the response is one of those that are wanted; without any, it must be one of 4xx.
type httpConn struct {
	t           *check.T
	url         *url.URL
	credentials http.Header
	id          string // Acp-Connection-Id
	ids         int
}

func newHTTP(t *check.T) *httpConn {
	c := &httpConn{t: t}
	var err error
	c.url, err = url.Parse(strings.Replace(t.Target.URL, "ws", "http", 1))
	t.Requires(err == nil, "The URL cannot be read: %v.", err)
	if t.Target.Header != nil {
		c.credentials, err = t.Target.Header(t.Context())
		t.Requires(err == nil, "There are no credentials: %v.", err)
	}
	return c
}

// request sends a request. Its response is closed when the check ends.
func (c *httpConn) request(method, body, host string, header http.Header, want ...int) *http.Response {
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.url.String(), strings.NewReader(body))
	c.t.Requires(err == nil, "A request cannot be made: %v.", err)
	maps.Copy(r.Header, c.credentials)
	if c.id != "" {
		r.Header.Set("Acp-Connection-Id", c.id)
	}
	maps.Copy(r.Header, header)
	r.Host = host
	response, err := c.t.Target.Client.Do(r)
	c.t.FailIf(err != nil, "%s %s failed: %v.", method, c.url.Path, err)
	context.AfterFunc(c.t.Context(), func() { _ = response.Body.Close() })
	c.t.Show(fmt.Sprintf("%s %s %v %s", method, c.url.Path, header, body), response.Status)
	c.t.Expect(fmt.Sprintf("status %v", want))
	if !slices.Contains(want, response.StatusCode) && (want != nil || response.StatusCode/100 != 4) {
		c.t.Fail("The %s got status %d.", method, response.StatusCode)
	}
	return response
}

func (c *httpConn) post(body string, header http.Header, want ...int) *http.Response {
	all := jsonHeader.Clone()
	maps.Copy(all, header)
	return c.request(http.MethodPost, body, "", all, want...)
}

func (c *httpConn) get(header http.Header, want ...int) *http.Response {
	return c.request(http.MethodGet, "", "", header, want...)
}

// reach sends the first request of a connection, over either transport.
func (c *httpConn) reach(header http.Header, host string, want ...int) *http.Response {
	if c.t.Target.Kind == check.WebSocket {
		all := http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"YWNwdGVzdGFjcHRlc3QhIQ=="}}
		maps.Copy(all, header)
		return c.request(http.MethodGet, "", host, all, want...)
	}
	all := jsonHeader.Clone()
	maps.Copy(all, header)
	return c.request(http.MethodPost, c.message("initialize", initParams(cmp.Or(c.t.Version, newest))), host, all, want...)
}

func (c *httpConn) message(method string, params any) string {
	c.ids++
	b, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.ids, "method": method, "params": params}) // maps of these cannot fail
	return string(b)
}

// connectHTTP sends initialize.
func connectHTTP(t *check.T) *httpConn {
	c := newHTTP(t)
	r := c.reach(nil, "", http.StatusOK)
	c.id = r.Header.Get("Acp-Connection-Id")
	t.FailIf(c.id == "", "The response to initialize has no Acp-Connection-Id.")
	return c
}

func begun(t *check.T) (c *httpConn) {
	t.Works(func() { c = connectHTTP(t) })
	return c
}

// session starts a session, and returns its id and the event stream of the connection.
func (c *httpConn) session() (id string, stream *eventStream) {
	c.t.Works(func() {
		stream = c.events("")
		c.post(c.message("session/new", newParams(c.t)), nil, http.StatusAccepted)
		for id == "" {
			_, data := stream.event(c.t)
			var response struct {
				Result struct{ SessionID string }
			}
			if json.Unmarshal([]byte(data), &response) == nil {
				id = response.Result.SessionID
			}
		}
	})
	return id, stream
}
