package loop

import (
	"context"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/rpcerr"
)

const (
	summarize = "Summarize this conversation for yourself, because only your summary will be left of it: what was asked, what is decided, which files and commands matter, what is done, and what is still to do. Answer with the summary alone."

	// keptText is how much of a text is left when a conversation that is too long is summarized.
	keptText = 4 << 10
)

// Compact is the function of a command that replaces what the model reads by a summary.
func (l *Loop) Compact(ctx context.Context, s *kit.Session, _ *kit.Prompt) (acp.StopReason, error) {
	c, err := l.open(ctx, s)
	if err != nil {
		return "", err
	}
	if len(c.messages) == 0 {
		return "", s.Text(ctx, "There is nothing to summarize yet.")
	}
	if err := c.summarize(ctx, c.messages, nil); err != nil {
		return "", err
	}
	return "", s.Text(ctx, "The conversation is summarized.")
}

// compact summarizes a conversation that has become too long, up to the prompt of this turn, with
// long texts cut.
func (c *conversation) compact(ctx context.Context) error {
	c.compacted = true
	last := len(c.messages) - 1
	for last > 0 && c.messages[last].Role != User {
		last--
	}
	short := make([]Message, 0, len(c.messages))
	for _, m := range c.messages {
		short = append(short, m.shortened())
	}
	return c.summarize(ctx, short, []Message{c.messages[last].shortened()})
}

func (m Message) shortened() Message {
	m.Parts, m.Opaque = shortened(m.Parts), nil // which has the texts in full
	results := make([]Result, len(m.Results))
	for i, r := range m.Results {
		r.Parts = shortened(r.Parts)
		results[i] = r
	}
	m.Results = results
	calls := make([]Call, len(m.Calls))
	for i, c := range m.Calls {
		if len(c.Input) > keptText {
			c.Input = input(cut(string(c.Input))) // which is a text then
		}
		calls[i] = c
	}
	m.Calls = calls
	return m
}

// cut leaves out the middle of a text.
func cut(text string) string {
	return strings.ToValidUTF8(text[:keptText/2]+"\n[...]\n"+text[len(text)-keptText/2:], "")
}

// shortened leaves out data, and the middle of long texts.
func shortened(parts []tools.Part) []tools.Part {
	short := make([]tools.Part, 0, len(parts))
	for _, p := range parts {
		switch {
		case p.Data != nil:
			p = tools.Part{Text: "[" + p.MIMEType + "]"}
		case len(p.Text) > keptText:
			p.Text = cut(p.Text)
		}
		short = append(short, p)
	}
	return short
}

// summarize replaces the conversation by a summary of the messages, and what follows it.
func (c *conversation) summarize(ctx context.Context, messages, after []Message) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req := c.request()
	req.Messages = append(messages[:len(messages):len(messages)], Message{Role: User, Parts: []tools.Part{{Text: summarize}}})
	var text strings.Builder
	for e, err := range c.loop.model.Generate(ctx, req) {
		if err != nil {
			return err
		}
		switch e := e.(type) {
		case Text:
			text.WriteString(string(e))
		case Usage:
			if err := c.session.Usage(ctx, e.Used, e.Size); err != nil {
				return err
			}
		}
		if _, ok := e.(Stop); ok {
			break
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if strings.TrimSpace(text.String()) == "" {
		return rpcerr.InternalError(nil).WithDetail("the model has not summarized the conversation")
	}
	next := append([]Message{
		{Role: User, Parts: []tools.Part{{Text: "A summary of our conversation so far:\n\n" + text.String()}}},
		{Role: Assistant, Parts: []tools.Part{{Text: "Thank you, I go on from there."}}},
	}, after...)
	items := make([]any, len(next))
	for i, m := range next {
		items[i] = m
	}
	if err := c.session.Compact(items...); err != nil {
		return err
	}
	c.messages = next
	return nil
}
