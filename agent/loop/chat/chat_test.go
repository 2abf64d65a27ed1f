package chat_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/agent/loop/chat"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/internal/pipenet"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// events returns the events of an answer. Texts and thoughts are joined; calls are formatted as "id
// name(input)".
func events(t *testing.T, m *chat.Model, req *loop.Request) (all []string, err error) {
	t.Helper()
	calls := map[int][3]string{}
	var order []int
	for e, err := range m.Generate(t.Context(), req) {
		if err != nil {
			return all, err
		}
		switch e := e.(type) {
		case loop.Text:
			all = append(all, "text "+string(e))
		case loop.Thought:
			all = append(all, "thought "+string(e))
		case loop.CallDelta:
			c, ok := calls[e.Index]
			if !ok {
				order = append(order, e.Index)
			}
			if c[0] == "" {
				c[0] = e.ID
			}
			if c[1] == "" {
				c[1] = e.Name
			}
			c[2] += e.Input
			calls[e.Index] = c
		case loop.Usage:
			all = append(all, fmt.Sprintf("usage %d", e.Used))
		case loop.Stop:
			all = append(all, "stop "+strings.TrimPrefix(string(e.Reason), string(loop.ToolCalls)))
		}
	}
	for _, i := range order {
		all = append(all, fmt.Sprintf("call %s %s(%s)", calls[i][0], calls[i][1], calls[i][2]))
	}
	return all, nil
}

