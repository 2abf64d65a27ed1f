package fold_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/fold"
)

// randomUpdate returns an update that changes some members of a tool call, some of them to empty
// values.
func randomUpdate(r *rand.Rand) *acp.ToolCallUpdate {
	u := &acp.ToolCallUpdate{ToolCallID: "1"}
	for _, change := range []func(){
		func() { u.Title = fmt.Sprint("title ", r.IntN(9)) },
		func() { u.Name = fmt.Sprint("name ", r.IntN(9)) },
		func() { u.Kind = []acp.ToolKind{"", acp.ToolKindRead, acp.ToolKindEdit}[r.IntN(3)] },
		func() { u.Status = []acp.ToolCallStatus{"", "pending", "completed", "_own"}[r.IntN(4)] },
		func() {
			u.Content = []acp.ToolCallContent{acp.ToolText("a"), &acp.Diff{Path: "/p"}, &acp.Terminal{TerminalID: "t"}}[:r.IntN(4)]
		},
		func() {
			u.Locations = []acp.ToolCallLocation{{Path: "/p"}, {Path: "/q", Line: new(uint32(7))}}[:r.IntN(3)]
		},
		func() {
			u.RawInput = []json.RawMessage{nil, []byte("null"), []byte(`{"a":1}`), []byte(`""`)}[r.IntN(4)]
		},
		func() { u.RawOutput = []json.RawMessage{nil, []byte("null"), []byte("[2]")}[r.IntN(3)] },
		func() { u.Meta = acp.Meta{fmt.Sprint("k", r.IntN(3)): r.IntN(9)} },
	} {
		if r.IntN(3) == 0 {
			change()
		}
	}
	return u
}

// cut returns updates that have one member each, in any order.
func cut(r *rand.Rand, u *acp.ToolCallUpdate) (pieces []*acp.ToolCallUpdate) {
	pieces = []*acp.ToolCallUpdate{
		{Title: u.Title}, {Name: u.Name}, {Kind: u.Kind}, {Status: u.Status}, {Content: u.Content}, {Locations: u.Locations},
		{RawInput: u.RawInput}, {RawOutput: u.RawOutput}, {Meta: u.Meta},
	}
	r.Shuffle(len(pieces), func(i, j int) { pieces[i], pieces[j] = pieces[j], pieces[i] })
	return pieces
}

// A tool call is the same however its updates are cut. Announced again, it does not change; and the
// announcement alone gives the tool call.
func TestToolCallsInAnyCut(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		whole, pieces := &acp.ToolCall{ToolCallID: "1"}, &acp.ToolCall{ToolCallID: "1"}
		for range 1 + r.IntN(8) {
			u := randomUpdate(r)
			fold.Update(whole, u)
			for _, piece := range cut(r, u) {
				fold.Update(pieces, piece)
			}
			require.Equal(t, whole, pieces, "seed %d", seed)
		}
		again, alone := *whole, &acp.ToolCall{ToolCallID: "1"}
		fold.Update(&again, fold.Announced(whole))
		assert.Equal(t, whole, &again, "seed %d", seed)
		fold.Update(alone, fold.Announced(whole))
		assert.Equal(t, whole, alone, "seed %d", seed)
	}
}

// What was said before is kept by whoever has it.
func TestUpdatesDoNotModifyWhatTheyReplace(t *testing.T) {
	c := &acp.ToolCall{Title: "a", Content: []acp.ToolCallContent{acp.ToolText("a")}, Meta: acp.Meta{"k": 1}}
	before := *c
	u := &acp.ToolCallUpdate{Title: "b", Content: []acp.ToolCallContent{}, RawInput: json.RawMessage("null"), Meta: acp.Meta{"l": 2}}
	fold.Update(c, u)
	assert.Equal(t, &acp.ToolCall{Title: "b", Content: []acp.ToolCallContent{}, Meta: acp.Meta{"k": 1, "l": 2}}, c)
	assert.Equal(t, acp.ToolCall{Title: "a", Content: []acp.ToolCallContent{acp.ToolText("a")}, Meta: acp.Meta{"k": 1}}, before)
	assert.Equal(t, acp.Meta{"l": 2}, u.Meta)
}

// A status that comes after the end of the turn opens the call again. Whoever keeps some fields
// alone has those.
func TestFieldsThatAreKept(t *testing.T) {
	title, ended := "", true
	state := fold.Call{Title: &title, Ended: &ended}
	state.Apply(fold.Call{Title: fold.Text("t"), Name: fold.Text("n"), Cancellable: new(true)})
	assert.Equal(t, "t", title)
	assert.True(t, ended)
	state.Apply(fold.Call{Status: new("in_progress")})
	assert.False(t, ended)
	assert.False(t, fold.Final("in_progress") || fold.Final("") || fold.Final("_own"))
	assert.True(t, fold.Final(acp.ToolCallStatusFailed) && fold.Final("completed") && fold.Final("cancelled"))
}
