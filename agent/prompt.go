package agent

import (
	"context"
	"errors"

	"github.com/acpkit/go-sdk/acp"
)

// prompt handles session/prompt.
func (c *Conn) prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	res, err := c.agent.Prompt(ctx, req)
	if err == nil && res == nil {
		return nil, errors.New("agent: Prompt returned neither a response nor an error")
	}
	if errors.Is(err, acp.ErrTurnCancelled) {
		// A client may answer a permission request with "cancelled" before it cancels the turn. The
		// stop reason is cancelled in this case too.
		return &acp.PromptResponse{StopReason: acp.StopReasonCancelled}, nil
	}
	return res, err
}

// cancelledTurn returns the response to the prompt of a cancelled turn. It replaces any error of
// the agent, because clients would show the error to the user, who has only cancelled the turn.
func cancelledTurn() any {
	return &acp.PromptResponse{StopReason: acp.StopReasonCancelled}
}