func serve(t *testing.T, h http.HandlerFunc) string {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// inBubble calls f in a synctest bubble, where the waits before repeats take no time. The options have a client
// that reaches h.
func inBubble(t *testing.T, h http.HandlerFunc, f func(t *testing.T, opts *chat.Options)) {
	synctest.Test(t, func(t *testing.T) {
		f(t, &chat.Options{BaseURL: "http://localhost", Model: "m", Client: pipenet.Serve(t, h, nil)})
	})
}

// answering returns a handler that answers each request with the status and the body.
func answering(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

var hello = &loop.Request{Messages: []loop.Message{{Role: loop.User, Parts: []tools.Part{{Text: "hi"}}}}}

func data(lines ...string) string { return "data: " + strings.Join(lines, "\n\ndata: ") + "\n\n" }

func calls(fragments ...string) string {
	var lines []string
	for _, f := range fragments {
		lines = append(lines, `{"choices":[{"delta":{"tool_calls":[`+f+`]}}]}`)
	}
	return data(append(lines, `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, "[DONE]")...)
}

// TestStreams reads answers as different servers send them.
func TestStreams(t *testing.T) {
	for name, tt := range map[string]struct {
		body string
		want []string
	}{
		"OpenAI": {data(`{"choices":[{"delta":{"role":"assistant","content":""}}]}`, `{"choices":[{"delta":{"content":"He"}}]}`, `{"choices":[{"delta":{"content":"llo"}}]}`,
			`{"choices":[{"delta":{},"finish_reason":"stop"}]}`, `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}`, "[DONE]"),
			[]string{"text He", "text llo", "usage 7", "stop "}},
		"OpenAI, calls in fragments with an index": {calls(`{"index":0,"id":"a","type":"function","function":{"name":"read","arguments":""}}`, `{"index":0,"function":{"arguments":"{\"p"}}`,
			`{"index":1,"id":"b","function":{"name":"list","arguments":"{}"}}`, `{"index":0,"function":{"arguments":"\":1}"}}`),
			[]string{"stop ", `call a read({"p":1})`, "call b list({})"}},
		"Ollama before 0.7, whole calls, all with the index 0": {calls(`{"index":0,"id":"call_x","function":{"name":"read","arguments":"{\"p\":1}"}}`, `{"index":0,"id":"call_y","function":{"name":"read","arguments":"{\"p\":2}"}}`),
			[]string{"stop ", `call call_x read({"p":1})`, `call call_y read({"p":2})`}},
		"Gemini's compatible endpoint, no index": {calls(`{"id":"a","function":{"name":"read","arguments":"{\"p\":1}"}},{"id":"b","function":{"name":"list","arguments":"{}"}}`),
			[]string{"stop ", `call a read({"p":1})`, "call b list({})"}},
		"LM Studio, neither index nor id": {calls(`{"function":{"name":"read","arguments":"{\"p\":1}"}}`, `{"function":{"name":"read","arguments":"{\"p\":2}"}}`),
			[]string{"stop ", `call  read({"p":1})`, `call  read({"p":2})`}},
		"counted from 1, with the id in each fragment": {calls(`{"index":1,"id":"a","function":{"name":"read","arguments":"{\"p\""}}`, `{"index":1,"id":"a","function":{"arguments":":1}"}}`, `{"index":2,"id":"b","function":{"name":"list"}}`),
			[]string{"stop ", `call a read({"p":1})`, "call b list()"}},
		"a known id under another index": {calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\""}}`, `{"index":1,"id":"a","function":{"arguments":":1}"}}`),
			[]string{"stop ", `call a read({"p":1})`}},
		"arguments as an object": {calls(`{"index":0,"id":"a","function":{"name":"read","arguments":{"p":1}}}`), []string{"stop ", `call a read({"p":1})`}},
		"vLLM, name in each fragment": {calls(`{"index":0,"id":"a","function":{"name":"read","arguments":"{\"p\""}}`, `{"index":0,"function":{"name":"read","arguments":":1}"}}`),
			[]string{"stop ", `call a read({"p":1})`}},
		"DeepSeek, thoughts": {data(`{"choices":[{"delta":{"reasoning_content":"hm"}}]}`, `{"choices":[{"delta":{"content":"Hi"},"finish_reason":"length"}]}`, "[DONE]"), []string{"thought hm", "text Hi", "stop length"}},
		"OpenRouter, comments and thoughts": {": OPENROUTER PROCESSING\n\n" + data(`{"choices":[{"delta":{"content":"","reasoning":"hm"}}]}`, `{"choices":[{"delta":{"content":"Hi"},"finish_reason":"content_filter"}]}`, "[DONE]"),
			[]string{"thought hm", "text Hi", "stop filtered"}},
		"no [DONE], CRLF": {strings.ReplaceAll("data:"+`{"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}`+"\n\n", "\n", "\r\n"), []string{"text Hi", "stop "}},
		"a server that does not stream": {"{\n" + `"choices":[{"message":{"role":"assistant","content":"Hi","tool_calls":[{"id":"a","function":{"name":"read","arguments":"{}"}}]},"finish_reason":"stop"}],"usage":{"total_tokens":9}` + "}\n",
			[]string{"text Hi", "usage 9", "stop ", "call a read({})"}},
		"an empty answer": {data(`{"choices":[{"delta":{"content":null},"finish_reason":"stop"}],"usage":null}`, "[DONE]"), []string{"stop "}},
	} {
		t.Run(name, func(t *testing.T) {
			url := serve(t, answering(200, tt.body))
			got, err := events(t, chat.New(&chat.Options{BaseURL: url + "/v1", Model: "m"}), hello)
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
}

// Each wrong setting and each fault of a server has an error of one sentence. No error contains the
// key. Without MODEL the first request is for the list of models, and its errors have the same texts.
func TestErrors(t *testing.T) {
	const key = "sk-secret-key"
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/models") {
				answering(200, `{"data":[{"id":"a"},{"id":"b"}]}`)(w, r)
				return
			}
			answering(code, body)(w, r)
		}
	}
	for name, tt := range map[string]struct {
		base, key, model string
		h                http.HandlerFunc
		want             string
	}{
		"unset":                 {model: "m", want: "Set BASE_URL to the address"},
		"no scheme":             {base: "localhost:11434", model: "m", want: "BASE_URL must begin with http:// or https://"},
		"refused":               {base: "http://127.0.0.1:1/v1", model: "m", want: "127.0.0.1:1 cannot be reached: connection refused. Is the server running?"},
		"not found host":        {base: "http://no-such-host.invalid/v1", model: "m", want: "the host of BASE_URL, no-such-host.invalid, cannot be found"},
		"nothing there":         {h: http.NotFound, model: "m", want: "has nothing at"},
		"a page":                {h: status(200, "<!doctype html><html>"), model: "m", want: "BASE_URL leads to a web page"},
		"a page, 404":           {h: status(404, "<html>"), model: "m", want: "BASE_URL leads to a web page"},
		"no key":                {h: status(401, `{"error":{"message":"Missing bearer"}}`), model: "m", want: "wants a key: Missing bearer. Set API_KEY"},
		"wrong key":             {h: status(401, `{"error":{"message":"Incorrect API key provided: `+key+`"}}`), key: key, model: "m", want: "rejects API_KEY (status 401): Incorrect API key provided: [API_KEY]"},
		"unknown model":         {h: status(404, `{"error":{"message":"model 'm' not found"}}`), model: "m", want: "does not know the model m; it has the models a, b"},
		"no model":              {h: status(500, ""), want: "MODEL is not set, and"},
		"no model, wrong key":   {h: answering(401, `{"error":{"message":"Incorrect API key provided: `+key+`"}}`), key: key, want: "rejects API_KEY (status 401): Incorrect API key provided: [API_KEY]"},
		"no model, no server":   {base: "http://127.0.0.1:1/v1", want: "127.0.0.1:1 cannot be reached: connection refused. Is the server running?"},
		"no model, no list":     {h: http.NotFound, want: "MODEL is not set, and"},
		"no model, a page, 404": {h: answering(404, "<html>"), want: "BASE_URL leads to a web page"},
		"no model, a page":      {h: answering(200, "<html>"), want: "BASE_URL leads to a web page"},
		"no model, no key":      {h: answering(401, `{"error":{"message":"Missing bearer"}}`), want: "wants a key: Missing bearer. Set API_KEY"},
		"no model, other":       {h: answering(500, `{"detail":"no"}`), want: "has answered with status 500: no"},
		"no model, none listed": {h: answering(200, `{"data":[]}`), want: "MODEL is not set, and"},
		"no model, not a list":  {h: answering(200, `[`), want: "is not JSON"},
		"no model, other list":  {h: answering(200, `{"data":null}`), want: "has no models: set it to one of them"},
		"wrong path, JSON":      {h: answering(404, `{"detail":"Not Found"}`), model: "m", want: "/chat/completions: Not Found. See whether BASE_URL and MODEL are right: BASE_URL usually ends in /v1"},
		"no tools":              {h: status(400, `{"error":{"message":"registry.ollama.ai/library/m does not support tools"}}`), model: "m", want: "the model m cannot call tools"},
		"quota":                 {h: status(402, `{"error":{"message":"Insufficient credits"}}`), model: "m", want: "wants to be paid (status 402): Insufficient credits. Add credit"},
		"other":                 {h: status(500, `{"detail":"`+strings.Repeat("x", 500)+`"}`), model: "m", want: "has answered with status 500: " + strings.Repeat("x", 299) + "…"},
		"junk":                  {h: answering(200, "data: {\n\n"), model: "m", want: "ended in the middle"},
		"cut":                   {h: answering(200, `data: {"choices":[{"delta":{"content":"Hi"}}]}`+"\n\n"), model: "m", want: "ended in the middle"},
		"error in mid-stream":   {h: answering(200, data(`{"choices":[{"delta":{"content":"Hi"}}]}`, `{"error":{"message":"overloaded"}}`)), model: "m", want: "has ended its answer with an error: overloaded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fails := func(t *testing.T, opts *chat.Options) {
				opts.Key, opts.Model = tt.key, tt.model
				_, err := events(t, chat.New(opts), hello)
				assert.Contains(t, sentence(t, err), tt.want)
				assert.NotContains(t, err.Error(), key)
			}
			if tt.h == nil {
				fails(t, &chat.Options{BaseURL: tt.base})
				return
			}
			inBubble(t, tt.h, fails)
		})
	}
}

