package chat_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/agent/loop/chat"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// sent is a request, as far as tests look at it.
type sent struct {
	Model    string
	Messages []map[string]any
	raw      string
}

// strict is a server that refuses what services refuse. It records the requests, and answers each
// accepted one with the next answer.
type strict struct {
	t       *testing.T
	answers []string
	refuse  func(s sent) (status int, body string) // further refusals; status 0 is none

	mu   sync.Mutex
	all  []sent
	took int // answers that were sent
}

var valid = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func (s *strict) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		io.WriteString(w, `{"data":[{"id":"m","context_length":1000}]}`)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	var req sent
	assert.NoError(s.t, json.Unmarshal(body, &req))
	req.raw = string(body)
	s.all = append(s.all, req)
	for _, problem := range problems(req) {
		s.t.Errorf("request %d: %s", len(s.all), problem)
	}
	if s.refuse != nil {
		if status, text := s.refuse(req); status != 0 {
			w.WriteHeader(status)
			io.WriteString(w, text)
			return
		}
	}
	if s.took == len(s.answers) {
		s.t.Errorf("request %d has no answer: %s", len(s.all), body)
		return
	}
	s.took++
	io.WriteString(w, s.answers[s.took-1])
}

// problems returns what a service would refuse in a request.
func problems(req sent) (all []string) {
	open := map[any]bool{}
	used := map[any]bool{}
	last := ""
	for i, m := range req.Messages {
		role := m["role"].(string)
		if role == "user" && (last == "user" || last == "tool") || role == "assistant" && last == "assistant" || role != "tool" && len(open) > 0 {
			all = append(all, fmt.Sprintf("message %d is of %s after %s", i, role, last))
		}
		if content, ok := m["content"].(string); m["content"] == nil && m["tool_calls"] == nil || ok && strings.TrimSpace(content) == "" && m["tool_calls"] == nil {
			all = append(all, fmt.Sprintf("message %d has no content", i))
		}
		if calls, ok := m["tool_calls"].([]any); ok {
			for _, c := range calls {
				c := c.(map[string]any)
				f := c["function"].(map[string]any)
				var object map[string]any
				switch {
				case used[c["id"]]:
					all = append(all, fmt.Sprintf("the id %v comes twice", c["id"]))
				case !valid.MatchString(f["name"].(string)):
					all = append(all, fmt.Sprintf("the name %q is not valid", f["name"]))
				case json.Unmarshal([]byte(f["arguments"].(string)), &object) != nil:
					all = append(all, fmt.Sprintf("the arguments %q are no object", f["arguments"]))
				}
				open[c["id"]], used[c["id"]] = true, true
			}
		}
		if id := m["tool_call_id"]; role == "tool" && !open[id] {
			all = append(all, fmt.Sprintf("the result %v has no call", id))
		} else if role == "tool" {
			delete(open, id)
		}
		last = role
	}
	if last == "assistant" || len(open) > 0 {
		all = append(all, "it ends with the assistant")
	}
	return all
}

// answers joins deltas to an answer.
func deltas(reason string, all ...string) string {
	text := ""
	for _, d := range all {
		text += data(`{"choices":[{"delta":` + d + `}]}`)
	}
	return text + data(`{"choices":[{"delta":{},"finish_reason":"`+reason+`"}]}`, "[DONE]")
}

func callOf(id, name, arguments, more string) string {
	f, _ := json.Marshal(map[string]any{"name": name, "arguments": arguments})
	return fmt.Sprintf(`{"tool_calls":[{"index":0,"id":%q,"function":%s%s}]}`, id, f, more)
}

// viewer is a client that joins what it is told.
type viewer struct {
	acp.Client
	mu    sync.Mutex
	text  string
	usage *acp.UsageUpdate
}

func (v *viewer) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch u := n.Update.(type) {
	case *acp.AgentMessageChunk:
		v.text += acp.PlainText(u.Content)
	case *acp.UsageUpdate:
		v.usage = u
	}
	return nil
}

