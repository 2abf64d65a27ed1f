package chat

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/rpcerr"
)

// request is the body of a request.
type request struct {
	Model         string    `json:"model"`
	Messages      []message `json:"messages"`
	Tools         []tool    `json:"tools,omitempty"`
	Stream        bool      `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

type message struct {
	Role       string `json:"role"`
	Content    any    `json:"content"` // a string, a list of parts, or null in a message with calls
	ToolCalls  []call `json:"tool_calls,omitempty"`
	ToolCallID string `json:"tool_call_id,omitempty"`
}

type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

type part struct {
	Type     string            `json:"type"`
	Text     string            `json:"text,omitempty"`
	ImageURL map[string]string `json:"image_url,omitempty"`
}

func requestOf(model string, req *loop.Request) *request {
	r := &request{Model: model, Stream: true}
	r.StreamOptions.IncludeUsage = true
	if req.System != "" {
		r.Messages = append(r.Messages, message{Role: "system", Content: req.System})
	}
	for _, m := range req.Messages {
		switch m.Role {
		case loop.User:
			r.user(m.Parts)
		case loop.Assistant:
			r.Messages = append(r.Messages, assistant(m))
		case loop.Results:
			r.results(m.Results)
		}
	}
	for _, t := range req.Tools {
		r.Tools = append(r.Tools, tool{Type: "function", Function: function{t.Name, t.Description, t.Schema}})
	}
	return r
}

// user adds a message of the user. If there is no answer of the model since the previous message of
// the user or the results of tools, user first adds one, because the templates of some models refuse
// two messages of the user in a row, even with calls and results between them.
func (r *request) user(parts []tools.Part) {
	if n := len(r.Messages); n > 0 && (r.Messages[n-1].Role == "user" || r.Messages[n-1].Role == "tool") {
		r.Messages = append(r.Messages, message{Role: "assistant", Content: "(no answer yet)"})
	}
	r.Messages = append(r.Messages, message{Role: "user", Content: content(parts)})
}

// content returns a string if there are only texts, because some servers accept nothing else.
func content(parts []tools.Part) any {
	var all []part
	texts := true
	for _, p := range parts {
		if strings.HasPrefix(p.MIMEType, "image/") {
			texts = false
			url := "data:" + p.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
			all = append(all, part{Type: "image_url", ImageURL: map[string]string{"url": url}})
		} else {
			all = append(all, part{Type: "text", Text: p.String()})
		}
	}
	if !texts {
		return all
	}
	lines := make([]string, len(all))
	for i, p := range all {
		lines[i] = p.Text
	}
	return strings.Join(lines, "\n")
}

func assistant(m loop.Message) message {
	out := message{Role: "assistant"}
	if len(m.Parts) > 0 {
		out.Content = content(m.Parts)
	}
	for _, c := range m.Calls {
		t := call{ID: c.ID, Type: "function"}
		t.Function.Name, t.Function.Arguments = c.Name, string(c.Object())
		out.ToolCalls = append(out.ToolCalls, t)
	}
	return out
}

// results adds the results of calls. Their images follow in a message of the user, because the
// message of a tool can only contain text.
func (r *request) results(all []loop.Result) {
	var images []tools.Part
	for _, result := range all {
		var texts []string
		for _, p := range result.Parts {
			if p.Data == nil {
				texts = append(texts, p.Text)
				continue
			}
			texts = append(texts, "[the "+p.MIMEType+" follows]")
			images = append(images, p)
		}
		r.Messages = append(r.Messages, message{Role: "tool", ToolCallID: result.ID, Content: strings.Join(texts, "\n")})
	}
	if images != nil {
		r.user(images)
	}
}

const (
	attempts = 4
	maxWait  = 30 * time.Second // the longest Retry-After for which a request is repeated
)

// busy lists the response codes after which a request is repeated, because the answer has not
// begun.
var busy = []int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}

// retry sends a request for an answer. It repeats the request if the server is busy, but not if the
// server cannot be reached.
func (m *Model) retry(ctx context.Context, body []byte) (*http.Response, error) {
	wait := time.Second
	for n := 1; ; n++ {
		res, err := m.send(ctx, http.MethodPost, "/chat/completions", body)
		status, ok := errors.AsType[*statusError](err)
		if !ok || n == attempts || status.after > maxWait || !slices.Contains(busy, status.status) {
			return res, err
		}
		select {
		case <-time.After(max(status.after, wait)):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		wait *= 2
	}
}

// send sends one request. An error response of the server is a *statusError. If the server has
// nothing at the base URL, send tries once more with /v1 after it.
func (m *Model) send(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	if m.bad != nil {
		return nil, rpcerr.AuthRequired(nil).WithDetail(m.bad.Error())
	}
	m.mu.Lock()
	version := m.version
	m.mu.Unlock()
	res, err := m.sendTo(ctx, method, version+path, body)
	missing, ok := err.(*statusError)
	if !ok || missing.status != http.StatusNotFound || version != "" || path != "/models" && unknownModel(missing) || strings.HasSuffix(m.base, "/v1") {
		return res, err
	}
	if res, err := m.sendTo(ctx, method, "/v1"+path, body); err == nil {
		m.mu.Lock()
		m.version = "/v1"
		m.mu.Unlock()
		return res, nil
	}
	return nil, err
}

func (m *Model) sendTo(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, m.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "text/event-stream, application/json")
	}
	if m.opts.Key != "" {
		req.Header.Set("Authorization", "Bearer "+m.opts.Key)
	}
	res, err := m.opts.Client.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusOK {
		return res, nil
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(res.Body, maxError)) // a part of the text is enough
	return nil, newStatusError(res, text)
}