func TestTooLong(t *testing.T) {
	for _, body := range []string{
		`{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}`,
		`{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`,
	} {
		url := serve(t, answering(400, body))
		_, err := events(t, chat.New(&chat.Options{BaseURL: url, Model: "m"}), hello)
		assert.ErrorIs(t, err, loop.ErrTooLong)
		code, _ := rpcerr.CodeOf(err)
		assert.Equal(t, kind.ContextTooLarge.Code(), code)
	}
}

// The base URL may lack /v1 or contain the whole path. If the server has only one model, that one
// is used.
func TestFindsTheServer(t *testing.T) {
	findsAt(t, http.NotFound)
	findsAt(t, func(w http.ResponseWriter, r *http.Request) { // the response of OpenAI
		answering(404, `{"error":{"message":"Invalid URL (`+r.Method+" "+r.URL.Path+`)"}}`)(w, r)
	})
	findsAt(t, answering(404, `{"detail":"Not Found"}`)) // the response of vLLM
}

func findsAt(t *testing.T, elsewhere http.HandlerFunc) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/models":
			io.WriteString(w, `{"data":[{"id":"only"}]}`)
		case "/v1/chat/completions":
			var req struct{ Model string }
			_ = json.NewDecoder(r.Body).Decode(&req)
			io.WriteString(w, data(`{"choices":[{"delta":{"content":"I am `+req.Model+`"},"finish_reason":"stop"}]}`))
		default:
			elsewhere(w, r)
		}
	})
	for _, base := range []string{"", "/", "/v1", "/v1/", "/v1/chat/completions"} {
		got, err := events(t, chat.New(&chat.Options{BaseURL: url + base}), hello)
		require.NoError(t, err, base)
		assert.Equal(t, []string{"text I am only", "stop "}, got, base)
	}
}

