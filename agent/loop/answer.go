package loop

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/tools"
)

// answer collects one message of the model while it arrives.
type answer struct {
	text    strings.Builder
	calls   map[int]*pending // by the index of their deltas
	stop    StopReason
	message Message // set by finish
	shown   []acp.ToolCallID
}

// pending is a tool call that has not arrived completely.
type pending struct {
	Call
	input strings.Builder
	shown acp.ToolCallID // the id under which the client knows the call; empty if it does not
}

// add adds a part of a call. It returns the call when its name becomes known.
func (a *answer) add(d CallDelta) (named *pending) {
	p := a.calls[d.Index]
	if p == nil {
		p = &pending{}
		a.calls[d.Index] = p
	}
	p.ID = cmp.Or(p.ID, d.ID)
	p.input.WriteString(d.Input)
	if p.Name == "" && d.Name != "" {
		p.Name = d.Name
		return p
	}
	return nil
}

// finish builds the message. It includes the calls only if the answer is complete.
func (a *answer) finish(whole bool) {
	a.message.Role = Assistant
	if text := strings.ToValidUTF8(a.text.String(), "\uFFFD"); text != "" {
		a.message.Parts = []tools.Part{{Text: text}}
	}
	if !whole {
		return
	}
	ids := make(map[string]bool)
	for _, i := range slices.Sorted(maps.Keys(a.calls)) {
		p := a.calls[i]
		for n := len(a.message.Calls); p.ID == "" || ids[p.ID]; n++ {
			p.ID = fmt.Sprintf("call_%d", n)
		}
		ids[p.ID] = true
		p.Input = input(p.input.String())
		a.message.Calls = append(a.message.Calls, p.Call)
		a.shown = append(a.shown, p.shown)
	}
}

// input returns the input of a call as valid JSON, even if the model sent something else.
func input(text string) json.RawMessage {
	switch text = strings.TrimSpace(text); {
	case text == "":
		return json.RawMessage("{}")
	case json.Valid([]byte(text)):
		return json.RawMessage(text)
	}
	quoted, _ := json.Marshal(text) // a string can always be encoded
	return quoted
}
