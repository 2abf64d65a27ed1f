package agent_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/acp/v2"
	"github.com/acpkit/go-sdk/agent/v2"
)

// The tokens of a prompt are in the state idle that ends its work, and in no other.
func TestTurnUsage(t *testing.T) {
	scene(t, works{
		"count": func(_ context.Context, s *agent.Session) (acp.StopReason, error) {
			u := &acp.Usage{TotalTokens: 9}
			s.SetTurnUsage(u)
			u.TotalTokens = 3
			s.SetTurnUsage(u)
			u.TotalTokens = 7
			return "", nil
		},
		"forget": func(_ context.Context, s *agent.Session) (acp.StopReason, error) {
			s.SetTurnUsage(&acp.Usage{TotalTokens: 9})
			s.SetTurnUsage(nil)
			return "", nil
		},
		"late": func(ctx context.Context, s *agent.Session) (acp.StopReason, error) {
			b, err := s.StartBackground(ctx, &acp.BackgroundToolCall{ToolCallID: "t1"})
			if err != nil {
				return "", err
			}
			go func() { // ends after the work
				time.Sleep(time.Minute) // in the bubble
				s.SetTurnUsage(&acp.Usage{TotalTokens: 9})
				assert.NoError(t, b.End(b.Context()))
			}()
			return "", nil
		},
		"none": func(context.Context, *agent.Session) (acp.StopReason, error) { return "", nil },
	}, func(r *raw) {
		for id, c := range []struct {
			text     string
			messages int
			usage    bool
		}{{"count", 4, true}, {"none", 4, false}, {"forget", 4, false}, {"late", 6, false}, {"none", 4, false}} {
			r.prompt(id, c.text)
			var all string
			for range c.messages {
				all += r.Next().Raw
			}
			if c.usage {
				assert.Contains(t, all, `"usage":{"totalTokens":3,`)
			} else {
				assert.NotContains(t, all, "usage")
			}
		}
	})
}
