package adapters

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"google.golang.org/genai"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// GenAI is a loop.Model. Config is that of each request, without SystemInstruction and Tools.
type GenAI struct {
	Client *genai.Client
	Model  string
	Config genai.GenerateContentConfig
	Window uint64 // the size of the context of the model in tokens; 0 means not known
}

var reasons = map[genai.FinishReason]loop.StopReason{
	"STOP": loop.Done, "MAX_TOKENS": loop.Length, "SAFETY": loop.Filtered, "PROHIBITED_CONTENT": loop.Filtered,
	"BLOCKLIST": loop.Filtered, "SPII": loop.Filtered, "RECITATION": loop.Filtered, "LANGUAGE": loop.Filtered,
}

var roles = map[loop.Role]genai.Role{loop.User: genai.RoleUser, loop.Assistant: genai.RoleModel, loop.Results: genai.RoleUser}

// Generate implements loop.Model.
func (m *GenAI) Generate(ctx context.Context, req *loop.Request) iter.Seq2[loop.Event, error] {
	return loop.Stream(ctx, func(ctx context.Context, show func(loop.Event)) error {
		answer, finish, used, calls := genai.Content{Role: genai.RoleModel}, genai.FinishReason(""), loop.Usage{}, 0
		for chunk, err := range m.Client.Models.GenerateContentStream(ctx, cmp.Or(req.Model, m.Model), contents(req.Messages), m.config(req)) {
			if err != nil {
				return told(err)
			}
			if u := chunk.UsageMetadata; u != nil {
				total, in := uint64(u.TotalTokenCount), uint64(u.PromptTokenCount)
				used = loop.Usage{Used: total, Size: m.Window, Tokens: &acp.Usage{InputTokens: in, OutputTokens: total - min(in, total), TotalTokens: total}}
			}
			if f := chunk.PromptFeedback; f != nil && f.BlockReason != "" {
				finish = genai.FinishReasonProhibitedContent
			}
			for _, c := range chunk.Candidates {
				finish = cmp.Or(c.FinishReason, finish)
				for _, p := range cmp.Or(c.Content, &genai.Content{}).Parts {
					if call := p.FunctionCall; call != nil {
						input, _ := json.Marshal(call.Args)                      // which were JSON
						call.ID = cmp.Or(call.ID, fmt.Sprintf("call_%d", calls)) // not all models have ids
						show(loop.CallDelta{Index: calls, ID: call.ID, Name: call.Name, Input: strings.TrimPrefix(string(input), "null")})
						calls++
					} else if p.Thought {
						show(loop.Thought(p.Text))
					} else {
						show(loop.Text(p.Text))
					}
					add(&answer, p)
				}
			}
		}
		show(used)
		reason, known := reasons[finish]
		if finish == "" {
			return nil // without a Stop: the answer was cut
		} else if !known {
			return kind.ServiceUnavailable.New(fmt.Sprintf("the answer ended with %s", finish))
		}
		opaque, err := json.Marshal(answer)
		show(loop.Stop{Reason: reason, Text: string(finish), Opaque: opaque})
		return err
	})
}

// add joins the pieces of a text. The signature may be in an empty piece, which could not be sent
// back alone.
func add(answer *genai.Content, p *genai.Part) {
	if n := len(answer.Parts); n > 0 && p.FunctionCall == nil {
		if last := answer.Parts[n-1]; last.FunctionCall == nil && last.Thought == p.Thought && last.ThoughtSignature == nil {
			last.Text, last.ThoughtSignature = last.Text+p.Text, p.ThoughtSignature
			return
		}
	}
	if p.FunctionCall != nil || p.Text != "" {
		answer.Parts = append(answer.Parts, p)
	}
}

func (m *GenAI) config(req *loop.Request) *genai.GenerateContentConfig {
	config := m.Config
	if req.System != "" {
		config.SystemInstruction = genai.NewContentFromText(req.System, genai.RoleUser)
	}
	for _, t := range req.Tools {
		config.Tools = append(config.Tools, &genai.Tool{FunctionDeclarations: []*genai.FunctionDeclaration{
			{Name: t.Name, Description: t.Description, ParametersJsonSchema: t.Schema},
		}})
	}
	return &config
}

func contents(messages []loop.Message) (all []*genai.Content) {
	for _, msg := range messages {
		out := &genai.Content{}
		if json.Unmarshal(msg.Opaque, out) != nil || out.Parts == nil { // it was cut, or is of another model
			out = genai.NewContentFromParts(parts(msg.Parts), roles[msg.Role])
			for _, c := range msg.Calls {
				call := &genai.FunctionCall{ID: c.ID, Name: c.Name}
				_ = json.Unmarshal(c.Object(), &call.Args)
				out.Parts = append(out.Parts, &genai.Part{FunctionCall: call})
			}
		}
		var images []*genai.Part
		for _, r := range msg.Results {
			key, value := "output", ""
			if r.Failed {
				key = "error"
			}
			for _, p := range parts(r.Parts) {
				value += p.Text
				if p.InlineData != nil {
					images = append(images, p)
				}
			}
			out.Parts = append(out.Parts, &genai.Part{FunctionResponse: &genai.FunctionResponse{ID: r.ID, Name: r.Name, Response: map[string]any{key: value}}})
		}
		out.Parts = append(out.Parts, images...)
		all = append(all, out)
	}
	return all
}

func parts(from []tools.Part) (all []*genai.Part) {
	for _, p := range from {
		if strings.HasPrefix(p.MIMEType, "image/") {
			all = append(all, genai.NewPartFromBytes(p.Data, p.MIMEType))
		} else {
			all = append(all, genai.NewPartFromText(p.String()))
		}
	}
	return all
}