// A request to a busy server is repeated if the answer has not begun.
func TestRetry(t *testing.T) {
	n := 0
	inBubble(t, func(w http.ResponseWriter, _ *http.Request) {
		if n++; n < 4 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(429)
			return
		}
		io.WriteString(w, data(`{"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}`))
	}, func(t *testing.T, opts *chat.Options) {
		began := time.Now()
		got, err := events(t, chat.New(opts), hello)
		require.NoError(t, err)
		assert.Equal(t, []string{"text Hi", "stop "}, got)
		assert.Equal(t, 7*time.Second, time.Since(began), "each wait is twice the one before")
	})
}

// The end of ctx aborts the request.
func TestCancel(t *testing.T) {
	aborted := make(chan struct{})
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, data(`{"choices":[{"delta":{"content":"Hi"}}]}`))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(aborted)
	})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for e, err := range chat.New(&chat.Options{BaseURL: url, Model: "m"}).Generate(ctx, hello) {
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
			break
		}
		require.Equal(t, loop.Text("Hi"), e)
		cancel()
	}
	<-aborted
}

// A request contains calls and their results, images, and a call whose input is not an object.
func TestRequest(t *testing.T) {
	var body string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		body = string(raw)
		assert.Equal(t, "Bearer k", r.Header.Get("Authorization"))
		io.WriteString(w, data("[DONE]"))
	})
	_, err := events(t, chat.New(&chat.Options{BaseURL: url, Key: "k", Model: "m"}), &loop.Request{
		Model: "chosen", System: "Be brief.",
		Messages: []loop.Message{
			{Role: loop.User, Parts: []tools.Part{{Text: "see"}, {MIMEType: "image/png", Data: []byte("x")}}},
			{Role: loop.Assistant, Calls: []loop.Call{{ID: "a", Name: "read", Input: json.RawMessage(`"{"`)}}},
			{Role: loop.Results, Results: []loop.Result{{ID: "a", Name: "read", Parts: []tools.Part{{Text: "no"}}, Failed: true}}},
		},
		Tools: []tools.Tool{{Name: "read", Description: "Reads.", Schema: json.RawMessage(`{"type":"object"}`)}},
	})
	require.NoError(t, err)
	assert.JSONEq(t, `{"model":"chosen","stream":true,"stream_options":{"include_usage":true},"messages":[
		{"role":"system","content":"Be brief."},
		{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,eA=="}}]},
		{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{\"input\":\"{\"}"}}]},
		{"role":"tool","tool_call_id":"a","content":"no"}],
		"tools":[{"type":"function","function":{"name":"read","description":"Reads.","parameters":{"type":"object"}}}]}`, body)
}

// The templates of Mistral and Gemma refuse two messages of the user in a row ("conversation roles
// must alternate"), even with calls and results between them. An answer is inserted where the
// model's answer was empty, was cancelled or failed.
func TestRolesAlternate(t *testing.T) {
	var body struct {
		Messages []struct{ Role string }
	}
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&body))
		io.WriteString(w, data("[DONE]"))
	})
	user := loop.Message{Role: loop.User, Parts: []tools.Part{{Text: "go"}}}
	says := loop.Message{Role: loop.Assistant, Parts: []tools.Part{{Text: "Yes."}}}
	calls := loop.Message{Role: loop.Assistant, Calls: []loop.Call{{ID: "a", Name: "look"}}}
	image := loop.Message{Role: loop.Results, Results: []loop.Result{{ID: "a", Name: "look", Parts: []tools.Part{{MIMEType: "image/png", Data: []byte("x")}}}}}
	text := loop.Message{Role: loop.Results, Results: []loop.Result{{ID: "a", Name: "look", Parts: []tools.Part{{Text: "none"}}}}}
	for want, messages := range map[string][]loop.Message{
		"system user assistant user":                               {user, says, user},
		"system user assistant user assistant user":                {user, user, user},
		"system user assistant tool assistant user":                {user, calls, text, user},
		"system user assistant tool":                               {user, calls, text},
		"system user assistant tool assistant user assistant user": {user, calls, image, says},
	} {
		body.Messages = nil
		_, err := events(t, chat.New(&chat.Options{BaseURL: url, Model: "m"}), &loop.Request{System: "Be brief.", Messages: messages})
		require.NoError(t, err)
		var roles []string
		for _, m := range body.Messages {
			roles = append(roles, m.Role)
		}
		assert.Equal(t, want, strings.Join(roles, " "))
	}
}
