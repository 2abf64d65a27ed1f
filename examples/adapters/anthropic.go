// Package adapters has models for agent/loop over the libraries of two services.
package adapters

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// Anthropic is a loop.Model. Params are those of each request, without System, Messages and Tools;
// they must have a Model and MaxTokens.
type Anthropic struct {
	Client anthropic.Client
	Params anthropic.MessageNewParams
	Window uint64 // the size of the context of the model in tokens; 0 means not known
}

// Generate implements loop.Model.
func (m *Anthropic) Generate(ctx context.Context, req *loop.Request) iter.Seq2[loop.Event, error] {
	return loop.Stream(ctx, func(ctx context.Context, show func(loop.Event)) error {
		stream := m.Client.Messages.NewStreaming(ctx, m.params(req))
		defer stream.Close()
		var answer anthropic.Message
		for stream.Next() {
			e := stream.Current()
			if err := answer.Accumulate(e); err != nil {
				return told(err)
			}
			switch {
			case e.Type == "message_stop":
				u := answer.Usage
				in := uint64(u.InputTokens + u.CacheCreationInputTokens + u.CacheReadInputTokens)
				tokens := &acp.Usage{InputTokens: in, OutputTokens: uint64(u.OutputTokens), TotalTokens: in + uint64(u.OutputTokens)}
				show(loop.Usage{Used: tokens.TotalTokens, Size: m.Window, Tokens: tokens})
				show(stop(&answer))
			case e.ContentBlock.Type == "tool_use":
				show(loop.CallDelta{Index: int(e.Index), ID: e.ContentBlock.ID, Name: e.ContentBlock.Name})
			case e.Delta.PartialJSON != "":
				show(loop.CallDelta{Index: int(e.Index), Input: e.Delta.PartialJSON})
			case e.Delta.Thinking != "":
				show(loop.Thought(e.Delta.Thinking))
			case e.Delta.Text != "":
				show(loop.Text(e.Delta.Text))
			}
		}
		return told(stream.Err())
	})
}

// told returns the error of a service as a record with its own text, which is written for people.
func told(err error) error {
	if err == nil {
		return nil
	}
	text := fmt.Sprintf("%.300s", err)
	if loop.SaysTooLong(text) {
		return kind.ContextTooLarge.New(text).WithCause(errors.Join(err, loop.ErrTooLong)) //errlint:ignore the person decides by what the service says
	}
	record, _ := kind.From(classify.Error(err))
	told := *record
	told.Message = text //errlint:ignore the person decides by what the service says
	return &told
}

func stop(answer *anthropic.Message) loop.Stop {
	message := answer.ToParam()
	message.Content = slices.DeleteFunc(message.Content, func(b anthropic.ContentBlockParamUnion) bool {
		return b.OfText != nil && strings.TrimSpace(b.OfText.Text) == "" // which the service sends, and refuses
	})
	opaque, _ := json.Marshal(message) // of which all was JSON
	reasons := map[anthropic.StopReason]loop.StopReason{"max_tokens": loop.Length, "model_context_window_exceeded": loop.Length, "refusal": loop.Refused}
	return loop.Stop{Reason: reasons[answer.StopReason], Opaque: opaque}
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
		var out anthropic.MessageParam
		if json.Unmarshal(msg.Opaque, &out) != nil || out.Content == nil { // it was cut, or is of another model
			out = message(msg)
		}
		p.Messages = append(p.Messages, out)
	}
	return p
}

func message(msg loop.Message) anthropic.MessageParam {
	out := anthropic.NewUserMessage(blocks(msg.Parts)...)
	if msg.Role == loop.Assistant {
		out.Role = anthropic.MessageParamRoleAssistant
	}
	for _, c := range msg.Calls {
		out.Content = append(out.Content, anthropic.NewToolUseBlock(c.ID, c.Object(), c.Name))
	}
	for _, r := range msg.Results {
		result := &anthropic.ToolResultBlockParam{ToolUseID: r.ID, IsError: anthropic.Bool(r.Failed)}
		for _, b := range blocks(r.Parts) {
			result.Content = append(result.Content, anthropic.ToolResultBlockParamContentUnion{OfText: b.OfText, OfImage: b.OfImage})
		}
		out.Content = append(out.Content, anthropic.ContentBlockParamUnion{OfToolResult: result})
	}
	return out
}

func blocks(parts []tools.Part) (all []anthropic.ContentBlockParamUnion) {
	for _, p := range parts {
		if strings.HasPrefix(p.MIMEType, "image/") {
			all = append(all, anthropic.NewImageBlockBase64(p.MIMEType, base64.StdEncoding.EncodeToString(p.Data)))
		} else if t := p.String(); strings.TrimSpace(t) != "" {
			all = append(all, anthropic.NewTextBlock(t))
		}
	}
	return all
}
