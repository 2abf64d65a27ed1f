package agent

import (
	"context"
	"errors"

	"github.com/acpkit/go-sdk/acp"
)

// prompt runs a turn.
func (c *Conn) prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	res, err := c.agent.Prompt(ctx, req)
	if err == nil && res == nil {
		return nil, errors.New("agent: Prompt returned neither a response nor an error")
	}
	if errors.Is(err, acp.ErrTurnCancelled) {
		// A client may answer a question with "cancelled" before it says that the
		// turn is. Whatever was learned of it, and from where, it is the same end.
		return &acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	}
	return res, err
}

// cancelledTurn answers the prompt of a turn that the client cancelled, whatever
// error the agent made of it: clients show errors to people, who in this case have
// asked for nothing but an end.
func cancelledTurn() any {
	return &acp.PromptResponse{StopReason: acp.StopReasonCancelled}
}