// talk serves an agent with the model of the server, and sends prompts in one session. It returns what
// the person has read, and the error of the last prompt.
func talk(t *testing.T, s *strict, prompts ...[]acp.ContentBlock) (*viewer, error) {
	s.t = t
	m := chat.New(&chat.Options{BaseURL: serve(t, s.ServeHTTP) + "/v1", Model: "m"})
	read := tools.Typed("read", "Reads.", func(context.Context, *tools.Call, struct{}) (tools.Result, error) {
		return tools.Result{Model: []tools.Part{{Text: ""}, {MIMEType: "image/png", Data: []byte("x")}}}, nil
	})
	read.Effect = tools.Reads
	a := kit.New(&kit.Options{Turn: loop.New(m, nil).Turn, Settings: kit.Settings{m.Setting()}, Images: m.Images, Tools: func(*kit.Session) []tools.Tool { return []tools.Tool{read} }})
	v := &viewer{}
	conn := peertest.Connect(t, a.Serve, v, nil)
	session, err := conn.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: t.TempDir()})
	require.NoError(t, err)
	for i, p := range prompts {
		if _, err = conn.Prompt(t.Context(), &acp.PromptRequest{SessionID: session.SessionID, Prompt: p}); i < len(prompts)-1 {
			require.NoError(t, err)
		}
	}
	return v, err
}

func prompt(text string) []acp.ContentBlock { return []acp.ContentBlock{acp.Text(text)} }

// Whatever a model has called, later requests are acceptable and the call has its result.
func TestOddCalls(t *testing.T) {
	for _, call := range []string{
		callOf("a", `functions.read file("a")`, `{}`, ""), callOf("a", "", `{}`, ""), callOf("a", strings.Repeat("läng", 114), `{"a":`, ""),
		callOf("a", `"read"`, `[1]`, ""), callOf(strings.Repeat("i", 200), "read", `"{}"`, ""), callOf("a b\\u0000", "read", "null", ""), callOf("", "read", "", ""),
		callOf("a", "read", `{"a":`+strings.Repeat("[", 1001)+strings.Repeat("]", 1001)+`}`, ""), callOf("a", "nope", `not JSON`, ""),
	} {
		s := &strict{answers: []string{deltas("tool_calls", call), deltas("tool_calls", call), deltas("stop", `{"content":"Ok."}`), deltas("stop", `{"content":"Bye."}`)}}
		v, err := talk(t, s, prompt("one"), prompt("two"))
		require.NoError(t, err, call)
		assert.Equal(t, "Ok.Bye.", v.text, call)
		assert.Len(t, s.all, 4)
	}
}

// What services want back with a message is sent back to the model that made it.
func TestKept(t *testing.T) {
	for want, answer := range map[string]string{
		`"reasoning_content":"Let me see."`:                      deltas("tool_calls", `{"reasoning_content":"Let me "}`, `{"reasoning_content":"see."}`, callOf("a", "read", "{}", "")),
		`"reasoning":"hm"`:                                       deltas("tool_calls", `{"reasoning":"hm"}`, callOf("a", "read", "{}", "")),
		`"extra_content":{"google":{"thought_signature":"SIG"}}`: deltas("tool_calls", callOf("a", "read", "{}", `,"extra_content":{"google":{"thought_signature":"SIG"}}`)),
		`"reasoning_details":[{"index":0,"signature":"S","text":"ab","type":"reasoning.text"}]`: deltas("tool_calls", `{"reasoning_details":[{"type":"reasoning.text","text":"a","index":0}]}`, `{"reasoning_details":[{"type":"reasoning.text","text":"b","signature":"S","index":0}]}`, callOf("a", "read", "{}", "")),
	} {
		s := &strict{answers: []string{answer, deltas("stop", `{"content":"Ok."}`), deltas("stop", `{"content":"Bye."}`)}}
		_, err := talk(t, s, prompt("one"), prompt("two"))
		require.NoError(t, err)
		assert.NotContains(t, s.all[0].raw, want)
		assert.Contains(t, s.all[1].raw, want)
		assert.Contains(t, s.all[2].raw, want)
	}
}

// After a change of the model, what the first one wanted back is left out.
func TestChangeOfModel(t *testing.T) {
	var opaque json.RawMessage
	s := &strict{t: t, answers: []string{deltas("tool_calls", `{"reasoning":"hm"}`, callOf("a", "read", "{}", "")), deltas("stop", `{"content":"Ok."}`)}}
	m := chat.New(&chat.Options{BaseURL: serve(t, s.ServeHTTP), Model: "m"})
	for e, err := range m.Generate(t.Context(), hello) {
		require.NoError(t, err)
		if stop, ok := e.(loop.Stop); ok {
			opaque = stop.Opaque
		}
	}
	require.NotNil(t, opaque)
	next := &loop.Request{Model: "other", Messages: append(hello.Messages, loop.Message{Role: loop.Assistant, Calls: []loop.Call{{ID: "a", Name: "read"}}, Opaque: opaque})}
	_, err := events(t, m, next)
	require.NoError(t, err)
	assert.NotContains(t, s.all[1].raw, "hm")
}

