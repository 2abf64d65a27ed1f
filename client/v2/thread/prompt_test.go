package thread_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp/v2"
	model "github.com/acpkit/go-sdk/client/thread"
	"github.com/acpkit/go-sdk/client/v2/thread"
)

// Whatever comes first, the response or the echo, and however the echo is cut, the prompt
// is one message.
func TestEchoAndResponseInAnyOrder(t *testing.T) {
	empty := `{"sessionUpdate":"user_message","messageId":"u","content":[]}`
	whole := `{"sessionUpdate":"user_message","messageId":"u","content":[{"type":"text","text":"hello"}]}`
	he := `{"sessionUpdate":"user_message_chunk","messageId":"u","content":{"type":"text","text":"he"}}`
	llo := `{"sessionUpdate":"user_message_chunk","messageId":"u","content":{"type":"text","text":"llo"}}`
	other := `{"sessionUpdate":"user_message_chunk","messageId":"u","content":{"type":"text","text":"[hello]"}}`
	for name, c := range map[string]struct{ events, want string }{
		"no echo":                         {"response", "hello"},
		"response, then whole":            {"response " + whole, "hello"},
		"whole, then response":            {whole + " response", "hello"},
		"response, then chunks":           {"response " + he + " " + llo, "hello"},
		"chunks, then response":           {he + " " + llo + " response", "hello"},
		"response between chunks":         {he + " response " + llo, "hello"},
		"response, reset and chunks":      {"response " + empty + " " + he + " " + llo, "hello"},
		"reset, response and chunks":      {empty + " response " + he + " " + llo, "hello"},
		"the agent says it differently":   {"response " + other, "[hello]"},
		"begins alike and goes on in its": {"response " + he + " " + other, "he[hello]"},
	} {
		t.Run(name, func(t *testing.T) {
			th := model.New()
			responded := thread.Prompt(th, []acp.ContentBlock{acp.Text("hello")})
			assert.Equal(t, "hello", th.Snapshot().Queued[0].Content.At(0).Text)
			for e := range strings.SplitSeq(c.events, " ") {
				if e == "response" {
					responded(&acp.PromptResponse{MessageID: "u"})
					continue
				}
				thread.Apply(th, update(t, e))
			}
			s := th.Snapshot()
			assert.Empty(t, s.Queued)
			assert.Equal(t, 1, s.Items.Len())
			assert.Equal(t, c.want, s.Items.At(0).(*model.Message).Text())
			assert.Equal(t, "u", s.Items.At(0).(*model.Message).ID)
		})
	}
}

// Held prompts stand where the agent inserts them, also two of the same text.
func TestHeldPrompts(t *testing.T) {
	th := model.New()
	first := thread.Prompt(th, []acp.ContentBlock{acp.Text("a")})
	second := thread.Prompt(th, []acp.ContentBlock{acp.Text("b")})
	third := thread.Prompt(th, []acp.ContentBlock{acp.Text("a")})
	assert.Len(t, th.Snapshot().Queued, 3)
	first(&acp.PromptResponse{MessageID: "1"})
	thread.Apply(th, update(t, `{"sessionUpdate":"user_message","messageId":"1","content":[{"type":"text","text":"a"}]}`))
	thread.Apply(th, update(t, `{"sessionUpdate":"agent_message","messageId":"r","content":[{"type":"text","text":"reply"}]}`))
	second(nil) // withdrawn
	second(&acp.PromptResponse{MessageID: "2"})
	third(&acp.PromptResponse{MessageID: "3"})
	thread.Apply(th, update(t, `{"sessionUpdate":"user_message","messageId":"3","content":[{"type":"text","text":"a"}]}`))
	thread.Apply(th, update(t, `{"sessionUpdate":"user_message","messageId":"4","content":[{"type":"text","text":"a"}]}`))
	assert.Empty(t, th.Snapshot().Queued)
	var got []string
	for _, item := range th.Snapshot().Items.All() {
		m := item.(*model.Message)
		got = append(got, m.ID+" "+m.Text())
	}
	assert.Equal(t, []string{"1 a", "r reply", "3 a", "4 a"}, got)
}
