package chat

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/internal/completions"
)

type object = map[string]any

// request is a request that is being built. What is stored of a conversation may be anything, for
// example of another model, but what is sent is always acceptable.
type request struct {
	model    string
	without  map[change]bool
	validID  func(string) bool
	messages []object
	taken    map[string]bool // ids of calls
	images   int             // images that the conversation has
	leftOut  bool            // the last prompt has one that is left out
}

// build returns the body of a request.
func (m *Model) build(model string, req *loop.Request) (*request, []byte, error) {
	r := &request{model: model, without: m.changesOf(model), validID: ids.MatchString, taken: make(map[string]bool)}
	if m.service.id != nil {
		r.validID = m.service.id
	}
	if req.System != "" {
		r.messages = append(r.messages, object{"role": "system", "content": req.System})
	}
	for i, msg := range req.Messages {
		switch msg.Role {
		case loop.User:
			r.leftOut = false
			r.add("user", r.content(msg.Parts))
		case loop.Assistant:
			var results []loop.Result
			if i+1 < len(req.Messages) && req.Messages[i+1].Role == loop.Results {
				results = req.Messages[i+1].Results
			}
			r.assistant(msg, results)
		}
	}
	r.leftOut = r.leftOut && req.Messages[len(req.Messages)-1].Role == loop.User
	if n := len(r.messages); n > 0 && r.messages[n-1]["role"] == "assistant" { // some servers continue such a message, others refuse it
		r.add("user", "Go on.")
	}
	body := object{"model": model, "messages": r.messages, "stream": true, "stream_options": object{"include_usage": true}}
	var list []object
	for _, t := range req.Tools {
		f := object{"name": t.Name, "parameters": t.Schema}
		if t.Description != "" {
			f["description"] = t.Description
		}
		list = append(list, object{"type": "function", "function": f})
	}
	if list != nil {
		body["tools"] = list
	}
	if m.opts.MaxTokens > 0 {
		body["max_tokens"] = m.opts.MaxTokens
		if r.without[completionMax] {
			body["max_completion_tokens"] = m.opts.MaxTokens
		}
	}
	if m.opts.Temperature != nil {
		body["temperature"] = *m.opts.Temperature
	}
	for name := range r.without {
		delete(body, string(name))
	}
	maps.Copy(body, m.opts.Extra)
	maps.DeleteFunc(body, func(_ string, v any) bool { return v == nil })
	data, err := json.Marshal(body)
	return r, data, err
}

// add adds a message. The templates of some models refuse two messages of the user in a row, even with
// calls and results between them, and two of the assistant.
func (r *request) add(role string, content any) object {
	last := ""
	if n := len(r.messages); n > 0 {
		last, _ = r.messages[n-1]["role"].(string)
	}
	switch {
	case role == "user" && (last == "user" || last == "tool"):
		r.messages = append(r.messages, object{"role": "assistant", "content": "(no answer yet)"})
	case role == "assistant" && last == "assistant":
		r.messages = append(r.messages, object{"role": "user", "content": "Go on."})
	}
	msg := object{"role": role, "content": content}
	r.messages = append(r.messages, msg)
	return msg
}

// content returns a string if there are only texts, because some servers accept nothing else.
func (r *request) content(parts []tools.Part) any {
	var all []object
	texts := true
	for _, p := range parts {
		if isImage(p) && !r.leaveOut() {
			texts = false
			url := "data:" + p.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
			all = append(all, object{"type": "image_url", "image_url": object{"url": url}})
		} else {
			all = append(all, object{"type": "text", "text": p.String()})
		}
	}
	if !texts {
		return all
	}
	lines := make([]string, len(all))
	for i, p := range all {
		lines[i] = p["text"].(string)
	}
	if text := strings.Join(lines, "\n"); strings.TrimSpace(text) != "" {
		return text
	}
	return "(empty)"
}

func isImage(p tools.Part) bool { return strings.HasPrefix(p.MIMEType, "image/") && len(p.Data) > 0 }

// leaveOut counts an image, and reports whether a sentence takes its place.
func (r *request) leaveOut() bool {
	r.images++
	r.leftOut = r.leftOut || r.without[noImages]
	return r.without[noImages]
}

// assistant adds an answer of the model and the results of its calls.
func (r *request) assistant(m loop.Message, results []loop.Result) {
	if len(m.Parts) == 0 && len(m.Calls) == 0 {
		return
	}
	var content any
	if len(m.Parts) > 0 {
		content = r.content(m.Parts)
	} else if r.without[noNull] {
		content = ""
	}
	msg := r.add("assistant", content)
	var back completions.Opaque
	if json.Unmarshal(m.Opaque, &back) != nil || back.Model != r.model { // it is of another model
		back = completions.Opaque{}
	}
	r.keep(msg, back.Message, len(m.Calls) > 0)
	if len(m.Calls) == 0 {
		return
	}
	if r.without[anyReasoning] && msg["reasoning_content"] == nil {
		msg["reasoning_content"] = " "
	}
	calls := make([]object, len(m.Calls))
	var images []tools.Part
	var answers []object
	for i, c := range m.Calls {
		id := r.id(c.ID)
		calls[i] = object{"id": id, "type": "function", "function": object{"name": name(c.Name), "arguments": string(c.Object())}}
		if i < len(back.Calls) {
			r.keep(calls[i], back.Calls[i], true)
		}
		if r.without[anySignature] && calls[i]["extra_content"] == nil {
			calls[i]["extra_content"] = object{"google": object{"thought_signature": "skip_thought_signature_validator"}}
		}
		text := "(There is no result.)"
		if at := slices.IndexFunc(results, func(result loop.Result) bool { return result.ID == c.ID }); at >= 0 {
			text = r.result(results[at], &images)
		}
		answers = append(answers, object{"role": "tool", "tool_call_id": id, "content": text})
	}
	msg["tool_calls"] = calls
	r.messages = append(r.messages, answers...)
	if images != nil {
		r.add("user", r.content(images))
	}
}

// keep adds the kept members. Thoughts are sent back with calls alone, as services demand.
func (r *request) keep(to, members object, calls bool) {
	for name, v := range members {
		if v != nil && !r.without[change(name)] && !r.without[noKept] && (calls || !slices.Contains(completions.Thoughts, name)) {
			to[name] = v
		}
	}
}

// result returns the text of a result. Its images follow in a message of the user, because the message
// of a tool can only contain text.
func (r *request) result(result loop.Result, images *[]tools.Part) string {
	var texts []string
	for _, p := range result.Parts {
		switch {
		case isImage(p) && !r.leaveOut():
			texts = append(texts, "[the "+p.MIMEType+" follows]")
			*images = append(*images, p)
		default:
			texts = append(texts, p.String())
		}
	}
	if text := strings.Join(texts, "\n"); strings.TrimSpace(text) != "" {
		return text
	}
	return "(no output)"
}

var (
	ids       = regexp.MustCompile(`^[A-Za-z0-9_.:/|-]{1,64}$`)
	badInName = regexp.MustCompile(`[^A-Za-z0-9_-]+`)
)

// id returns the id of a call, or another one if this one is not valid or not the first.
func (r *request) id(given string) string {
	id := given
	for n := 0; !r.validID(id) || r.taken[id]; n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", given, n))
		id = hex.EncodeToString(sum[:])[:9]
	}
	r.taken[id] = true
	return id
}

// name returns a valid name for a tool that the model has called, which may be an invented one.
func name(given string) string {
	valid := badInName.ReplaceAllString(given, "_")
	if valid == "" {
		return "unknown"
	}
	return valid[:min(len(valid), 64)]
}
