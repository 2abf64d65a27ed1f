package chat

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/loop"
)

// members are those of an object. Servers send most of them in more than one form, so each is read
// where it is used, and what has no known form is ignored.
type members map[string]json.RawMessage

// objectOf returns nil for what is no object.
func objectOf(raw json.RawMessage) (m members) {
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	return m
}

// listOf returns the elements of a list, or a value that is no list as the only element.
func listOf(raw json.RawMessage) (list []json.RawMessage) {
	if isNull(raw) {
		return nil
	}
	if json.Unmarshal(raw, &list) == nil {
		return list
	}
	for o, n := objectOf(raw), 0; o[strconv.Itoa(n)] != nil; n++ { // a list of PHP
		list = append(list, o[strconv.Itoa(n)])
	}
	if list == nil {
		list = []json.RawMessage{raw}
	}
	return list
}

func isNull(raw json.RawMessage) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", "false", "{}", "[]", `""`, "0":
		return true
	}
	return false
}

// textOf returns a string, or a number as its text.
func textOf(raw json.RawMessage) (text string) {
	var number json.Number
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	_ = json.Unmarshal(raw, &number) // it stays empty for anything else
	return number.String()
}

// countOf returns a number that is not negative, rounded, also from a text.
func countOf(raw json.RawMessage) (uint64, bool) {
	n, err := strconv.ParseFloat(textOf(raw), 64)
	if err != nil || !(n >= 0) || n > 1<<53 {
		return 0, false
	}
	return uint64(math.Round(n)), true
}

// answer converts chunks to events.
type answer struct {
	model    string
	show     func(loop.Event)
	calls    calls
	kept     object // of the message
	shown    bool   // something of the answer was shown
	thought  bool   // a thought was shown
	text     strings.Builder
	refused  bool // the text is a refusal
	finished bool
	reason   loop.StopReason
	word     string // of the server for the reason
	usage    loop.Usage
}

// read reads a chunk, or a complete answer. brought reports whether it has a part of an answer.
func (a *answer) read(data []byte, failed bool) (brought bool, said *report) {
	if text := textOf(data); strings.HasPrefix(text, "{") { // JSON in JSON
		data = []byte(text)
	}
	if bytes.HasPrefix(data, []byte("[")) {
		for _, e := range listOf(data) {
			b, s := a.read(e, failed)
			if brought = brought || b; s != nil {
				return brought, s
			}
		}
		return brought, nil
	}
	c := objectOf(data)
	choices := listOf(c["choices"])
	if len(choices) == 0 && objectOf(c["message"]) != nil { // Ollama's own endpoint
		choices = []json.RawMessage{data}
	}
	if said := errorIn(c, choices, data, failed); said != nil && said.unsure {
		return false, said
	} else if said != nil {
		for _, raw := range choices {
			a.choice(objectOf(raw), false)
		}
		return true, said
	}
	for _, raw := range choices {
		choice := objectOf(raw)
		brought = a.choice(choice, true) || brought
		a.count(objectOf(choice["usage"]))
	}
	a.count(objectOf(c["usage"]))
	a.count(objectOf(objectOf(c["x_groq"])["usage"]))
	if a.finished && a.reason == loop.Failed {
		a.finished = false
		return true, &report{texts: []string{"it ended for the reason " + a.word}, status: 503}
	}
	return brought, nil
}

// choice reads a choice. Some servers spread an answer over several ones.
func (a *answer) choice(c members, ends bool) (brought bool) {
	delta := objectOf(c["delta"])
	if text := textOf(c["text"]); text != "" && delta == nil {
		brought = a.say(text)
	}
	brought = a.part(delta) || brought
	brought = a.whole(objectOf(c["message"])) || brought
	word := cmp.Or(textOf(c["finish_reason"]), textOf(c["done_reason"]))
	if ends && word != "" && word != "null" && word != "None" {
		a.finished, a.word, a.reason = true, word, reasonOf(word)
		brought = true
	}
	return brought
}

