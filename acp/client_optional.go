package acp

import "context"

// TextFileReader is an optional interface of clients that let agents read files.
// Capability: fs.readTextFile.
type TextFileReader interface {
	// ReadTextFile returns text as the editor sees it, unsaved changes included.
	// Fail with rpcerr.ResourceNotFound for a missing file. Paths come from a
	// program that may be misled: refuse those outside of the session's
	// directories.
	//
	// Protocol: fs/read_text_file.
	ReadTextFile(context.Context, *ReadTextFileRequest) (*ReadTextFileResponse, error)
}

// TextFileWriter is an optional interface of clients that let agents write files.
// Capability: fs.writeTextFile.
type TextFileWriter interface {
	// WriteTextFile replaces the whole text of a file and creates it if needed.
	// Paths come from a program that may be misled: refuse those outside of the
	// session's directories.
	//
	// Protocol: fs/write_text_file.
	WriteTextFile(context.Context, *WriteTextFileRequest) (*WriteTextFileResponse, error)
}

// TerminalHost is an optional interface of clients that run commands for agents.
// Capability: terminal, which stands for all five methods.
//
// The terminals of a session should be released when the session or the
// connection ends, in case the agent did not. Fail with rpcerr.ResourceNotFound
// for an unknown terminal.
type TerminalHost interface {
	// CreateTerminal starts a command and returns at once. Starting commands is
	// the most an agent can do to a machine: decide with your user what may run.
	//
	// Protocol: terminal/create.
	CreateTerminal(context.Context, *CreateTerminalRequest) (*CreateTerminalResponse, error)

	// TerminalOutput returns the output so far, the newest part of it if there
	// was a limit, and does not wait.
	//
	// Protocol: terminal/output.
	TerminalOutput(context.Context, *TerminalOutputRequest) (*TerminalOutputResponse, error)

	// WaitForTerminalExit returns when the command has ended, or when ctx ends.
	// Other methods are called meanwhile.
	//
	// Protocol: terminal/wait_for_exit.
	WaitForTerminalExit(context.Context, *WaitForTerminalExitRequest) (*WaitForTerminalExitResponse, error)

	// KillTerminal ends the command and keeps the terminal. It succeeds when the
	// command has ended already.
	//
	// Protocol: terminal/kill.
	KillTerminal(context.Context, *KillTerminalRequest) (*KillTerminalResponse, error)

	// ReleaseTerminal ends the command if it still runs and forgets the terminal,
	// except for what is on show in a tool call.
	//
	// Protocol: terminal/release.
	ReleaseTerminal(context.Context, *ReleaseTerminalRequest) (*ReleaseTerminalResponse, error)
}

// Elicitor is an optional interface of clients that can ask their user for input.
// Capabilities: elicitation.form, and elicitation.url for a client that is an
// [ElicitationCompleter] as well.
type Elicitor interface {
	// CreateElicitation asks the user, for as long as it takes. It may come while
	// a call of this client, such as Authenticate, is waiting. For a web page show
	// the whole address, ask before opening it, and do not fetch it; package client
	// lets nothing but http and https pass. Fail with rpcerr.InvalidParams for a
	// mode that was not advertised.
	//
	// Protocol: elicitation/create.
	CreateElicitation(context.Context, *CreateElicitationRequest) (*CreateElicitationResponse, error)
}

// ElicitationCompleter is an optional interface of clients that want to know when
// their user has finished on a web page. Capability: elicitation.url.
type ElicitationCompleter interface {
	// CompleteElicitation is told that the user has finished. Agents need not
	// send it; ignore ids that are not known. It is called in the order of
	// arrival, one at a time with all other notifications; the error is logged.
	//
	// Protocol: elicitation/complete.
	CompleteElicitation(context.Context, *CompleteElicitationNotification) error
}
