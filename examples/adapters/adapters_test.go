package adapters

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/stream"
)

// service plays a service: it answers each request with the next body, as one status and stream.
type service struct {
	model   func(t *testing.T, url string) loop.Model
	bodies  []string
	status  int
	mu      sync.Mutex
	asked   []map[string]any // the requests
	aborted chan struct{}    // closed when a request whose body ends with "WAIT" is aborted
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	var asked map[string]any
	_ = json.Unmarshal(body, &asked)
	s.asked = append(s.asked, asked)
	answer := s.bodies[min(len(s.asked), len(s.bodies))-1]
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	if s.status != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(s.status)
	}
	answer, waits := strings.CutSuffix(answer, "WAIT")
	_, _ = io.WriteString(w, answer)
	w.(http.Flusher).Flush()
	if waits {
		<-r.Context().Done()
		close(s.aborted)
	}
}

func (s *service) start(t *testing.T) loop.Model {
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.aborted = make(chan struct{})
	return s.model(t, server.URL)
}

func claude(_ *testing.T, url string) loop.Model {
	return &Anthropic{
		Client: anthropic.NewClient(option.WithBaseURL(url), option.WithAPIKey("key"), option.WithMaxRetries(0)),
		Params: anthropic.MessageNewParams{Model: "claude-test", MaxTokens: 1000},
	}
}

func gemini(t *testing.T, url string) loop.Model {
	c, err := genai.NewClient(t.Context(), &genai.ClientConfig{APIKey: "key", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: url}})
	require.NoError(t, err)
	return &GenAI{Client: c, Model: "gemini-test"}
}

// named returns events with the names that Anthropic sends beside their types.
func named(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		var typed struct{ Type string }
		_ = json.Unmarshal([]byte(e), &typed)
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", typed.Type, e)
	}
	return b.String()
}

func data(events ...string) string {
	return "data: " + strings.Join(events, "\r\n\r\ndata: ") + "\r\n\r\n"
}

const (
	claudeStart = `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"model":"claude-test","stop_reason":null,"usage":{"input_tokens":10,"cache_read_input_tokens":5,"output_tokens":1}}}`
	claudeText  = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	claudeHal   = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hal"}}`
	claudeStop  = `{"type":"message_stop"}`
)

func claudeEnd(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `","stop_sequence":null},"usage":{"output_tokens":7}}`
}

func geminiChunk(parts, finish string) string {
	return `{"candidates":[{"content":{"role":"model","parts":[` + parts + `]},"finishReason":"` + finish + `"}],"usageMetadata":{"totalTokenCount":22}}`
}

// person records what a client shows.
type person struct {
	mu            sync.Mutex
	text, thought string
	used          uint64 // tokens of the last turn
}

func (p *person) SessionUpdate(_ context.Context, n *acp.SessionNotification) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch u := n.Update.(type) {
	case *acp.AgentMessageChunk:
		p.text += acp.PlainText(u.Content)
	case *acp.AgentThoughtChunk:
		p.thought += acp.PlainText(u.Content)
	}
	return nil
}

func (p *person) RequestPermission(context.Context, *acp.RequestPermissionRequest) (*acp.RequestPermissionResponse, error) {
	return nil, fmt.Errorf("nothing here needs permission")
}

type pathInput struct {
	Path string `json:"path" validate:"required"`
}

// talk serves a kit with the model and sends prompts, each of a text and an image.
func talk(t *testing.T, m loop.Model, p *person, prompts ...string) (stop acp.StopReason) {
	t.Helper()
	look := tools.Typed("look", "Looks.", func(_ context.Context, _ *tools.Call, in pathInput) (tools.Result, error) {
		if in.Path == "none" {
			return tools.Result{}, tools.Failf("there is none")
		}
		return tools.Result{Model: []tools.Part{{Text: "a picture"}, {MIMEType: "image/png", Data: []byte("PNG")}}}, nil
	})
	look.Effect = tools.Reads
	a := kit.New(&kit.Options{
		Turn:  loop.New(m, &loop.Options{System: func(*kit.Session) string { return "Be brief." }}).Turn,
		Tools: func(*kit.Session) []tools.Tool { return []tools.Tool{look} },
	})
	ours, theirs := stream.Pipe()
	served := make(chan error, 1)
	go func() { served <- a.Serve(context.Background(), theirs) }() // ends with the connection
	conn, err := client.Connect(t.Context(), ours, func(*client.Conn) acp.Client { return p }, nil)
	require.NoError(t, err)
	defer func() {
		conn.Close()
		<-served
	}()
	session, err := conn.NewSession(t.Context(), &acp.NewSessionRequest{Cwd: t.TempDir()})
	require.NoError(t, err)
	for _, text := range prompts {
		res, err := conn.Prompt(t.Context(), &acp.PromptRequest{
			SessionID: session.SessionID, Prompt: []acp.ContentBlock{acp.Text(text), &acp.ImageContent{MIMEType: "image/png", Data: "UE5H"}},
		})
		require.NoError(t, err)
		if res.Usage != nil {
			p.used = res.Usage.TotalTokens
		}
		stop = res.StopReason
	}
	return stop
}