// part reads a delta.
func (a *answer) part(d members) (brought bool) {
	text, thought := contentOf(d["content"])
	if string(objectOf(objectOf(d["extra_content"])["google"])["thought"]) == "true" {
		text, thought = "", text+thought
	}
	for _, name := range thoughts {
		if thought == "" {
			_, thought = contentOf(wrapped(d[name]))
		}
	}
	if thought == "" {
		_, thought = contentOf(wrapped(d["reasoning_details"]))
	}
	if thought != "" {
		brought, a.thought, a.shown = true, true, true
		a.show(loop.Thought(thought))
	}
	if refusal := textOf(d["refusal"]); refusal != "" {
		a.refused = true
		text += refusal
	}
	brought = a.say(text) || brought
	fragments := append(listOf(d["tool_calls"]), listOf(d["function_call"])...)
	for _, part := range listOf(d["content"]) {
		if kind := textOf(objectOf(part)["type"]); kind == "tool_use" || kind == "tool_call" {
			fragments = append(fragments, part)
		}
	}
	for _, raw := range fragments {
		if f := objectOf(raw); f != nil {
			brought, a.shown = true, true
			a.show(a.calls.delta(f))
		}
	}
	if found := keptOf(d); found != nil {
		if a.kept == nil {
			a.kept = make(object)
		}
		merge(a.kept, found)
		brought = true
	}
	return brought
}

