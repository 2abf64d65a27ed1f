package interop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	acp2 "github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/router"
	agent2 "github.com/acpkit/go-sdk/agent/v2"
	"github.com/acpkit/go-sdk/stream"
)

// What was sent to the TypeScript SDK's router is sent to ours, which must choose the same
// version and respond with the same codes, in the same order.
func TestReplayOfTheRouter(t *testing.T) {
	played := 0
	for _, p := range allTranscripts(t) {
		if !strings.HasPrefix(p.name, "tsdk2-router-probe/") {
			continue
		}
		played++
		t.Run(p.name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { askRouter(t, &p) }) })
	}
	assert.Equal(t, 7, played)
}

func askRouter(t *testing.T, p *recordedProcess) {
	f := &fixture2{}
	agents := &router.Agents{
		V1: func(*agent.Conn) acp.Agent { return &fixture1{f} },
		V2: func(*agent2.Conn) acp2.Agent { return f },
	}
	switch {
	case strings.HasSuffix(p.name, "only_v1"):
		agents.V2 = nil
	case strings.HasSuffix(p.name, "only_v2"):
		agents.V1 = nil
	}
	w, in, out := newWire(t)
	ended := make(chan error, 1)
	go func() { // ends with the input
		ended <- router.Serve(context.Background(), stream.Lines(in, out, nil), agents, &router.Options{Logger: slog.New(slog.DiscardHandler)})
	}()
	var want, got []string
	for _, l := range p.lines {
		if l.Dir == "recv" {
			want = append(want, outcomes(t, l.Raw)...)
			continue
		}
		w.write([]byte(l.Raw + "\n"))
		for _, line := range w.take() {
			got = append(got, outcomes(t, line)...)
		}
	}
	require.NotEmpty(t, want)
	assert.Equal(t, want, got)
	w.in.Close()
	assert.NoError(t, <-ended)
}

// outcomes says what a response is about: its id, and the code with what data an agent must
// send, or the version. Other messages say nothing here.
func outcomes(t *testing.T, line string) []string {
	e, ok := open(line)
	require.True(t, ok, "%s", line)
	if !e.isResponse() {
		return nil
	}
	var fault struct {
		Code int
		Data json.RawMessage
	}
	var result struct{ ProtocolVersion int }
	require.NoError(t, json.Unmarshal(orNull(e.Error), &fault))
	require.NoError(t, json.Unmarshal(orNull(e.Result), &result))
	text := fmt.Sprintf("id %s code %d version %d", e.ID, fault.Code, result.ProtocolVersion)
	if fault.Code == -32022 {
		text += " " + string(fault.Data)
	}
	return []string{text}
}
