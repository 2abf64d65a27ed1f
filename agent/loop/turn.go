package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// conversation is what the model reads during one turn. It is in memory and in the store.
type conversation struct {
	loop      *Loop
	session   *kit.Session
	messages  []Message
	compacted bool // the conversation was summarized in this turn
	empty     int  // the latest answers of this turn that had nothing to show or to run
	broken    int  // the latest answers of this turn whose calls had no complete input
}

// Turn makes a turn. Use it as kit.Options.Turn.
func (l *Loop) Turn(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
	c, err := l.open(ctx, s)
	if err != nil {
		return "", err
	}
	for _, e := range p.Earlier {
		if err := c.add(Message{Role: User, Parts: e.Parts}); err != nil {
			return "", err
		}
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
			if err := c.tell(ctx, "The conversation had become too long for the model, so the model goes on with a summary of it."); err != nil {
				return "", err
			}
			continue
		}
		if err != nil {
			return "", err
		}
		if reason, err := c.after(ctx, a); reason != "" || err != nil {
			return reason, err
		}
	}
	return acp.StopReasonMaxTurnRequests, nil
}

// maxBroken is the number of answers in a row with incomplete calls after which a turn ends.
const maxBroken = 3

// after runs the calls of an answer, and tells the person how the answer has ended. If it returns
// neither a reason nor an error, the model is asked again.
func (c *conversation) after(ctx context.Context, a *answer) (acp.StopReason, error) {
	switch {
	case a.stop.Reason == Refused && len(a.message.Parts) == 0:
		return acp.StopReasonRefusal, c.tell(ctx, "The model has refused to answer"+a.stop.said()+".")
	case a.stop.Reason == Refused:
		return acp.StopReasonRefusal, nil
	case a.stop.Reason == Filtered:
		return acp.StopReasonRefusal, c.tell(ctx, "A filter of the service has ended the answer"+a.stop.said()+".")
	case len(a.message.Calls) > 0:
		if a.broken {
			c.broken++
		} else {
			c.broken = 0
		}
		c.empty = 0
		if err := c.run(ctx, a); err != nil || c.broken < maxBroken {
			return "", err
		}
		return acp.StopReasonMaxTokens, c.tell(ctx, "The calls of the model are cut off again and again: give it a larger limit for its answers, or a smaller task.")
	case a.stop.Reason == Length:
		if a.text.Len() < 200 { // an answer this short did not reach a limit for answers, so the context was full
			return acp.StopReasonMaxTokens, c.tell(ctx, "The model had no room left for its answer: give it a larger context, for Ollama with OLLAMA_CONTEXT_LENGTH=32768.")
		}
		return acp.StopReasonMaxTokens, nil
	case a.stop.Reason == Done && len(a.message.Parts) > 0:
		return acp.StopReasonEndTurn, nil
	}
	if c.empty++; c.empty < 2 {
		return "", nil
	}
	if a.stop.Reason == ToolCalls {
		return acp.StopReasonEndTurn, c.tell(ctx, "The model has announced tool calls twice and has sent none. Ask again, or choose another model.")
	}
	return acp.StopReasonEndTurn, c.tell(ctx, "The model has answered twice without a text or a call. Ask again, or choose another model.")
}

// said returns the word of the service for a reason, in brackets.
func (s Stop) said() string {
	if s.Text == "" {
		return ""
	}
	return " (" + cut(s.Text, 300) + ")"
}

// tell shows the person a sentence that is not part of the conversation. A client without notices gets
// it as a message.
func (c *conversation) tell(ctx context.Context, text string) error {
	if c.session.Conn().ClientCapabilities().Has("session.notices") {
		return c.session.SendNotice(ctx, text)
	}
	if err := cmp.Or(c.session.EndMessage(), c.session.Text(ctx, text)); err != nil {
		return err
	}
	return c.session.EndMessage()
}

// used reports what a request has used.
func (c *conversation) used(ctx context.Context, u Usage) error {
	c.session.Count(u.Tokens, u.Cost)
	return c.session.SendUsage(ctx, u.Used, u.Size)
}

