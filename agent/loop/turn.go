package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/tools"
)

// conversation is what the model reads during one turn. It is in memory and in the store.
type conversation struct {
	loop      *Loop
	session   *kit.Session
	messages  []Message
	compacted bool // the conversation was summarized in this turn
}

// Turn makes a turn. Use it as kit.Options.Turn.
func (l *Loop) Turn(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
	c, err := l.open(ctx, s)
	if err != nil {
		return "", err
	}
	prompt := Message{Role: User, Parts: p.Parts}
	if err := c.add(prompt); err != nil {
		return "", err
	}
	for range l.opts.MaxRequests {
		a, err := c.generate(ctx)
		if errors.Is(err, ErrTooLong) && !c.compacted && ctx.Err() == nil {
			if err := c.compact(ctx, prompt); err != nil {
				return "", err
			}
			continue
		}
		if err != nil {
			return "", err
		}
		switch {
		case len(a.message.Calls) > 0:
			if err := c.run(ctx, a); err != nil {
				return "", err
			}
		case a.stop == Length:
			if a.text.Len() < 200 { // an answer this short did not reach a limit for answers, so the context was full
				err = s.Text(ctx, "The model had no room left for its answer: give it a larger context, for Ollama with OLLAMA_CONTEXT_LENGTH=32768.")
			}
			return acp.StopReasonMaxTokens, err
		case a.stop == Refused:
			return acp.StopReasonRefusal, nil
		default:
			return acp.StopReasonEndTurn, nil
		}
	}
	return acp.StopReasonMaxTurnRequests, nil
}

// open reads the conversation from the store. If a crash has left a call without a result, open
// adds a result that says so.
func (l *Loop) open(ctx context.Context, s *kit.Session) (*conversation, error) {
	if l.model == nil {
		return nil, errors.New("loop: New was given no Model: pass the result of chat.New, or a Model of your own")
	}
	c := &conversation{loop: l, session: s}
	items, err := s.History(ctx)
	if err != nil {
		return nil, err
	}
	var results []Result // results of the calls in the latest answer
	for _, item := range items {
		var m Message
		if err := json.Unmarshal(item, &m); err != nil {
			return nil, err
		}
		for _, r := range m.Results {
			if i := slices.IndexFunc(results, func(open Result) bool { return open.ID == r.ID }); i >= 0 {
				results[i] = r
			}
		}
		if m.Role == Results {
			continue
		}
		c.messages = append(c.messages, m)
		if results = interrupted(m.Calls); results != nil {
			c.messages = append(c.messages, Message{Role: Results, Results: results})
		}
	}
	return c, nil
}

func interrupted(calls []Call) (results []Result) {
	for _, call := range calls {
		results = append(results, Result{
			ID: call.ID, Name: call.Name, Failed: true,
			Parts: []tools.Part{{Text: "The call was interrupted: it may have taken effect. Look before you repeat it."}},
		})
	}
	return results
}

// add stores a message and adds it to the conversation.
func (c *conversation) add(m Message) error {
	if err := c.session.Remember(m); err != nil {
		return err
	}
	c.messages = append(c.messages, m)
	return nil
}

// generate sends a request, shows the answer, and adds the answer to the conversation. If it fails,
// the part that has arrived is added.
func (c *conversation) generate(ctx context.Context) (*answer, error) {
	a := &answer{calls: make(map[int]*pending)}
	err := c.read(ctx, a)
	err = cmp.Or(err, c.session.EndMessage())
	a.finish(err == nil)
	if len(a.message.Parts) > 0 || len(a.message.Calls) > 0 {
		err = cmp.Or(err, c.add(a.message))
	}
	return a, err
}

func (c *conversation) request() *Request {
	s := c.session
	r := &Request{Model: s.Setting("model"), Messages: c.messages, Tools: s.Tools(), Setting: s.Setting}
	if system := c.loop.opts.System; system != nil {
		r.System = system(s)
	}
	r.System = s.SystemPrompt().Apply(r.System)
	return r
}

// read reads an answer and shows it.
func (c *conversation) read(ctx context.Context, a *answer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := c.session
	for e, err := range c.loop.model.Generate(ctx, c.request()) {
		if err != nil {
			return err
		}
		switch e := e.(type) {
		case Text:
			a.text.WriteString(string(e))
			err = s.Text(ctx, string(e))
		case Thought:
			err = s.Thought(ctx, string(e))
		case CallDelta:
			if named := a.add(e); named != nil {
				named.shown, err = s.Announce(ctx, named.Name)
			}
		case Usage:
			err = s.Usage(ctx, e.Used, e.Size)
		case Stop:
			a.stop, a.message.Opaque = e.Reason, e.Opaque
			return nil
		}
		if err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// run runs the calls of an answer and adds their results. The result of each call is stored when
// the call ends.
func (c *conversation) run(ctx context.Context, a *answer) error {
	ended := func(d tools.Done) error {
		return c.session.Remember(Message{Role: Results, Results: []Result{resultOf(d)}})
	}
	requests := make([]tools.Request, len(a.message.Calls))
	for i, call := range a.message.Calls {
		requests[i] = tools.Request{ID: call.ID, Name: call.Name, Input: call.Input, ToolCallID: a.shown[i], Ended: ended}
	}
	done, err := c.session.Run(ctx, requests...)
	m := Message{Role: Results}
	for _, d := range done {
		m.Results = append(m.Results, resultOf(d))
	}
	c.messages = append(c.messages, m)
	return err
}

func resultOf(d tools.Done) Result {
	return Result{ID: d.ID, Name: d.Name, Parts: d.Model, Failed: d.Outcome != tools.Completed}
}

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
