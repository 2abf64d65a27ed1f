package acp

//go:generate go -C ../internal/gen run .

import "github.com/acpkit/go-sdk/internal/wire"

// ProtocolVersion is the version of the Agent Client Protocol whose vocabulary this
// package holds: the value of protocolVersion in the request and the response of
// initialize. It changes only when the wire format does; new methods and fields are
// announced by capabilities instead.
const ProtocolVersion = 1

// The rest of this file has what differs between the versions in files that they share.

// groupMember is the member that distinguishes a group of select options from an option.
const groupMember = "group"

// keepsOtherElicitationValues reports whether values of form fields may be of kinds that no
// variant holds.
const keepsOtherElicitationValues = false

func decodeOtherElicitationValue(d *wire.Decoder, _ *ElicitationContentValue) *wire.FieldErrors {
	return d.Mismatch("string, number, boolean or array of strings")
}

func encodeOtherElicitationValue(e *wire.Encoder, _ ElicitationContentValue) { e.Fail("missing") }

// AgentText returns an update with a piece of a message of the agent.
func AgentText(s string) *AgentMessageChunk { return &AgentMessageChunk{Content: Text(s)} }

// AgentThought returns an update with a piece of the reasoning of the agent.
func AgentThought(s string) *AgentThoughtChunk { return &AgentThoughtChunk{Content: Text(s)} }

// UserText returns an update with a piece of a message of the user. Agents send it when
// they replay a session.
func UserText(s string) *UserMessageChunk { return &UserMessageChunk{Content: Text(s)} }
