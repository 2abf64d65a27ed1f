package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/stream"
)

// floodEnv makes the test binary a flooder. Its value names one of the floods.
const floodEnv = "CHAT_TEST_FLOOD"

// floods are what a hostile agent sends before a thousand small updates.
var floods = map[string]func() []acp.SessionUpdate{
	"a small title":    func() []acp.SessionUpdate { return []acp.SessionUpdate{call("a title")} },
	"a title of 1 MB":  func() []acp.SessionUpdate { return []acp.SessionUpdate{call(unprintable(1 << 20))} },
	"a title of 8 MB":  func() []acp.SessionUpdate { return []acp.SessionUpdate{call(unprintable(8 << 20))} },
	"an input of 8 MB": func() []acp.SessionUpdate { return []acp.SessionUpdate{withInput(unprintable(8 << 20))} },
	"5000 blocks":      func() []acp.SessionUpdate { return []acp.SessionUpdate{call("a title"), blocks(5000)} },
	"a plan of 5000":   func() []acp.SessionUpdate { return []acp.SessionUpdate{call("a title"), plan(5000, "a step")} },
	"a step of 8 MB":   func() []acp.SessionUpdate { return []acp.SessionUpdate{call("a title"), plan(1, unprintable(8<<20))} },
	"a terminal of 1 MB": func() []acp.SessionUpdate {
		return []acp.SessionUpdate{call("a title"), output("T", strings.Repeat("x", 1<<20))}
	},
}

// call is a tool call that stays open.
func call(title string) *acp.ToolCall {
	return &acp.ToolCall{ToolCallID: "c", Title: title, Kind: acp.ToolKindExecute, Status: acp.ToolCallStatusInProgress}
}

func withInput(text string) *acp.ToolCall {
	c := call("a title")
	c.RawInput = []byte(`{"command":"` + text + `"}`)
	return c
}

func unprintable(n int) string { return strings.Repeat("x\u202e", n/4) }

func blocks(n int) *acp.ToolCallUpdate {
	u := &acp.ToolCallUpdate{ToolCallID: "c"}
	for i := range n {
		u.Content = append(u.Content, acp.ToolText(fmt.Sprint("block ", i)))
	}
	return u
}

func plan(n int, step string) *acp.Plan {
	p := &acp.Plan{}
	for range n {
		p.Entries = append(p.Entries, acp.PlanEntry{Content: step, Priority: acp.PlanEntryPriorityLow, Status: acp.PlanEntryStatusPending})
	}
	return p
}

func output(id acp.ToolCallID, text string) *acp.ToolCallUpdate {
	return &acp.ToolCallUpdate{ToolCallID: id, Meta: acp.Meta{"terminal_output": map[string]any{"terminal_id": "t", "data": text}}}
}

// flooder sends a flood, and then small updates: a thousand, or at the prompt "on" until it is cancelled.
type flooder struct {
	conn *agent.Conn
	what string
}

func (f *flooder) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{}, nil
}

func (f *flooder) NewSession(context.Context, *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	return &acp.NewSessionResponse{SessionID: "s"}, nil
}

func (f *flooder) Cancel(context.Context, *acp.CancelNotification) error { return nil }

func (f *flooder) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	s := f.conn.Session(req.SessionID)
	for _, u := range floods[f.what]() {
		if err := s.Update(ctx, u); err != nil {
			return nil, err
		}
	}
	on := req.Prompt[0].(*acp.TextContent).Text == "on"
	for i := 0; (on || i < 1000) && ctx.Err() == nil; i++ {
		err := s.Message(ctx, fmt.Sprint("u", i, " "))
		if i%2 == 0 {
			err = s.Update(ctx, &acp.ToolCallUpdate{ToolCallID: "c", Kind: []acp.ToolKind{acp.ToolKindEdit, acp.ToolKindExecute}[i/2%2]})
		}
		if err != nil {
			return nil, err
		}
		if i%50 == 0 { // so that chat draws often, and is not far behind
			_ = f.conn.Call(ctx, "_ping", nil, nil) // chat has no such method
		}
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, ctx.Err()
}

func flood(what string) {
	err := agent.Serve(context.Background(), stream.Stdio(), func(c *agent.Conn) acp.Agent { return &flooder{c, what} }, nil)
	if err != nil {
		panic(err)
	}
}