// A whole turn with thoughts, two calls and their results; the next request has all of it,
// signatures included.
func TestTurn(t *testing.T) {
	for name, tt := range map[string]struct {
		*service
		key  string // of the messages in a request
		want string
		used uint64
	}{
		"anthropic": {
			service: &service{model: claude, bodies: []string{
				named(claudeStart,
					`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
					`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Let me "}}`, `{"type":"ping"}`,
					`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"look."}}`,
					`{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"SIGNED"}}`,
					`{"type":"content_block_stop","index":0}`,
					`{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"HIDDEN"}}`, `{"type":"content_block_stop","index":1}`,
					`{"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}`,
					`{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"I "}}`,
					`{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"look."}}`, `{"type":"content_block_stop","index":2}`,
					`{"type":"content_block_start","index":3,"content_block":{"type":"text","text":""}}`,
					`{"type":"content_block_delta","index":3,"delta":{"type":"text_delta","text":"\n"}}`, `{"type":"content_block_stop","index":3}`,
					`{"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"a","name":"look","input":{}}}`,
					`{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":""}}`,
					`{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"{\"pa"}}`,
					`{"type":"content_block_delta","index":4,"delta":{"type":"input_json_delta","partial_json":"th\":\"x\"}"}}`, `{"type":"content_block_stop","index":4}`,
					`{"type":"content_block_start","index":5,"content_block":{"type":"tool_use","id":"b","name":"look","input":{}}}`,
					`{"type":"content_block_delta","index":5,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\"none\"}"}}`, `{"type":"content_block_stop","index":5}`,
					claudeEnd("tool_use"), claudeStop),
				named(claudeStart, claudeText, claudeHal, `{"type":"content_block_stop","index":0}`, claudeEnd("max_tokens"), claudeStop),
			}},
			key: "messages", used: 44,
			want: `[
				{"role":"user","content":[{"type":"text","text":"go"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"UE5H"}}]},
				{"role":"assistant","content":[{"type":"thinking","thinking":"Let me look.","signature":"SIGNED"},{"type":"redacted_thinking","data":"HIDDEN"},
					{"type":"text","text":"I look."},{"type":"tool_use","id":"a","name":"look","input":{"path":"x"}},{"type":"tool_use","id":"b","name":"look","input":{"path":"none"}}]},
				{"role":"user","content":[
					{"type":"tool_result","tool_use_id":"a","is_error":false,"content":[{"type":"text","text":"a picture"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"UE5H"}}]},
					{"type":"tool_result","tool_use_id":"b","is_error":true,"content":[{"type":"text","text":"there is none"}]}]}]`,
		},
		"genai": {
			service: &service{model: gemini, bodies: []string{
				data(geminiChunk(`{"text":"Let me ","thought":true}`, ""), geminiChunk(`{"text":"look.","thought":true}`, ""),
					geminiChunk(`{"text":"I "}`, ""), geminiChunk(`{"text":"look."}`, ""), geminiChunk(`{"text":"","thoughtSignature":"U0lHTkVE"}`, ""),
					geminiChunk(`{"functionCall":{"name":"look","args":{"path":"x"}},"thoughtSignature":"Q0FMTA=="}`, ""),
					geminiChunk(`{"functionCall":{"id":"b","name":"look","args":{"path":"none"}}}`, "STOP")),
				data(geminiChunk(`{"text":"Hal"}`, ""), geminiChunk(``, "MAX_TOKENS")),
			}},
			key: "contents", used: 44,
			want: `[
				{"role":"user","parts":[{"text":"go"},{"inlineData":{"mimeType":"image/png","data":"UE5H"}}]},
				{"role":"model","parts":[{"text":"Let me look.","thought":true},{"text":"I look.","thoughtSignature":"U0lHTkVE"},
					{"functionCall":{"id":"call_0","name":"look","args":{"path":"x"}},"thoughtSignature":"Q0FMTA=="},{"functionCall":{"id":"b","name":"look","args":{"path":"none"}}}]},
				{"role":"user","parts":[{"functionResponse":{"id":"call_0","name":"look","response":{"output":"a picture"}}},
					{"functionResponse":{"id":"b","name":"look","response":{"error":"there is none"}}},{"inlineData":{"mimeType":"image/png","data":"UE5H"}}]}]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := &person{}
			stop := talk(t, tt.start(t), p, "go")
			assert.Equal(t, acp.StopReasonMaxTokens, stop)
			assert.Regexp(t, "^I look.HalThe model had no room left", strings.ReplaceAll(p.text, "\n", ""))
			assert.Equal(t, "Let me look.", p.thought)
			assert.Equal(t, tt.used, p.used)
			require.Len(t, tt.asked, 2)
			got, err := json.Marshal(tt.asked[1][tt.key])
			require.NoError(t, err)
			assert.JSONEq(t, tt.want, string(got))
			all, err := json.Marshal(tt.asked[1])
			require.NoError(t, err)
			assert.Contains(t, string(all), `"Be brief."`)
			assert.Contains(t, string(all), `"required":["path"]`)
		})
	}
}

var hello = &loop.Request{Messages: []loop.Message{{Role: loop.User, Parts: []tools.Part{{Text: "hi"}}}}}

// The errors of a service, of a request or in the middle of an answer, reach the person.
func TestEnds(t *testing.T) {
	claudeHalf := []string{claudeStart, claudeText, claudeHal}
	for name, tt := range map[string]struct {
		*service
		reason  loop.StopReason
		err     string // of all that the person reads
		tooLong bool
	}{
		"anthropic refuses": {service: &service{model: claude, bodies: []string{named(claudeStart, claudeEnd("refusal"), claudeStop)}}, reason: loop.Refused},
		"anthropic is full": {service: &service{model: claude, bodies: []string{named(append(claudeHalf, claudeEnd("model_context_window_exceeded"), claudeStop)...)}}, reason: loop.Length},
		"anthropic cuts a call": {service: &service{model: claude, bodies: []string{named(claudeStart, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"look","input":{}}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"pa"}}`, `{"type":"content_block_stop","index":0}`, claudeEnd("max_tokens"), claudeStop)}}, reason: loop.Length},
		"anthropic fails":    {service: &service{model: claude, bodies: []string{named(append(claudeHalf, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)...)}}, err: "Overloaded"},
		"anthropic is cut":   {service: &service{model: claude, bodies: []string{named(claudeHalf...)}}, err: "ended in the middle"},
		"anthropic, junk":    {service: &service{model: claude, bodies: []string{"event: message_start\ndata: {junk\n\n"}}, err: "invalid character"},
		"anthropic overflow": {service: &service{model: claude, status: 400, bodies: []string{`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213456 tokens > 200000 maximum"}}`}}, err: "213456", tooLong: true},
		"anthropic, no key":  {service: &service{model: claude, status: 401, bodies: []string{`{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`}}, err: "invalid x-api-key"},
		"genai refuses":      {service: &service{model: gemini, bodies: []string{data(`{"promptFeedback":{"blockReason":"SAFETY"}}`)}}, reason: loop.Filtered},
		"genai filters":      {service: &service{model: gemini, bodies: []string{data(geminiChunk(`{"text":"Hal"}`, "SAFETY"))}}, reason: loop.Filtered},
		"genai, a bad call":  {service: &service{model: gemini, bodies: []string{data(geminiChunk(``, "MALFORMED_FUNCTION_CALL"))}}, err: "MALFORMED_FUNCTION_CALL"},
		"genai fails":        {service: &service{model: gemini, bodies: []string{data(geminiChunk(`{"text":"Hal"}`, ""), `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`)}}, err: "The model is overloaded."},
		"genai is cut":       {service: &service{model: gemini, bodies: []string{data(geminiChunk(`{"text":"Hal"}`, ""))}}, err: "ended in the middle"},
		"genai overflow":     {service: &service{model: gemini, status: 400, bodies: []string{`{"error":{"code":400,"message":"The input token count (1208000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`}}, err: "1208000", tooLong: true},
	} {
		t.Run(name, func(t *testing.T) {
			var last loop.Event
			var failure error
			for e, err := range tt.start(t).Generate(t.Context(), hello) {
				last, failure = e, err
			}
			if tt.err == "" {
				require.NoError(t, failure)
				require.IsType(t, loop.Stop{}, last)
				assert.Equal(t, tt.reason, last.(loop.Stop).Reason)
				return
			}
			assert.ErrorContains(t, failure, tt.err)
			if tt.tooLong {
				assert.ErrorIs(t, failure, loop.ErrTooLong)
			} else {
				assert.NotErrorIs(t, failure, loop.ErrTooLong)
			}
		})
	}
}

