package acp_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/wire"
)

// hotCase is a payload whose codec decides what a conversation costs.
type hotCase struct {
	name  string
	codec *wire.Codec
	value any

	// The same work by hand on jsontext's tokens, and a plain struct for
	// encoding/json; nil where there is no point.
	byJSONText func(*jsontext.Decoder) (any, error)
	plain      func() any
}

func hot() []hotCase {
	update := wire.Notification(acp.ProtocolVersion, acp.MethodSessionUpdate).Params
	read := wire.Request(acp.ProtocolVersion, acp.MethodFSReadTextFile).Result
	line := strings.Repeat("0123456789abcde ", 4)[:63] + "\n"
	code := "\tif err := run(ctx, \"name\", args); err != nil {\n\t\treturn fmt.Errorf(\"running %q: %w\", name, err)\n\t}\n"
	plainChunk := func() any { return new(plainUpdate) }
	plainRead := func() any { return new(struct{ Content string }) }
	return []hotCase{
		{"chunk", update, &acp.SessionNotification{SessionID: "sess_0123456789abcdef", Update: acp.AgentText(strings.Repeat("word ", 20))}, jsontextChunk, plainChunk},
		{"toolcall", update, &acp.SessionNotification{SessionID: "sess_0123456789abcdef", Update: &acp.ToolCallUpdate{
			ToolCallID: "call_1", Status: acp.ToolCallStatusCompleted, Kind: acp.ToolKindEdit,
			Content: []acp.ToolCallContent{&acp.Diff{Path: "/home/me/x.go", OldText: new(strings.Repeat(code, 10)), NewText: strings.Repeat(code, 10)}},
		}}, nil, nil},
		{"plan", update, &acp.SessionNotification{SessionID: "sess_0123456789abcdef", Update: &acp.Plan{Entries: []acp.PlanEntry{
			{Content: "Read the files", Priority: acp.PlanEntryPriorityHigh, Status: acp.PlanEntryStatusCompleted},
			{Content: "Change them", Priority: acp.PlanEntryPriorityMedium, Status: acp.PlanEntryStatusInProgress},
			{Content: "Run the tests", Priority: acp.PlanEntryPriorityLow, Status: acp.PlanEntryStatusPending},
		}}}, nil, nil},
		{"read1MiB", read, &acp.ReadTextFileResponse{Content: strings.Repeat(line, 1<<20/64)}, jsontextRead, plainRead},
		{"readGo1MiB", read, &acp.ReadTextFileResponse{Content: strings.Repeat(code, 1<<20/len(code))}, jsontextRead, plainRead},
		{"read10MiB", read, &acp.ReadTextFileResponse{Content: strings.Repeat(line, 10<<20/64)}, nil, nil},
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, h := range hot() {
		raw, err := h.codec.Append(nil, h.value)
		require.NoError(b, err)
		b.Run(h.name+"/codec", func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := h.codec.Decode(raw); err != nil {
					b.Fatal(err)
				}
			}
		})
		if h.byJSONText != nil {
			dec := jsontext.NewDecoder(bytes.NewReader(nil), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
			b.Run(h.name+"/jsontext", func(b *testing.B) {
				b.SetBytes(int64(len(raw)))
				b.ReportAllocs()
				for b.Loop() {
					dec.Reset(bytes.NewBuffer(raw), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
					v, err := h.byJSONText(dec)
					if err != nil {
						b.Fatal(err)
					}
					_ = v
				}
			})
			b.Run(h.name+"/json", func(b *testing.B) {
				b.SetBytes(int64(len(raw)))
				b.ReportAllocs()
				for b.Loop() {
					if err := json.Unmarshal(raw, h.plain()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run(h.name+"/skip", func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := wire.Skip(raw, 0, wire.MaxDepth); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, h := range hot() {
		raw, err := h.codec.Append(nil, h.value)
		require.NoError(b, err)
		buf := make([]byte, 0, 2*len(raw))
		b.Run(h.name+"/codec", func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := h.codec.Append(buf, h.value); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(h.name+"/json", func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := json.Marshal(h.value); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// plainUpdate is what encoding/json reads without any code of ours.
type plainUpdate struct {
	SessionID string `json:"sessionId"`
	Update    struct {
		SessionUpdate string `json:"sessionUpdate"`
		Content       struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
	} `json:"update"`
}

// members walks an object on jsontext's tokens.
func members(dec *jsontext.Decoder, each func(name string) error) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		if err := each(name.String()); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}

func text(dec *jsontext.Decoder, p *string) error {
	tok, err := dec.ReadToken()
	if err == nil {
		*p = tok.String()
	}
	return err
}

// jsontextChunk reads an agent_message_chunk and takes for granted what codecs
// cannot: tags come first, every kind is right, nothing is missing.
func jsontextChunk(dec *jsontext.Decoder) (any, error) {
	v, chunk, content := &acp.SessionNotification{}, &acp.AgentMessageChunk{}, &acp.TextContent{}
	var tag string
	return v, members(dec, func(name string) error {
		switch name {
		case "sessionId":
			return text(dec, (*string)(&v.SessionID))
		case "update":
			v.Update = chunk
			return members(dec, func(name string) error {
				switch name {
				case "sessionUpdate":
					return text(dec, &tag)
				case "content":
					chunk.Content = content
					return members(dec, func(name string) error {
						switch name {
						case "type":
							return text(dec, &tag)
						case "text":
							return text(dec, &content.Text)
						}
						return dec.SkipValue()
					})
				}
				return dec.SkipValue()
			})
		}
		return dec.SkipValue()
	})
}

func jsontextRead(dec *jsontext.Decoder) (any, error) {
	v := &acp.ReadTextFileResponse{}
	return v, members(dec, func(name string) error {
		if name == "content" {
			return text(dec, &v.Content)
		}
		return dec.SkipValue()
	})
}
