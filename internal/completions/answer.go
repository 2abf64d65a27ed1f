package completions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/loop"
)

// An Answer converts chunks to events.
type Answer struct {
	Model string           // that was asked
	Show  func(loop.Event) // receives the events
	Shown bool             // a part of the answer was shown

	calls    calls
	kept     Object // of the message
	size     int    // bytes of all kept members
	thought  bool   // a thought was shown
	text     strings.Builder
	half     string // the escaped half of a character that the text has ended with
	refused  bool   // the text is a refusal
	finished bool
	reason   loop.StopReason
	word     string // of the server for the reason
	usage    loop.Usage
}

// read reads a chunk, or a complete answer. brought reports whether it has a part of an answer.
func (a *Answer) read(data []byte, failed bool) (brought bool, said *Report) {
	if text := TextOf(data); strings.HasPrefix(text, "{") { // JSON in JSON
		data = []byte(text)
	}
	if bytes.HasPrefix(data, []byte("[")) {
		for _, e := range ListOf(data) {
			b, s := a.read(e, failed)
			if brought = brought || b; s != nil {
				return brought, s
			}
		}
		return brought, nil
	}
	c := ObjectOf(data)
	choices := ListOf(c["choices"])
	if len(choices) == 0 && ObjectOf(c["message"]) != nil { // Ollama's own endpoint
		choices = []json.RawMessage{data}
	}
	if said := errorIn(c, choices, data, failed); said != nil && said.unsure {
		return false, said
	} else if said != nil {
		for _, raw := range choices {
			a.choice(ObjectOf(raw), false)
		}
		return true, said
	}
	for _, raw := range choices {
		choice := ObjectOf(raw)
		brought = a.choice(choice, true) || brought
		a.count(ObjectOf(choice["usage"]))
	}
	a.count(ObjectOf(c["usage"]))
	a.count(ObjectOf(ObjectOf(c["x_groq"])["usage"]))
	if a.finished && a.reason == loop.Failed {
		a.finished = false
		return true, &Report{Texts: []string{"it ended for the reason " + a.word}, Status: 503}
	}
	return brought, nil
}

// choice reads a choice. Some servers spread an answer over several ones.
func (a *Answer) choice(c Members, ends bool) (brought bool) {
	delta := ObjectOf(c["delta"])
	if text := TextOf(c["text"]); text != "" && delta == nil {
		brought = a.say(text)
	}
	brought = a.part(delta) || brought
	brought = a.whole(ObjectOf(c["message"])) || brought
	word := cmp.Or(TextOf(c["finish_reason"]), TextOf(c["done_reason"]))
	if ends && word != "" && word != "null" && word != "None" {
		a.finished, a.word, a.reason = true, word, reasonOf(word)
		brought = true
	}
	return brought
}

// part reads a delta.
func (a *Answer) part(d Members) (brought bool) {
	text, thought := contentOf(a.joined(d["content"]))
	if string(ObjectOf(ObjectOf(d["extra_content"])["google"])["thought"]) == "true" {
		text, thought = "", text+thought
	}
	for _, name := range Thoughts {
		if thought == "" {
			_, thought = contentOf(wrapped(d[name]))
		}
	}
	if thought == "" {
		_, thought = contentOf(wrapped(d["reasoning_details"]))
	}
	if thought != "" {
		brought, a.thought, a.Shown = true, true, true
		a.Show(loop.Thought(thought))
	}
	if refusal := TextOf(d["refusal"]); refusal != "" {
		a.refused = true
		text += refusal
	}
	brought = a.say(text) || brought
	fragments := append(ListOf(d["tool_calls"]), ListOf(d["function_call"])...)
	for _, part := range ListOf(d["content"]) {
		if kind := TextOf(ObjectOf(part)["type"]); kind == "tool_use" || kind == "tool_call" {
			fragments = append(fragments, part)
		}
	}
	for _, raw := range fragments {
		if f := ObjectOf(raw); f != nil {
			brought, a.Shown = true, true
			a.Show(a.calls.delta(f, a.keptOf))
		}
	}
	if found := a.keptOf(d); found != nil {
		if a.kept == nil {
			a.kept = make(Object)
		}
		merge(a.kept, found)
		brought = true
	}
	return brought
}

// half matches the first half of a character at the end of a text.
var half = regexp.MustCompile(`\\u[dD][89abAB][0-9a-fA-F]{2}"$`)

// joined returns a text with the half of a character that the text before it has ended with. Servers in
// JavaScript cut texts there.
func (a *Answer) joined(content json.RawMessage) json.RawMessage {
	if len(content) < 2 || content[0] != '"' {
		return content
	}
	content = append([]byte(`"`+a.half), content[1:]...)
	a.half = strings.TrimSuffix(string(half.Find(content)), `"`)
	return append(content[:len(content)-1-len(a.half)], '"')
}