// What a service refuses is left out, or sent in another form, from then on.
func TestChanges(t *testing.T) {
	thinks := deltas("tool_calls", `{"reasoning_content":"hm"}`, callOf("a", "read", "{}", ""))
	for name, tt := range map[string]struct {
		has, body string // what is refused, and in which words
		status    int
	}{
		"stream_options, FastAPI":       {`"stream_options"`, `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`, 422},
		"reasoning_content, Cerebras":   {`"reasoning_content"`, `{"message":"messages.1.assistant.reasoning_content: property 'messages.1.assistant.reasoning_content' is unsupported"}`, 400},
		"reasoning_content, Groq":       {`"reasoning_content"`, `{"error":{"message":"'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]"}}`, 400},
		"reasoning_content, Mistral":    {`"reasoning_content"`, `{"detail":[{"type":"extra_forbidden","loc":["body","messages",1,"assistant","reasoning_content"],"msg":"Extra inputs are not permitted"}]}`, 422},
		"reasoning_content, no body":    {`"reasoning_content"`, ``, 400},
		"content that is null, Baidu":   {`"content":null`, `{"error":{"message":"messages.1.content is required"}}`, 400},
		"images, OpenRouter":            {`"image_url"`, `{"error":{"message":"No endpoints found that support image input","code":404}}`, 404},
		"images, DeepSeek":              {`"image_url"`, "Failed to deserialize the JSON body: messages[1]: unknown variant `image_url`, expected `text`", 400},
		"images, llama.cpp":             {`"image_url"`, `{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"}}`, 500},
		"images, a provider of another": {`"image_url"`, `{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"This model does not support image input\"}}"}}}`, 400},
		"images, a schema":              {`"image_url"`, `{"error":{"message":"messages[1].content: invalid type: sequence, expected a string"}}`, 400},
	} {
		t.Run(name, func(t *testing.T) {
			refused := 0
			s := &strict{answers: []string{thinks, deltas("stop", `{"content":"Ok."}`), deltas("stop", `{"content":"Bye."}`)}}
			s.refuse = func(req sent) (int, string) {
				if !strings.Contains(req.raw, tt.has) {
					return 0, ""
				}
				refused++
				return tt.status, tt.body
			}
			image := &acp.ImageContent{MIMEType: "image/png", Data: "eA=="}
			v, err := talk(t, s, []acp.ContentBlock{acp.Text("see"), image}, prompt("two"))
			require.NoError(t, err)
			assert.Equal(t, 1, refused)
			if strings.HasPrefix(name, "images") {
				assert.Equal(t, "The model m takes no images: they are left out, and a sentence takes their place.Ok.Bye.", v.text)
				assert.Contains(t, s.all[len(s.all)-1].raw, "[image/png that this model cannot read]")
			} else {
				assert.Equal(t, "Ok.Bye.", v.text)
			}
		})
	}
}

// Services that want thoughts or signatures that another model has not made get a stand-in.
func TestStandIns(t *testing.T) {
	for has, body := range map[string]string{
		`"reasoning_content":" "`: `{"error":{"message":"thinking is enabled but reasoning_content is missing in assistant tool call message at index 1"}}`,
		`"thought_signature"`:     `[{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts."}}]`,
	} {
		s := &strict{answers: []string{deltas("tool_calls", callOf("a", "read", "{}", "")), deltas("stop", `{"content":"Ok."}`)}}
		s.refuse = func(req sent) (int, string) {
			if strings.Contains(req.raw, "tool_calls") && !strings.Contains(req.raw, has) {
				return 400, body
			}
			return 0, ""
		}
		_, err := talk(t, s, prompt("one"))
		require.NoError(t, err)
		assert.Len(t, s.all, 3)
	}
}