// whole reads a message. If there were deltas, it repeats what they had, or has what they did not.
func (a *answer) whole(d members) bool {
	if d == nil {
		return false
	}
	rest := make(members)
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

func (a *answer) say(text string) bool {
	if text == "" {
		return false
	}
	a.text.WriteString(text)
	a.shown = true
	a.show(loop.Text(text))
	return true
}

// wrapped returns a thought as content of that type.
func wrapped(raw json.RawMessage) json.RawMessage {
	if isNull(raw) {
		return nil
	}
	data, _ := json.Marshal(members{"type": json.RawMessage(`"thinking"`), "thinking": raw}) // raw is JSON
	return data
}

// contentOf returns the text and the thought of content: a string, a list of parts, or one part.
func contentOf(raw json.RawMessage) (text, thought string) {
	if text = textOf(raw); text != "" || isNull(raw) {
		return text, ""
	}
	for _, e := range listOf(raw) {
		part := objectOf(e)
		if part == nil {
			text += textOf(e)
			continue
		}
		var t string
		for _, name := range []string{"text", "content", "thinking", "summary", "reasoning", "refusal", "output_text", "parts"} {
			if inner, hidden := contentOf(part[name]); t == "" {
				t = inner + hidden
			}
		}
		if kind := textOf(part["type"]); strings.Contains(kind, "think") || strings.Contains(kind, "reason") || strings.Contains(kind, "summary") {
			thought += t
		} else {
			text += t
		}
	}
	return text, thought
}

// count notes what the request has used. Servers send it in the last chunk, or in each one.
func (a *answer) count(u members) {
	if u == nil {
		return
	}
	number := func(of members, names ...string) *uint64 {
		for _, name := range names {
			if n, ok := countOf(of[name]); ok {
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
		input, output := objectOf(cmpRaw(u["prompt_tokens_details"], u["input_tokens_details"])), objectOf(cmpRaw(u["completion_tokens_details"], u["output_tokens_details"]))
		t.CachedReadTokens = cmp.Or(number(input, "cached_tokens"), number(u, "prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens"))
		t.CachedWriteTokens = cmp.Or(number(input, "cache_write_tokens"), number(u, "cache_creation_input_tokens"))
		t.ThoughtTokens = cmp.Or(number(output, "reasoning_tokens"), number(u, "reasoning_tokens"))
		a.usage.Tokens, a.usage.Used = t, t.TotalTokens
	}
	cost := cmp.Or(textOf(u["cost"]), textOf(objectOf(u["cost"])["total_cost"])) // OpenRouter, Perplexity
	amount, err := strconv.ParseFloat(cost, 64)
	if ticks, ok := countOf(u["cost_in_usd_ticks"]); ok && err != nil { // xAI
		amount, err = float64(ticks)/1e10, nil
	}
	if err == nil && amount >= 0 && !math.IsInf(amount, 1) {
		a.usage.Cost = &acp.Cost{Amount: amount, Currency: "USD"}
	}
}

func cmpRaw(a, b json.RawMessage) json.RawMessage {
	if isNull(a) {
		return b
	}
	return a
}

// end shows how the answer has ended.
func (a *answer) end(window uint64) {
	if a.usage.Tokens != nil || a.usage.Cost != nil {
		a.usage.Size = window
		a.show(a.usage)
	}
	s := loop.Stop{Reason: a.reason}
	if a.refused && a.reason == loop.Done {
		s.Reason = loop.Refused
	} else if a.reason != loop.Done && a.reason != loop.ToolCalls {
		s.Text = a.word
	}
	back := opaque{Model: a.model, Message: a.kept}
	for i, c := range a.calls.all {
		if c.kept != nil {
			back.Calls = append(back.Calls, make([]object, i-len(back.Calls))...)
			back.Calls = append(back.Calls, c.kept)
		}
	}
	if back.Message != nil || back.Calls != nil {
		s.Opaque, _ = json.Marshal(back) // it was JSON
	}
	a.show(s)
}

// calls assigns fragments to calls. Servers number the calls from 0 or from 1, give all of them the
// number 0, or none. They repeat the id in each fragment, send another one in each, or none.
type calls struct {
	all   []*started
	early map[string]string // ids that came before their names, by index
}

type started struct {
	id, index, name string
	input           []byte
	kept            object
}

func (c *calls) delta(f members) loop.CallDelta {
	function := objectOf(f["function"])
	if function == nil {
		function = objectOf(json.RawMessage(textOf(f["function"])))
	}
	if function == nil {
		function = f // older and own forms
	}
	name, id, index := textOf(function["name"]), textOf(cmpRaw(f["id"], f["call_id"])), textOf(f["index"])
	var input string
	for _, member := range []string{"arguments", "input", "parameters"} {
		if raw := function[member]; input == "" && len(raw) > 0 && string(raw) != "null" {
			if json.Unmarshal(raw, &input) != nil {
				input = string(raw) // an object
			}
		}
	}
	if name == "" && input == "" && id != "" && index != "" && c.last(func(s *started) bool { return s.index == index }) < 0 {
		if c.early == nil {
			c.early = make(map[string]string)
		}
		c.early[index] = id
		if n := len(c.all); n > 0 {
			return loop.CallDelta{Index: n - 1}
		}
	}
	i := c.find(name, id, index, input)
	s := c.all[i]
	s.name = cmp.Or(s.name, name)
	s.input = append(s.input, input...)
	for _, m := range []members{f, function} {
		if found := keptOf(m); found != nil {
			if s.kept == nil {
				s.kept = make(object)
			}
			merge(s.kept, found)
		}
	}
	d := loop.CallDelta{Index: i, Name: name, Input: input}
	if s.id == "" {
		s.id = cmp.Or(id, c.early[index])
		d.ID = s.id
	}
	return d
}

// find returns the call of a fragment. A fragment begins a new call if it brings a name with a new
// index, or with a new id, or without both after a complete call. Any other one continues the call of
// its id, of its index, or the last one.
func (c *calls) find(name, id, index, input string) int {
	byIndex := c.last(func(s *started) bool { return index != "" && s.index == index })
	byID := c.last(func(s *started) bool { return id != "" && s.id == id })
	if name != "" || len(c.all) == 0 {
		latest := byIndex
		if index == "" {
			latest = len(c.all) - 1
		}
		another := latest < 0
		if !another {
			s := c.all[latest]
			complete := json.Valid(s.input) || len(s.input) == 0 && s.name != name && (index == "" || id != "")
			switch {
			case id != "" && s.id != "" && id != s.id: // some send another id in each fragment
				another = complete || index == ""
			case id == "" || s.id == "":
				another = complete && s.name != "" && !(index != "" && s.name == name && input == "")
			default: // one id for two calls, or a call that is sent again as a whole
				another = complete && json.Valid([]byte(input)) && input != string(s.input)
			}
		}
		if another {
			c.all = append(c.all, &started{index: index})
			return len(c.all) - 1
		}
		return latest
	}
	if byIndex >= 0 && (byID < 0 || c.all[byIndex].id == id) {
		return byIndex
	}
	if byID >= 0 {
		return byID
	}
	return len(c.all) - 1
}

// last returns the number of the last call for which f holds, or -1.
func (c *calls) last(f func(*started) bool) int {
	for i := len(c.all) - 1; i >= 0; i-- {
		if f(c.all[i]) {
			return i
		}
	}
	return -1
}