// whole reads a message. If there were deltas, it repeats what they had, or has what they did not.
func (a *Answer) whole(d Members) bool {
	if d == nil {
		return false
	}
	rest := make(Members)
	for name, v := range d {
		switch name {
		case "content", "refusal":
			text, _ := contentOf(v)
			more, repeats := strings.CutPrefix(text, a.text.String())
			switch {
			case a.text.Len() == 0:
			case !repeats || more == "":
				continue
			default:
				v, _ = json.Marshal(more) // a string
			}
		case "tool_calls", "function_call":
			if len(a.calls.all) > 0 {
				continue
			}
		default:
			if a.thought || a.kept[name] != nil {
				continue
			}
		}
		rest[name] = v
	}
	return a.part(rest)
}

func (a *Answer) say(text string) bool {
	if text == "" {
		return false
	}
	a.text.WriteString(text)
	a.Shown = true
	a.Show(loop.Text(text))
	return true
}

// wrapped returns a thought as content of that type.
func wrapped(raw json.RawMessage) json.RawMessage {
	if IsNull(raw) {
		return nil
	}
	data, _ := json.Marshal(Members{"type": json.RawMessage(`"thinking"`), "thinking": raw}) // raw is JSON
	return data
}

// contentOf returns the text and the thought of content: a string, a list of parts, or one part.
func contentOf(raw json.RawMessage) (text, thought string) {
	if text = TextOf(raw); text != "" || IsNull(raw) {
		return text, ""
	}
	for _, e := range ListOf(raw) {
		part := ObjectOf(e)
		if part == nil {
			text += TextOf(e)
			continue
		}
		var t string
		for _, name := range []string{"text", "content", "thinking", "summary", "reasoning", "refusal", "output_text", "parts"} {
			if inner, hidden := contentOf(part[name]); t == "" {
				t = inner + hidden
			}
		}
		if kind := TextOf(part["type"]); strings.Contains(kind, "think") || strings.Contains(kind, "reason") || strings.Contains(kind, "summary") {
			thought += t
		} else {
			text += t
		}
	}
	return text, thought
}

// count notes what the request has used. Servers send it in the last chunk, or in each one.
func (a *Answer) count(u Members) {
	if u == nil {
		return
	}
	number := func(of Members, names ...string) *uint64 {
		for _, name := range names {
			if n, ok := CountOf(of[name]); ok {
				return &n
			}
		}
		return nil
	}
	in, out := number(u, "prompt_tokens", "input_tokens"), number(u, "completion_tokens", "output_tokens")
	total := number(u, "total_tokens")
	if in != nil || out != nil || total != nil {
		t := &acp.Usage{}
		for to, from := range map[*uint64]*uint64{&t.InputTokens: in, &t.OutputTokens: out, &t.TotalTokens: total} {
			if from != nil {
				*to = *from
			}
		}
		t.TotalTokens = max(t.TotalTokens, t.InputTokens+t.OutputTokens)
		input, output := ObjectOf(First(u["prompt_tokens_details"], u["input_tokens_details"])), ObjectOf(First(u["completion_tokens_details"], u["output_tokens_details"]))
		t.CachedReadTokens = cmp.Or(number(input, "cached_tokens"), number(u, "prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens"))
		t.CachedWriteTokens = cmp.Or(number(input, "cache_write_tokens"), number(u, "cache_creation_input_tokens"))
		t.ThoughtTokens = cmp.Or(number(output, "reasoning_tokens"), number(u, "reasoning_tokens"))
		a.usage.Tokens, a.usage.Used = t, t.TotalTokens
	}
	cost := cmp.Or(TextOf(u["cost"]), TextOf(ObjectOf(u["cost"])["total_cost"])) // OpenRouter, Perplexity
	amount, err := strconv.ParseFloat(cost, 64)
	if ticks, ok := CountOf(u["cost_in_usd_ticks"]); ok && err != nil { // xAI
		amount, err = float64(ticks)/1e10, nil
	}
	if err == nil && amount >= 0 && !math.IsInf(amount, 1) {
		a.usage.Cost = &acp.Cost{Amount: amount, Currency: "USD"}
	}
}

// End shows how the answer has ended.
func (a *Answer) End(window uint64) {
	if a.usage.Tokens != nil || a.usage.Cost != nil {
		a.usage.Size = window
		a.Show(a.usage)
	}
	s := loop.Stop{Reason: a.reason}
	if a.refused && a.reason == loop.Done {
		s.Reason = loop.Refused
	} else if a.reason != loop.Done && a.reason != loop.ToolCalls {
		s.Text = a.word
	}
	back := Opaque{Model: a.Model, Message: a.kept}
	for i, c := range a.calls.all {
		if c.kept != nil {
			back.Calls = append(back.Calls, make([]Object, i-len(back.Calls))...)
			back.Calls = append(back.Calls, c.kept)
		}
	}
	if back.Message != nil || back.Calls != nil {
		s.Opaque, _ = json.Marshal(back) // it was JSON
	}
	a.Show(s)
}