// A request ends with its ctx, and when the caller leaves the iteration.
func TestAbort(t *testing.T) {
	for name, s := range map[string]*service{
		"anthropic": {model: claude, bodies: []string{named(claudeStart, claudeText, claudeHal) + "WAIT"}},
		"genai":     {model: gemini, bodies: []string{data(geminiChunk(`{"text":"Hal"}`, "")) + "WAIT"}},
	} {
		for _, leaves := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, leaves=%t", name, leaves), func(t *testing.T) {
				cause := errors.New("the person has cancelled")
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				m := s.start(t)
				var failure error
				for e, err := range m.Generate(ctx, hello) {
					if failure = err; err != nil {
						break
					}
					require.Equal(t, loop.Text("Hal"), e)
					if leaves {
						break
					}
					cancel(cause)
				}
				if !leaves {
					assert.Equal(t, cause, failure)
				}
				select {
				case <-s.aborted:
				case <-time.After(5 * time.Second):
					assert.Fail(t, "the request goes on")
				}
			})
		}
	}
}

// The messages of another model are sent without the data that only that model understands.
func TestOtherModel(t *testing.T) {
	history := []loop.Message{
		{Role: loop.User, Parts: []tools.Part{{Text: "go"}, {MIMEType: "audio/wav", Data: []byte("WAV")}}},
		{Role: loop.Assistant, Parts: []tools.Part{{Text: "I look."}}, Calls: []loop.Call{{ID: "a", Name: "look", Input: json.RawMessage(`"{\"pa"`)}}, Opaque: json.RawMessage(`{"theirs":1}`)},
		{Role: loop.Results, Results: []loop.Result{{ID: "a", Name: "look", Failed: true, Parts: []tools.Part{{Text: "no JSON"}}}}},
	}
	for name, tt := range map[string]struct {
		*service
		key, want string
	}{
		"anthropic": {service: &service{model: claude, bodies: []string{named(claudeStart, claudeEnd("end_turn"), claudeStop)}}, key: "messages",
			want: `[{"role":"user","content":[{"type":"text","text":"go"},{"type":"text","text":"[audio/wav that this model cannot read]"}]},
				{"role":"assistant","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"a","name":"look","input":{"input":"{\"pa"}}]},
				{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","is_error":true,"content":[{"type":"text","text":"no JSON"}]}]}]`},
		"genai": {service: &service{model: gemini, bodies: []string{data(geminiChunk(`{"text":"Hal"}`, "STOP"))}}, key: "contents",
			want: `[{"role":"user","parts":[{"text":"go"},{"text":"[audio/wav that this model cannot read]"}]},
				{"role":"model","parts":[{"text":"I look."},{"functionCall":{"id":"a","name":"look","args":{"input":"{\"pa"}}}]},
				{"role":"user","parts":[{"functionResponse":{"id":"a","name":"look","response":{"error":"no JSON"}}}]}]`},
	} {
		t.Run(name, func(t *testing.T) {
			for _, err := range tt.start(t).Generate(t.Context(), &loop.Request{Messages: history}) {
				require.NoError(t, err)
			}
			got, err := json.Marshal(tt.asked[0][tt.key])
			require.NoError(t, err)
			assert.JSONEq(t, tt.want, string(got))
		})
	}
}
