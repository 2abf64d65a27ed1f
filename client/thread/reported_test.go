package thread_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/internal/termview"
)

// Agents that run commands by themselves report their output in the _meta of the tool call, piece by piece.
func TestOutputInMeta(t *testing.T) {
	th := threadOf(t,
		`{"sessionUpdate":"tool_call","toolCallId":"c","title":"ls","status":"in_progress","content":[{"type":"terminal","terminalId":"t"}],"_meta":{"terminal_info":{"cwd":"/w","terminal_id":"t"}}}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c","_meta":{"terminal_output_delta":{"data":"one\n","terminal_id":"t"}}}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c","_meta":{"terminal_output":{"data":"two\n","terminal_id":"t"}}}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","_meta":{"terminal_exit":{"exit_code":3,"signal":null,"terminal_id":"t"}}}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"d","_meta":{"terminal_output":{"data":"more"},"terminal_exit":{"signal":"SIGINT"}}}`)
	s := th.Snapshot()
	assert.Equal(t, &thread.Terminal{ID: "t", Cwd: "/w", Output: []byte("one\ntwo\n"), Exit: &thread.Exit{Code: new(int64(3))}}, s.Terminal("t"))
	assert.Equal(t, []thread.ToolContent{{Type: "terminal", TerminalID: "t"}}, s.ToolCall("c").Content.Slice(), "once")
	assert.Equal(t, &thread.Terminal{ID: "d", Output: []byte("more"), Exit: &thread.Exit{Signal: "SIGINT"}}, s.Terminal("d"))
	assert.Equal(t, []thread.ToolContent{{Type: "terminal", TerminalID: "d"}}, s.ToolCall("d").Content.Slice(), "the call shows it")

	th.Apply(update(t, `{"sessionUpdate":"tool_call_update","toolCallId":"d","content":[],"_meta":{"terminal_output":{"data":"."}}}`))
	assert.Equal(t, []thread.ToolContent{{Type: "terminal", TerminalID: "d"}}, th.Snapshot().ToolCall("d").Content.Slice())
	for _, odd := range []string{`1`, `null`, `[]`, `{"terminal_id":7}`, `{"data":{}}`, `{"exit_code":"x"}`, `{"exit_code":1e99}`} {
		th.Apply(update(t, `{"sessionUpdate":"tool_call_update","toolCallId":"e","_meta":{"terminal_info":`+odd+`,"terminal_output":`+odd+`,"terminal_exit":`+odd+`}}`))
	}
	assert.Empty(t, th.Snapshot().Terminal("e").Output)
}

// What an agent says about a command that this program runs changes nothing of it.
func TestOutputInMetaOfOthers(t *testing.T) {
	set := new(thread.Set)
	var run func(termview.Update)
	c := set.Client(&asking{nil, nil, func(view func(termview.Update)) { run = view }})
	_, _ = c.(acp.TerminalHost).CreateTerminal(t.Context(), &acp.CreateTerminalRequest{SessionID: "s"})
	require.NotNil(t, run)
	run(termview.Update{ID: "t", Command: "ls", Output: []byte("real\n"), Stop: func() {}})
	forged := update(t, `{"sessionUpdate":"tool_call_update","toolCallId":"c","_meta":{"terminal_output":{"data":"forged","terminal_id":"t"},"terminal_exit":{"exit_code":0,"terminal_id":"t"}}}`)
	th := set.Thread("s")
	th.Apply(forged)
	assert.Nil(t, th.Snapshot().Terminal("t").Exit)
	run(termview.Update{ID: "t", Command: "ls", Exit: &acp.TerminalExitStatus{ExitCode: new(uint32(1))}})
	th.Apply(forged)
	assert.Equal(t, "real\n", string(th.Snapshot().Terminal("t").Output))
	assert.Equal(t, int64(1), *th.Snapshot().Terminal("t").Exit.Code)
}

func TestTextOfToolCalls(t *testing.T) {
	for update, want := range map[string]string{
		`"content":[{"type":"content","content":{"type":"text","text":"a"}},{"type":"content","content":{"type":"text","text":"b\n"}}],"rawOutput":"no"`: "a\nb\n",
		`"status":"failed","rawOutput":{"message":"Path already exists","code":"failure"}`:                                                               "Path already exists",
		`"status":"failed","content":[{"type":"diff","path":"/a","newText":"x"}],"rawOutput":{"message":"Path already exists"}`:                          "Path already exists",
		`"status":"completed","content":[{"type":"diff","path":"/a","newText":"x"}],"rawOutput":"updated"`:                                               "",
		`"status":"completed","content":[{"type":"content","content":{"type":"text","text":"asked"}}],"rawOutput":{"stdout":"out\n","message":"no"}`:     "asked\nout\n",
		`"status":"completed","content":[{"type":"content","content":{"type":"text","text":"$ ls\nout"}}],"rawOutput":{"stdout":"out\n"}`:                "$ ls\nout",
		`"status":"completed","rawOutput":"plain"`:                                                           "plain",
		`"status":"completed","rawOutput":{"stdout":"s","stderr":"","formatted_output":"f\n","exit_code":0}`: "f\n",
		`"status":"completed","rawOutput":{"code":3}`:                                                        "", `"status":"completed","rawOutput":[1]`: "", `"status":"completed"`: "",
	} {
		th := threadOf(t, `{"sessionUpdate":"tool_call","title":"T","toolCallId":"1",`+update+`}`)
		assert.Equal(t, want, th.Snapshot().ToolCall("1").Text(), update)
	}
}

// Since tells the changes since an earlier snapshot, and costs nothing if there are none.
func TestSince(t *testing.T) {
	th := threadOf(t, `{"sessionUpdate":"tool_call","toolCallId":"1","title":"a"}`, `{"sessionUpdate":"tool_call","toolCallId":"2","title":"b"}`)
	first, changes := th.Since(nil)
	assert.Equal(t, []thread.Change{{Part: thread.PartAll}}, changes)
	again, changes := th.Since(first)
	assert.Same(t, first, again)
	assert.Nil(t, changes)
	th.Apply(update(t, `{"sessionUpdate":"tool_call_update","toolCallId":"2","title":"c"}`))
	next, changes := th.Since(first)
	assert.Equal(t, []thread.Change{{Part: thread.PartItem, Index: 1}}, changes)
	assert.Equal(t, "c", next.ToolCall("2").Title)
	th.Reset()
	_, changes = th.Since(next)
	assert.Equal(t, []thread.Change{{Part: thread.PartAll}}, changes)
}
