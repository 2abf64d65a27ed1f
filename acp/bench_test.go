package acp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/wire"
)

// hotCase is a payload that makes up most of a conversation.
type hotCase struct {
	name  string
	codec *wire.Codec
	value any

	// plain returns a struct without methods for encoding/json, or is nil.
	plain func() any
}

func hot() []hotCase {
	update := wire.Notification(acp.ProtocolVersion, acp.MethodSessionUpdate).Params
	read := wire.Request(acp.ProtocolVersion, acp.MethodFSReadTextFile).Result
	line := strings.Repeat("0123456789abcde ", 4)[:63] + "\n"
	code := "\tif err := run(ctx, \"name\", args); err != nil {\n\t\treturn fmt.Errorf(\"running %q: %w\", name, err)\n\t}\n"
	plainChunk := func() any { return new(plainUpdate) }
	plainRead := func() any { return new(struct{ Content string }) }
	return []hotCase{
		{"chunk", update, &acp.SessionNotification{SessionID: "sess_0123456789abcdef", Update: acp.AgentText(strings.Repeat("word ", 20))}, plainChunk},
		{"toolcall", update, &acp.SessionNotification{SessionID: "sess_0123456789abcdef", Update: &acp.ToolCallUpdate{
			ToolCallID: "call_1", Status: acp.ToolCallStatusCompleted, Kind: acp.ToolKindEdit,
			Content: []acp.ToolCallContent{&acp.Diff{Path: "/home/me/x.go", OldText: new(strings.Repeat(code, 10)), NewText: strings.Repeat(code, 10)}},
		}}, nil},
		{"plan", update, &acp.SessionNotification{SessionID: "sess_0123456789abcdef", Update: &acp.Plan{Entries: []acp.PlanEntry{
			{Content: "Read the files", Priority: acp.PlanEntryPriorityHigh, Status: acp.PlanEntryStatusCompleted},
			{Content: "Change them", Priority: acp.PlanEntryPriorityMedium, Status: acp.PlanEntryStatusInProgress},
			{Content: "Run the tests", Priority: acp.PlanEntryPriorityLow, Status: acp.PlanEntryStatusPending},
		}}}, nil},
		{"read1MiB", read, &acp.ReadTextFileResponse{Content: strings.Repeat(line, 1<<20/64)}, plainRead},
		{"readGo1MiB", read, &acp.ReadTextFileResponse{Content: strings.Repeat(code, 1<<20/len(code))}, plainRead},
		{"read10MiB", read, &acp.ReadTextFileResponse{Content: strings.Repeat(line, 10<<20/64)}, nil},
	}
}

// measure runs a benchmark that handles size bytes each time.
func measure(b *testing.B, name string, size int, once func() error) {
	b.Run(name, func(b *testing.B) {
		b.SetBytes(int64(size))
		b.ReportAllocs()
		for b.Loop() {
			if err := once(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	for _, h := range hot() {
		raw, err := h.codec.Append(nil, h.value)
		require.NoError(b, err)
		measure(b, h.name+"/codec", len(raw), func() error {
			_, _, err := h.codec.Decode(raw)
			return err
		})
		if h.plain != nil {
			measure(b, h.name+"/json", len(raw), func() error { return json.Unmarshal(raw, h.plain()) })
		}
		measure(b, h.name+"/skip", len(raw), func() error {
			_, err := envelope.Skip(raw, 0, envelope.MaxDepth)
			return err
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, h := range hot() {
		raw, err := h.codec.Append(nil, h.value)
		require.NoError(b, err)
		buf := make([]byte, 0, 2*len(raw))
		measure(b, h.name+"/codec", len(raw), func() error {
			_, err := h.codec.Append(buf, h.value)
			return err
		})
		measure(b, h.name+"/json", len(raw), func() error {
			_, err := json.Marshal(h.value)
			return err
		})
	}
}

// plainUpdate is a struct without methods.
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
