package loop

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// answer collects one message of the model while it arrives.
type answer struct {
	text  strings.Builder
	calls map[int]*pending // by the index of their deltas
	room  int              // bytes that may still arrive
	stop  Stop

	// What follows is set by finish.
	message Message
	inputs  []json.RawMessage // of the calls; the message has a part of an input that is too long to be stored
	shown   []acp.ToolCallID
	broken  bool // the last call has no complete input
}

// pending is a tool call that has not arrived completely.
type pending struct {
	Call
	input strings.Builder
	shown acp.ToolCallID // the id under which the client knows the call; empty if it does not
}

// The limits of the calls of an answer.
const (
	maxCalls  = 128
	maxName   = 256     // bytes; a longer name is that of no tool, and the rest of it is cut off
	maxStored = 1 << 20 // bytes of an input; package tools refuses a longer one
)

// take makes room for a part of the answer.
func (a *answer) take(size int) error {
	if a.room -= size; a.room < 0 {
		return kind.Serialization.New("the answer of the model is too long, so it was ended. Ask for less at once.")
	}
	return nil
}

// add adds a part of a call. It returns the call when its name becomes known.
func (a *answer) add(d CallDelta) (named *pending, err error) {
	p := a.calls[d.Index]
	if p == nil {
		if len(a.calls) == maxCalls {
			return nil, kind.Serialization.New(fmt.Sprintf("the answer of the model has more than %d tool calls, so it was ended. Ask for less at once.", maxCalls))
		}
		p = &pending{}
		a.calls[d.Index] = p
	}
	p.ID = cmp.Or(p.ID, d.ID[:min(len(d.ID), maxName)])
	p.input.WriteString(d.Input)
	if p.Name == "" && d.Name != "" {
		p.Name = strings.ToValidUTF8(d.Name[:min(len(d.Name), maxName)], "")
		named = p
	}
	return named, a.take(len(d.ID) + len(d.Name) + len(d.Input))
}

// finish builds the message. It includes the calls only if the answer is complete.
func (a *answer) finish(whole bool) {
	a.message.Role = Assistant
	text := strings.ToValidUTF8(a.text.String(), "\uFFFD")
	if a.room < 0 {
		text = cut(text, maxSummary) // the rest would be sent with each request
	}
	if strings.TrimSpace(text) != "" {
		a.message.Parts = []tools.Part{{Text: text}}
	}
	if !whole || a.stop.Reason == Refused || a.stop.Reason == Filtered {
		return
	}
	ids := make(map[string]bool)
	for _, i := range slices.Sorted(maps.Keys(a.calls)) {
		p := a.calls[i]
		for n := len(a.message.Calls); p.ID == "" || ids[p.ID]; n++ {
			p.ID = fmt.Sprintf("call_%d", n)
		}
		ids[p.ID] = true
		given := strings.TrimSpace(p.input.String())
		p.Input = input(given)
		a.broken = !isObject(p.Input) || given == "" && a.stop.Reason == Length
		a.inputs = append(a.inputs, p.Input)
		if len(p.Input) > maxStored {
			p.Input, _ = json.Marshal(cut(string(p.Input), maxText)) // a string can always be encoded
		}
		a.message.Calls = append(a.message.Calls, p.Call)
		a.shown = append(a.shown, p.shown)
	}
}

// input returns the input of a call as valid JSON, even if the model sent something else. Some services
// send an empty object before the input, the input twice, or JSON in JSON.
func input(text string) json.RawMessage {
	text = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(text, "```json"), "```"), "```"))
	if text == "" || text == "null" {
		return json.RawMessage("{}")
	}
	var objects []json.RawMessage
	for d := json.NewDecoder(strings.NewReader(text)); ; {
		var v json.RawMessage
		err := d.Decode(&v)
		if err == io.EOF && len(objects) > 0 {
			return objects[0]
		} else if err != nil {
			break
		}
		var inner string
		if json.Unmarshal(v, &inner) == nil && isObject(json.RawMessage(inner)) {
			v = json.RawMessage(inner)
		}
		switch {
		case len(objects) == 0 || bytes.Equal(objects[0], []byte("{}")):
			objects = []json.RawMessage{v}
		case !bytes.Equal(v, objects[0]) && !bytes.Equal(v, []byte("{}")):
			objects = append(objects, v)
		}
		if len(objects) > 1 {
			break
		}
	}
	quoted, _ := json.Marshal(text) // a string can always be encoded
	return quoted
}
