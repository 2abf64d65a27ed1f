package chat

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"

	"github.com/acpkit/go-sdk/agent/loop"
)

// chunk is one event of an answer, or the complete answer of a server that does not stream.
type chunk struct {
	Choices []struct {
		Delta        delta  `json:"delta"`
		Message      delta  `json:"message"` // in a complete answer
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		PromptTokens     uint64 `json:"prompt_tokens"`
		CompletionTokens uint64 `json:"completion_tokens"`
		TotalTokens      uint64 `json:"total_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type delta struct {
	Content          string     `json:"content"`
	Reasoning        string     `json:"reasoning"`         // OpenRouter, Ollama, newer vLLM
	ReasoningContent string     `json:"reasoning_content"` // DeepSeek, llama.cpp, older vLLM
	Refusal          string     `json:"refusal"`
	ToolCalls        []fragment `json:"tool_calls"`
}

// fragment is a part of a tool call.
type fragment struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // a JSON string; some servers send an object
	} `json:"function"`
}

// maxEvent is the maximum length of one event in bytes.
const maxEvent = 16 << 20

// stream reads an answer. The answer ends with data [DONE], or with the end of the input after a
// finish reason.
func (m *Model) stream(body io.Reader, show func(loop.Event)) error {
	r := &reader{show: show, calls: calls{byIndex: make(map[int]int)}}
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 0, 16<<10), maxEvent)
	partial := false // the line has no line feed
	lines.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		n, line, err := bufio.ScanLines(data, atEOF)
		partial = n > 0 && data[n-1] != '\n'
		return n, line, err
	})
	var whole []byte // the answer of a server that does not stream
	for lines.Scan() {
		line := bytes.TrimSuffix(lines.Bytes(), []byte("\r"))
		data, ok := bytes.CutPrefix(line, []byte("data:"))
		switch data = bytes.TrimSpace(data); {
		case !ok && bytes.HasPrefix(line, []byte("<")) && len(whole) == 0:
			return m.failed("BASE_URL leads to a web page and not to a server of chat completions (%s)", m.host)
		case !ok && (len(whole) > 0 || bytes.HasPrefix(line, []byte("{"))):
			whole = append(append(whole, line...), '\n')
			continue
		case !ok || len(data) == 0: // a comment, the name of an event, or a blank line
			continue
		case string(data) == "[DONE]":
			r.end()
			return nil
		case partial && !json.Valid(data): // the line is cut off; the next read returns the reason
			continue
		}
		if err := m.chunk(r, data); err != nil {
			return err
		}
	}
	err := lines.Err()
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		return m.failed("%s has sent an event of more than %d MiB", m.host, maxEvent>>20)
	case err != nil && !r.finished:
		return m.failed("the answer of %s was cut: %v", m.host, short(err)).WithCause(err)
	}
	if len(whole) > 0 {
		if err := m.chunk(r, whole); err != nil {
			return err
		}
	}
	if !r.finished {
		return m.failed("the answer of %s ended in the middle", m.host)
	}
	r.end()
	return nil
}

// chunk handles one event.
func (m *Model) chunk(r *reader, data []byte) error {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return m.failed("%s has sent an event that is not JSON", m.host).WithCause(err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return m.explainBody(c.Error)
	}
	r.read(&c)
	return nil
}

// reader converts chunks to events.
type reader struct {
	show     func(loop.Event)
	calls    calls
	finished bool
	reason   loop.StopReason
}

func (r *reader) read(c *chunk) {
	for _, choice := range c.Choices {
		for _, d := range []delta{choice.Delta, choice.Message} {
			if t := cmp.Or(d.Reasoning, d.ReasoningContent); t != "" {
				r.show(loop.Thought(t))
			}
			if t := d.Content + d.Refusal; t != "" {
				r.show(loop.Text(t))
			}
			for _, f := range d.ToolCalls {
				r.show(r.calls.delta(f))
			}
		}
		if choice.FinishReason != "" {
			r.finished, r.reason = true, reasonOf(choice.FinishReason)
		}
	}
	if u := c.Usage; u != nil {
		r.show(loop.Usage{Used: max(u.TotalTokens, u.PromptTokens+u.CompletionTokens)})
	}
}

func (r *reader) end() { r.show(loop.Stop{Reason: r.reason}) }

func reasonOf(reason string) loop.StopReason {
	switch reason {
	case "length":
		return loop.Length
	case "content_filter":
		return loop.Refused
	}
	return loop.Done
}

// calls assigns fragments to calls. Servers number the calls from 0 or from 1, give all of them the
// number 0, or give none. They repeat the id in each fragment, send it only in the first one, or
// never.
type calls struct {
	all     []started
	byIndex map[int]int // the number of the latest call with each index, from 1
}

type started struct {
	id, name string
	input    []byte
}

func (c *calls) delta(f fragment) loop.CallDelta {
	input := f.input()
	i := c.find(f)
	p := &c.all[i]
	p.id, p.name = cmp.Or(p.id, f.ID), cmp.Or(p.name, f.Function.Name)
	p.input = append(p.input, input...)
	return loop.CallDelta{Index: i, ID: f.ID, Name: f.Function.Name, Input: input}
}

func (c *calls) find(f fragment) int {
	latest := len(c.all) - 1
	if f.Index != nil {
		latest = c.byIndex[*f.Index] - 1
	}
	for i := range c.all {
		if f.ID != "" && c.all[i].id == f.ID {
			return i // regardless of the index
		}
	}
	if latest >= 0 {
		p := &c.all[latest]
		another := f.ID != "" && p.id != "" ||
			f.ID == "" && f.Function.Name != "" && json.Valid(p.input) // the previous call is complete
		if !another {
			return latest
		}
	}
	c.all = append(c.all, started{})
	if f.Index != nil {
		c.byIndex[*f.Index] = len(c.all)
	}
	return len(c.all) - 1
}

// input returns the arguments as a string.
func (f *fragment) input() string {
	raw := f.Function.Arguments
	var text string
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return ""
	case json.Unmarshal(raw, &text) == nil:
		return text
	}
	return string(raw)
}
