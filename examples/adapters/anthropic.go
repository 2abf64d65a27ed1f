// Package adapters has models for agent/loop over the libraries of two services.
package adapters

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"iter"
	"slices"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/agent/tools"
)

// Anthropic is a loop.Model. Params are those of each request, without System, Messages and Tools;
// they must have a Model and MaxTokens.
type Anthropic struct {
	Client anthropic.Client
	Params anthropic.MessageNewParams
}

// Generate implements loop.Model.
func (m *Anthropic) Generate(ctx context.Context, req *loop.Request) iter.Seq2[loop.Event, error] {
	return func(yield func(loop.Event, error) bool) {
		stream := m.Client.Messages.NewStreaming(ctx, m.params(req))
		defer stream.Close()
		var answer anthropic.Message
		for stream.Next() {
			e := stream.Current()
			if err := answer.Accumulate(e); err != nil {
				yield(nil, failed(ctx, err))
				return
			}
			var event loop.Event
			switch {
			case e.Type == "message_stop":
				u := answer.Usage
				used := u.InputTokens + u.CacheCreationInputTokens + u.CacheReadInputTokens + u.OutputTokens
				_ = yield(loop.Usage{Used: uint64(used)}, nil) && yield(stop(&answer))
				return
			case e.ContentBlock.Type == "tool_use":
				event = loop.CallDelta{Index: int(e.Index), ID: e.ContentBlock.ID, Name: e.ContentBlock.Name}
			case e.Delta.PartialJSON != "":
				event = loop.CallDelta{Index: int(e.Index), Input: e.Delta.PartialJSON}
			case e.Delta.Thinking != "":
				event = loop.Thought(e.Delta.Thinking)
			case e.Delta.Text != "":
				event = loop.Text(e.Delta.Text)
			}
			if event != nil && !yield(event, nil) {
				return
			}
		}
		yield(nil, failed(ctx, stream.Err()))
	}
}

func stop(answer *anthropic.Message) (loop.Event, error) {
	message := answer.ToParam()
	message.Content = slices.DeleteFunc(message.Content, func(b anthropic.ContentBlockParamUnion) bool {
		return b.OfText != nil && strings.TrimSpace(b.OfText.Text) == "" // which the service sends, and refuses
	})
	opaque, err := json.Marshal(message)
	reasons := map[anthropic.StopReason]loop.StopReason{"max_tokens": loop.Length, "model_context_window_exceeded": loop.Length, "refusal": loop.Refused}
	return loop.Stop{Reason: reasons[answer.StopReason], Opaque: opaque}, err
}

func (m *Anthropic) params(req *loop.Request) anthropic.MessageNewParams {
	p := m.Params
	p.Model = cmp.Or(req.Model, p.Model)
	p.CacheControl = anthropic.NewCacheControlEphemeralParam() // each request begins with the one before
	if req.System != "" {
		p.System = []anthropic.TextBlockParam{{Text: req.System}}
	}
	for _, t := range req.Tools {
		tool := anthropic.ToolUnionParamOfTool(param.Override[anthropic.ToolInputSchemaParam](t.Schema), t.Name)
		tool.OfTool.Description = anthropic.String(t.Description)
		p.Tools = append(p.Tools, tool)
	}
	for _, msg := range req.Messages {
		out := anthropic.NewUserMessage(blocks(msg.Parts)...)
		for _, r := range msg.Results {
			result := &anthropic.ToolResultBlockParam{ToolUseID: r.ID, IsError: anthropic.Bool(r.Failed)}
			for _, b := range blocks(r.Parts) {
				result.Content = append(result.Content, anthropic.ToolResultBlockParamContentUnion{OfText: b.OfText, OfImage: b.OfImage})
			}
			out.Content = append(out.Content, anthropic.ContentBlockParamUnion{OfToolResult: result})
		}
		var own anthropic.MessageParam
		if json.Unmarshal(msg.Opaque, &own) == nil && own.Content != nil {
			out = own
		} else if msg.Role == loop.Assistant { // cut, or of another model
			out.Role = anthropic.MessageParamRoleAssistant
			for _, c := range msg.Calls {
				out.Content = append(out.Content, anthropic.NewToolUseBlock(c.ID, object(c.Input), c.Name))
			}
		}
		p.Messages = append(p.Messages, out)
	}
	return p
}

func blocks(parts []tools.Part) (all []anthropic.ContentBlockParamUnion) {
	for _, p := range parts {
		if strings.HasPrefix(p.MIMEType, "image/") {
			all = append(all, anthropic.NewImageBlockBase64(p.MIMEType, base64.StdEncoding.EncodeToString(p.Data)))
		} else if t := text(p); strings.TrimSpace(t) != "" {
			all = append(all, anthropic.NewTextBlock(t))
		}
	}
	return all
}
