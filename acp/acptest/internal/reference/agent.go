// Package reference has an agent and a client that pass all checks. They are built from the parts
// of this module that users build theirs from.
package reference

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/router"
)

// Prompts are what the agent understands, by the names of prompts of the checks. The argument of a
// prompt follows its first word.
var Prompts = map[string]string{
	"text": "#text", "stream": "#stream", "slow": "#slow", "tool": "#tool",
	"ask": "#ask", "read": "#read", "write": "#write", "run": "#run",
}

// streamed is how many pieces the text of #stream has.
const streamed = 500

// NewAgent returns the agent. It keeps its sessions in memory.
func NewAgent() *kit.Agent {
	silent := slog.New(slog.DiscardHandler) // what the checks send is wrong on purpose
	return kit.New(&kit.Options{
		Info:   acp.Implementation{Name: "reference", Version: "1"},
		Turn:   turn,
		Logger: silent,
		Router: &router.Options{Logger: silent},
	})
}

func turn(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
	word, _, _ := strings.Cut(acp.PlainText(p.Blocks...), " ")
	switch word {
	case "#stream":
		for i := range streamed {
			if err := s.Text(ctx, fmt.Sprintf("%d\n", i)); err != nil {
				return "", err
			}
		}
	case "#slow":
		if err := s.Thought(ctx, "This takes a while."); err != nil {
			return "", err
		}
		if err := s.EndMessage(); err != nil {
			return "", err
		}
		<-ctx.Done()
		return acp.StopReasonCancelled, nil
	default:
		if err := s.Text(ctx, "Done."); err != nil {
			return "", err
		}
	}
	return acp.StopReasonEndTurn, nil
}