// A request has what the options say, and no key of the URL is shown.
func TestOptions(t *testing.T) {
	var path, body string
	var header http.Header
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		path, body, header = r.URL.String(), string(raw), r.Header
		w.WriteHeader(400)
		io.WriteString(w, `see https://user:pass@example.com/help?key=QUERYSECRET and QUERYSECRET, HEADERSECRET, sk-12345678`)
	})
	m := chat.New(&chat.Options{
		BaseURL: strings.Replace(url, "http://", "http://me:PASSWORDSECRET@", 1) + "/openai/deployments/x?api-version=1&key=QUERYSECRET", Model: "m", MaxTokens: 5, Temperature: new(0.5), Key: "sk-12345678",
		Header: http.Header{"X-Secret": {"HEADERSECRET"}}, Extra: map[string]any{"top_p": 0.1, "stream_options": nil},
	})
	_, err := events(t, m, hello)
	assert.Equal(t, "/openai/deployments/x/chat/completions?api-version=1&key=QUERYSECRET", path)
	assert.JSONEq(t, `{"model":"m","messages":[{"role":"user","content":"hi"}],"stream":true,"max_tokens":5,"temperature":0.5,"top_p":0.1}`, body)
	assert.Equal(t, "HEADERSECRET", header.Get("X-Secret"))
	text := fmt.Sprintf("%v %+v", err, errors.Unwrap(err))
	assert.Contains(t, text, "see https://example.com/help and [API_KEY], [API_KEY], [API_KEY]")
	assert.NotRegexp(t, "SECRET|pass@|sk-1234", text)
}

// No text has the key, whole or in part, and a short key hides nothing else.
func TestSecrets(t *testing.T) {
	const key = "sk-abcdefghijklmnopqrstuvwxyz"
	for said, tt := range map[string]struct{ key, want string }{
		"bad " + key + "!":                           {key, "bad [API_KEY]!"},
		"bad sk-ab******wxyz.":                       {key, "bad [API_KEY]."},
		"bad " + key[:12] + " " + key[15:]:           {key, "bad [API_KEY] [API_KEY]"},
		strings.Repeat("x ", 140) + key:              {key, "x x [API_KEY]"},
		"Invalid API key: key; the key is too short": {"key", "Invalid API key: [API_KEY]; the key is too short"},
		"an x in example, Bearer x, 'x'":             {"x", "an x in example, Bearer [API_KEY], '[API_KEY]'"},
	} {
		quoted, _ := json.Marshal(said)
		m := chat.New(&chat.Options{BaseURL: serve(t, answering(400, `{"error":{"message":`+string(quoted)+`}}`)), Key: tt.key, Model: "m"})
		_, err := events(t, m, hello)
		assert.Contains(t, err.Error(), tt.want)
		if len(tt.key) > 8 {
			for i := range len(key) - 8 {
				assert.NotContains(t, fmt.Sprint(err, errors.Unwrap(err)), key[i:i+8])
			}
		}
	}
}

// A program can tell what to do from the record of an error.
func TestRecords(t *testing.T) {
	for _, tt := range []struct {
		status int
		after  string
		want   kind.Advice
		code   rpcerr.Code
	}{
		{401, "", kind.Advice{Action: kind.ActionAskUser}, kind.CodeUnauthorized},
		{402, "", kind.Advice{Action: kind.ActionAskUser}, kind.Forbidden.Code()},
		{403, "", kind.Advice{Action: kind.ActionAskUser}, kind.Forbidden.Code()},
		{404, "", kind.Advice{Action: kind.ActionFixInput}, kind.NotFound.Code()},
		{413, "", kind.Advice{Action: kind.ActionFixInput}, kind.ContextTooLarge.Code()},
		{429, "99.5", kind.Advice{Action: kind.ActionWait, After: 99500 * time.Millisecond}, kind.RateLimited.Code()},
		{503, "60", kind.Advice{Action: kind.ActionWait, After: time.Minute}, kind.ServiceUnavailable.Code()},
		{529, "60", kind.Advice{Action: kind.ActionWait, After: time.Minute}, kind.ServiceUnavailable.Code()},
	} {
		url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", tt.after)
			w.WriteHeader(tt.status)
		})
		_, err := events(t, chat.New(&chat.Options{BaseURL: url + "/v1", Model: "m", Key: "k"}), hello)
		advice := kind.AdviceFor(err)
		assert.NotEmpty(t, advice.Hint, tt.status)
		advice.Hint = ""
		assert.Equal(t, tt.want, advice, tt.status)
		code, _ := rpcerr.CodeOf(err)
		assert.Equal(t, tt.code, code, tt.status)
	}
}

