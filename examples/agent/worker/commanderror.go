package worker

import (
	"fmt"

	"github.com/acpkit/go-sdk/acp"
)

// commandError means that a command ended badly. As an [acp.ToolFailure] it decides
// what the failed tool call shows: what it has printed stays, beside the exit status.
type commandError struct {
	exit  *acp.WaitForTerminalExitResponse
	shown acp.ToolCallContent // what the command has printed
}

var _ acp.ToolFailure = (*commandError)(nil)

func (e *commandError) Error() string {
	if e.exit.ExitCode != nil {
		return fmt.Sprintf("exit status %d", *e.exit.ExitCode)
	}
	return "ended by " + e.exit.Signal
}

func (e *commandError) FailedToolCall() *acp.ToolCallUpdate {
	return &acp.ToolCallUpdate{Content: []acp.ToolCallContent{e.shown, acp.ToolText(e.Error())}}
}
