package chat_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/agent/loop/chat"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/rpcerr"
)

// sentence returns the text of an error for the person.
func sentence(t *testing.T, err error) string {
	t.Helper()
	var e *rpcerr.RequestError
	require.ErrorAs(t, err, &e)
	return e.Message
}

// cutAfter serves the first bytes of a stream and then cuts the connection.
func cutAfter(t *testing.T, body string) string {
	return serve(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, body)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
}

// If the connection is cut at any byte of an answer, the events before the cut are kept, and the
// error is a sentence. The answer is complete once its finish reason has arrived.
func TestCut(t *testing.T) {
	lines := []string{
		`{"choices":[{"delta":{"role":"assistant","content":""}}]}`, `{"choices":[{"delta":{"content":"He"}}]}`, `{"choices":[{"delta":{"content":"llo"}}]}`,
		`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}]}}]}`,
		`{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, `{"choices":[],"usage":{"total_tokens":7}}`, "[DONE]",
	}
	whole := data(lines...)
	// arrived returns the number of bytes up to the end of a line.
	arrived := func(line int) int { return len(data(lines[:line+1]...)) - len("\n\n") }
	for n := range len(whole) {
		var want []string
		for text, line := range map[string]int{"text He": 1, "text llo": 2} {
			if n >= arrived(line) {
				want = append(want, text)
			}
		}
		finished := n >= arrived(4)
		if finished {
			if want = append(want, "stop "); n >= arrived(5) {
				want = append(want, "usage 7")
			}
			want = append(want, "call a read({})")
		}
		got, err := events(t, chat.New(&chat.Options{BaseURL: cutAfter(t, whole[:n]) + "/v1", Model: "m"}), hello)
		assert.ElementsMatch(t, want, got, "cut at %d", n)
		if finished {
			assert.NoError(t, err, "cut at %d", n)
			continue
		}
		assert.Regexp(t, `^the answer of 127\.0\.0\.1:\d+ was cut: `, sentence(t, err), "cut at %d", n)
	}
}

// Invalid input after any number of events is an error that describes the input. The earlier events
// are kept.
func TestJunk(t *testing.T) {
	lines := []string{`{"choices":[{"delta":{"content":"He"}}]}`, `{"choices":[{"delta":{"content":"llo"}}]}`}
	for n := range len(lines) + 1 {
		for junk, want := range map[string]string{
			"data: <html>\n\n":                          "BASE_URL leads to a web page",
			"data: {\"choices\":7}\n\n":                 "ended in the middle.",
			"data: \x00\xff\n\n":                        "ended in the middle, with",
			"data: {\"error\":\"overloaded\"}\n\n":      "has ended its answer with an error: overloaded",
			"Internal Server Error\n":                   "ended in the middle, with Internal Server Error",
			"data: " + strings.Repeat("x", 17<<20) + "": "has sent more than 16 MiB",
		} {
			body := ""
			if n > 0 {
				body = data(lines[:n]...)
			}
			inBubble(t, answering(200, body+junk), func(t *testing.T, opts *chat.Options) {
				got, err := events(t, chat.New(opts), hello)
				assert.Contains(t, sentence(t, err), want)
				assert.Equal(t, []string{"text He", "text llo"}[:n], append([]string{}, got...))
			})
		}
	}
}

// A server that does not begin to answer, or stops in the middle of an answer, causes an error.
func TestTimeOut(t *testing.T) {
	for name, tt := range map[string]struct {
		model, path string
		client      func(*http.Client)
		want        string
	}{
		"headers":             {model: "m", path: "/chat/completions", client: func(c *http.Client) { c.Transport.(*http.Transport).ResponseHeaderTimeout = 20 * time.Millisecond }, want: "has not answered in time"},
		"headers of the list": {path: "/models", client: func(c *http.Client) { c.Transport.(*http.Transport).ResponseHeaderTimeout = 20 * time.Millisecond }, want: "has not answered in time"},
		"the rest":            {model: "m", client: func(c *http.Client) { c.Timeout = 200 * time.Millisecond }, want: "was cut: "},
	} {
		t.Run(name, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if tt.path == "" {
					io.WriteString(w, data(`{"choices":[{"delta":{"content":"He"}}]}`))
					w.(http.Flusher).Flush()
				}
				_, _ = io.Copy(io.Discard, r.Body) // so that the server notices the end of the connection
				<-r.Context().Done()
			})
			c := &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}
			tt.client(c)
			_, err := events(t, chat.New(&chat.Options{BaseURL: url, Model: tt.model, Client: c}), hello)
			assert.Contains(t, sentence(t, err), tt.want)
		})
	}
}

// The key is not sent to another host or to another port of the same host, whichever client is
// used.
func TestRedirect(t *testing.T) {
	var got []string
	other := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization"))
		io.WriteString(w, data(`{"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}`))
	})
	for name, client := range map[string]*http.Client{"our client": nil, "another client": {}} {
		for _, status := range []int{301, 302, 307, 308} {
			t.Run(fmt.Sprint(name, status), func(t *testing.T) {
				url := serve(t, func(w http.ResponseWriter, r *http.Request) {
					http.Redirect(w, r, other+"/v1/chat/completions", status)
				})
				_, err := events(t, chat.New(&chat.Options{BaseURL: url, Key: "k", Model: "m", Client: client}), hello)
				assert.Contains(t, sentence(t, err), fmt.Sprintf("redirects (status %d). Set BASE_URL to %s/v1", status, other))
			})
		}
	}
	assert.Empty(t, got)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/chat/completions" {
			http.Redirect(w, r, "/api/v1/chat/completions", http.StatusTemporaryRedirect)
			return
		}
		got = append(got, r.Method+" "+r.Header.Get("Authorization"))
		io.WriteString(w, data(`{"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}`))
	})
	answer, err := events(t, chat.New(&chat.Options{BaseURL: url + "/v1", Key: "k", Model: "m"}), hello)
	require.NoError(t, err)
	assert.Equal(t, []string{"text Hi", "stop "}, answer)
	assert.Equal(t, []string{"POST Bearer k"}, got, "the same host")
}