// Each limit of time ends an answer with a sentence.
func TestLimitsOfTime(t *testing.T) {
	for want, o := range map[string]chat.Options{
		"has not begun to answer within 20ms":          {FirstByte: 20 * time.Millisecond},
		"has not sent more of its answer within 150ms": {Silence: 150 * time.Millisecond, FirstByte: -1},
		"has not ended its answer within 200ms":        {Whole: 200 * time.Millisecond},
		"has not begun to answer within 30ms":          {FirstByte: 30 * time.Millisecond, Silence: 10 * time.Millisecond},
	} {
		o.BaseURL, o.Model = serve(t, func(w http.ResponseWriter, r *http.Request) {
			if o.Silence == 10*time.Millisecond {
				io.WriteString(w, ": the prompt is read\n\n")
				w.(http.Flusher).Flush()
			}
			if o.FirstByte <= 0 {
				io.WriteString(w, data(`{"choices":[{"delta":{"content":"He"}}]}`))
				w.(http.Flusher).Flush()
			}
			_, _ = io.Copy(io.Discard, r.Body) // so that the server notices the end of the connection
			<-r.Context().Done()
		}), "m"
		_, err := events(t, chat.New(&o), hello)
		assert.ErrorContains(t, err, want)
		assert.ErrorIs(t, err, kind.Timeout)
	}
}

// A window that the server's list has is part of the usage.
func TestWindow(t *testing.T) {
	s := &strict{answers: []string{data(`{"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":1}}`)}}
	v, err := talk(t, s, prompt("one"))
	require.NoError(t, err)
	assert.Equal(t, &acp.UsageUpdate{Used: 8, Size: 1000}, v.usage)
}

// What a server sends is limited, whatever it is.
func TestFloods(t *testing.T) {
	for name, piece := range map[string]string{
		"comments":            ": " + strings.Repeat("x", 8<<10) + "\n\n",
		"events without data": "event: " + strings.Repeat("x", 8<<10) + "\n\n",
		"empty deltas":        data(`{"choices":[{"delta":{},"x":"` + strings.Repeat("x", 8<<10) + `"}]}`),
		"one event":           "data: " + strings.Repeat("x", 8<<10) + "\n",
		"a text":              strings.Repeat("x", 8<<10) + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				for r.Context().Err() == nil {
					if _, err := io.WriteString(w, piece); err != nil {
						return
					}
				}
			})
			_, err := events(t, chat.New(&chat.Options{BaseURL: url, Model: "m"}), hello)
			assert.ErrorContains(t, err, "16 MiB")
		})
	}
}

// A long wait is told, and the request is then sent again.
func TestLongWait(t *testing.T) {
	n := 0
	inBubble(t, func(w http.ResponseWriter, _ *http.Request) {
		if n++; n == 1 {
			w.Header().Set("Retry-After", "5")
			w.WriteHeader(503)
			return
		}
		io.WriteString(w, deltas("stop", `{"content":"Hi"}`))
	}, func(t *testing.T, opts *chat.Options) {
		began := time.Now()
		var notices []loop.Event
		for e, err := range chat.New(opts).Generate(t.Context(), hello) {
			require.NoError(t, err)
			if n, ok := e.(loop.Notice); ok {
				notices = append(notices, n)
			}
		}
		require.Len(t, notices, 1)
		assert.Contains(t, notices[0], "is busy: the request is sent again in 5s.")
		assert.Equal(t, 5*time.Second, time.Since(began))
	})
}

// Whether a model takes images is what the server says, and true if it does not say.
func TestImages(t *testing.T) {
	for list, want := range map[string]bool{
		`{"data":[{"id":"m","architecture":{"input_modalities":["text"]}}]}`:         false,
		`{"data":[{"id":"m","architecture":{"input_modalities":["text","image"]}}]}`: true,
		`{"data":[{"id":"m","capabilities":{"vision":false}}]}`:                      false,
		`{"data":[],"models":[{"name":"m","capabilities":["completion"]}]}`:          false,
		`{"models":[{"name":"m","capabilities":["completion","multimodal"]}]}`:       true,
		`{"data":[{"id":"m"}]}`:                  true,
		`{"data":[{"id":"x"}]}`:                  true,
		`nothing`:                                true,
		`[{"id":"m","input_modalities":"text"}]`: false,
	} {
		assert.Equal(t, want, chat.New(&chat.Options{BaseURL: serve(t, answering(200, list)), Model: "m"}).Images(t.Context()), list)
	}
	assert.True(t, chat.New(nil).Images(t.Context()))
}
