package loop

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

const summarize = "Summarize this conversation for yourself, because only your summary will be left of it: what was asked, what is decided, which files and commands matter, what is done, and what is still to do. Answer with the summary alone."

// In the request for a summary, texts are cut to maxText bytes. If the request is still too long,
// the limit is lowered step by step to minText.
const (
	maxText    = 4 << 10
	minText    = 16
	maxSummary = 64 << 10
)

// Compact replaces the conversation that the model reads by a summary. Use it as kit.Command.Run.
func (l *Loop) Compact(ctx context.Context, s *kit.Session, _ *kit.Prompt) (acp.StopReason, error) {
	c, err := l.open(ctx, s)
	if err != nil {
		return "", err
	}
	if len(c.messages) == 0 {
		return "", s.Text(ctx, "There is nothing to summarize yet.")
	}
	if err := c.compact(ctx); err != nil {
		return "", err
	}
	return "", s.Text(ctx, "The conversation is summarized.")
}

// compact replaces the conversation by its summary, followed by the messages after.
func (c *conversation) compact(ctx context.Context, after ...Message) error {
	c.compacted = true
	limit := maxText
	summary, err := c.summary(ctx, limit)
	for errors.Is(err, ErrTooLong) && limit > minText && ctx.Err() == nil {
		limit /= 4
		summary, err = c.summary(ctx, limit)
	}
	if err != nil {
		return err
	}
	next := []Message{
		{Role: User, Parts: []tools.Part{{Text: "A summary of our conversation so far:\n\n" + summary}}},
		{Role: Assistant, Parts: []tools.Part{{Text: "Thank you, I go on from there."}}},
	}
	next = append(next, after...)
	items := make([]any, len(next))
	for i, m := range next {
		items[i] = m
	}
	c.messages = next
	return c.session.Compact(items...)
}

// summary asks the model for a summary of the conversation, with long texts cut.
func (c *conversation) summary(ctx context.Context, limit int) (string, error) {
	req := c.request()
	req.Messages = make([]Message, len(c.messages), len(c.messages)+1)
	for i, m := range c.messages {
		req.Messages[i] = m.shortened(limit)
	}
	req.Messages = append(req.Messages, Message{Role: User, Parts: []tools.Part{{Text: summarize}}})
	var text strings.Builder
	for e, err := range c.loop.model.Generate(ctx, req) {
		switch e := e.(type) {
		case Text:
			text.WriteString(string(e))
		case Usage:
			err = c.used(ctx, e)
		case Notice:
			err = c.tell(ctx, string(e))
		}
		if err != nil {
			return "", err
		}
		if text.Len() > c.loop.opts.MaxAnswer {
			break
		}
	}
	if strings.TrimSpace(text.String()) == "" {
		return "", cmp.Or(context.Cause(ctx), error(kind.ServiceUnavailable.New("the model has not summarized the conversation").WithHint("Try /compact again, or begin a new session.")))
	}
	return cut(text.String(), maxSummary), context.Cause(ctx)
}

// shortened returns the message for the request for a summary, with texts of at most limit bytes.
func (m Message) shortened(limit int) Message {
	m.Parts, m.Opaque = shortened(m.Parts, limit), nil // Opaque may contain the texts in full
	results := make([]Result, len(m.Results))
	for i, r := range m.Results {
		r.Parts = shortened(r.Parts, limit)
		results[i] = r
	}
	calls := make([]Call, len(m.Calls))
	for i, c := range m.Calls {
		if len(c.Input) > limit {
			c.Input = input(cut(string(c.Input), limit)) // a JSON string if cut makes it invalid
		}
		calls[i] = c
	}
	m.Results, m.Calls = results, calls
	return m
}

// shortened removes data, and the middle of long texts.
func shortened(parts []tools.Part, limit int) []tools.Part {
	short := make([]tools.Part, len(parts))
	for i, p := range parts {
		if p.Data != nil {
			p = tools.Part{Text: "[" + p.MIMEType + "]"}
		}
		p.Text = cut(p.Text, limit)
		short[i] = p
	}
	return short
}

// cut removes the middle of a text that is longer than limit bytes.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit/2]+"\n[...]\n"+text[len(text)-limit/2:], "")
}