// open returns the conversation. It reads only what was added since the session's last turn. If a crash
// has left a call without a result, open adds a result that says so.
func (l *Loop) open(ctx context.Context, s *kit.Session) (*conversation, error) {
	if l.model == nil {
		return nil, errors.New("loop: New was given no Model: pass the result of chat.New, or a Model of your own")
	}
	items, err := s.History(ctx)
	if err != nil {
		return nil, err
	}
	kept, known := l.kept.LoadOrStore(s, new(memory))
	if !known {
		s.OnClose(func() { l.kept.Delete(s) })
	}
	m := kept.(*memory) // used by the turns of the session, of which one runs at a time
	if err := m.add(items); err != nil {
		return nil, err
	}
	return &conversation{loop: l, session: s, messages: m.messages}, nil
}

// memory is the conversation of a session as it was when its last turn began.
type memory struct {
	messages []Message
	items    []json.RawMessage // of which the messages are made
}

// add adds the items of a session that are new.
func (m *memory) add(items []json.RawMessage) error {
	n := len(m.items)
	if n > len(items) || n > 0 && &m.items[n-1][0] != &items[n-1][0] { // compacted, or read again from the store
		*m, n = memory{}, 0
	}
	for _, item := range items[n:] {
		var next Message
		if err := json.Unmarshal(item, &next); err != nil {
			*m = memory{}
			return err
		}
		m.fold(next)
	}
	m.items = items
	return nil
}

// fold adds a stored message. Those of results belong to the calls of the latest answer.
func (m *memory) fold(next Message) {
	if next.Role == Results {
		if len(m.messages) == 0 {
			return
		}
		results := m.messages[len(m.messages)-1].Results
		find := func(id string) *Result {
			i := slices.IndexFunc(results, func(open Result) bool { return open.ID == id })
			if i < 0 {
				return new(Result)
			}
			return &results[i]
		}
		if next.Began != "" {
			find(next.Began).Parts = []tools.Part{{Text: "The call was interrupted: it may have taken effect. Look before you repeat it."}}
		}
		for _, r := range next.Results {
			*find(r.ID) = r
		}
		return
	}
	m.messages = append(m.messages, next)
	if results := interrupted(next.Calls); results != nil {
		m.messages = append(m.messages, Message{Role: Results, Results: results})
	}
}

func interrupted(calls []Call) (results []Result) {
	for _, call := range calls {
		results = append(results, Result{
			ID: call.ID, Name: call.Name, Failed: true,
			Parts: []tools.Part{{Text: "The call did not run, because the agent was interrupted before."}},
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
	a := &answer{calls: make(map[int]*pending), room: c.loop.opts.MaxAnswer}
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
			if err = a.take(len(e)); err == nil {
				a.text.WriteString(string(e))
				err = s.Text(ctx, string(e))
			}
		case Thought:
			err = cmp.Or(a.take(len(e)), s.Thought(ctx, string(e)))
		case CallDelta:
			var named *pending
			if named, err = a.add(e); named != nil {
				named.shown, err = s.Announce(ctx, named.Name)
			}
		case Notice:
			err = c.tell(ctx, string(e))
		case Usage:
			err = c.used(ctx, e)
		case Stop:
			a.stop, a.message.Opaque = e, e.Opaque
			if e.Reason == Failed {
				return kind.ServiceUnavailable.New("the service has ended the answer of the model" + e.said()).WithHint("Send the prompt again.")
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// run runs the calls of an answer and adds their results. That a call begins and its result are
// stored at once.
func (c *conversation) run(ctx context.Context, a *answer) error {
	ended := func(d tools.Done) error {
		return c.session.Remember(Message{Role: Results, Results: []Result{resultOf(d)}})
	}
	requests := make([]tools.Request, len(a.message.Calls))
	for i, call := range a.message.Calls {
		began := func() error { return c.session.Remember(Message{Role: Results, Began: call.ID}) }
		requests[i] = tools.Request{ID: call.ID, Name: call.Name, Input: a.inputs[i], ToolCallID: a.shown[i], Began: began, Ended: ended}
	}
	if a.stop.Reason == Length && a.broken {
		requests[len(requests)-1].Err = tools.Failf("Your output was cut at the limit of tokens for one answer, so this call did not run. Do it in smaller steps.")
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
