package chat

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/agent/tools"
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