// The setting has the models of the server. MODEL is the first one, even if the server does not
// list it.
func TestSetting(t *testing.T) {
	for name, tt := range map[string]struct {
		model, list string
		want        []acp.SessionConfigValueID
		err         string
	}{
		"no default":       {"", `{"data":[{"id":"a"},{"id":""},{"id":"b"}]}`, []acp.SessionConfigValueID{"none", "a", "b"}, ""},
		"only one":         {"", `{"data":[{"id":"a"}]}`, []acp.SessionConfigValueID{"a"}, ""},
		"default first":    {"b", `{"data":[{"id":"a"},{"id":"b"},{"id":"c"}]}`, []acp.SessionConfigValueID{"b", "a", "c"}, ""},
		"unlisted default": {"x", `{"data":[{"id":"a"}]}`, []acp.SessionConfigValueID{"x", "a"}, ""},
		"listed twice":     {"a", `{"data":[{"id":"a"},{"id":"b"},{"id":"b"}]}`, []acp.SessionConfigValueID{"a", "b"}, ""},
		"no list":          {"x", `nothing`, nil, "the list of models of 127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			url := serve(t, answering(200, tt.list))
			s := chat.New(&chat.Options{BaseURL: url + "/v1", Model: tt.model}).Setting()
			assert.Equal(t, tt.model, s.Default)
			if tt.model != "" {
				require.Len(t, s.Values, 1, "what the session has if the list cannot be loaded")
				assert.Equal(t, tt.model, string(s.Values[0].Value))
			}
			values, err := s.Load(t.Context())
			if tt.err != "" {
				assert.Contains(t, sentence(t, err), tt.err)
				return
			}
			require.NoError(t, err)
			var got []acp.SessionConfigValueID
			for _, v := range values {
				got = append(got, v.Value)
				if v.Value != "none" {
					assert.Equal(t, string(v.Value), v.Name)
				}
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

// If there are several models and MODEL is not set, none is used. The client shows that none is
// chosen, a prompt fails with an error that says what to do, and the model that the person chooses
// is then used.
func TestNoModelIsChosen(t *testing.T) {
	var used []string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			io.WriteString(w, `{"data":[{"id":"embeddings"},{"id":"coder"}]}`)
			return
		}
		var req struct{ Model string }
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&req))
		used = append(used, req.Model)
		io.WriteString(w, data(`{"choices":[{"delta":{"content":"Hi."},"finish_reason":"stop"}]}`, "[DONE]"))
	})
	model := chat.New(&chat.Options{BaseURL: url + "/v1"})
	a := kit.New(&kit.Options{Settings: kit.Settings{model.Setting()}, Turn: loop.New(model, nil).Turn})
	conn := peertest.Connect(t, a.Serve, &peertest.Client{}, nil)
	session, err := conn.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: t.TempDir()})
	require.NoError(t, err)
	require.Len(t, session.ConfigOptions, 1)
	option := session.ConfigOptions[0]
	require.IsType(t, &acp.SessionConfigSelect{}, option.Kind)
	assert.Equal(t, acp.SessionConfigValueID("none"), option.Kind.(*acp.SessionConfigSelect).CurrentValue)
	prompt := &acp.PromptRequest{SessionID: session.SessionID, Prompt: []acp.ContentBlock{acp.Text("hi")}}
	_, err = conn.Prompt(t.Context(), prompt)
	assert.Contains(t, sentence(t, err), "has the models embeddings, coder")
	assert.Empty(t, used)
	_, err = conn.SetSessionConfigOption(t.Context(), &acp.SetSessionConfigOptionRequest{SessionID: session.SessionID, ConfigID: option.ID, Value: &acp.SessionConfigValue{Value: "coder"}})
	require.NoError(t, err)
	_, err = conn.Prompt(t.Context(), prompt)
	require.NoError(t, err)
	assert.Equal(t, []string{"coder"}, used)
}
