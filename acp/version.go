package acp

// ProtocolVersion is the version of the Agent Client Protocol whose vocabulary
// this package holds. It is the value of protocolVersion in the initialize
// request and answer, and changes only when the wire format breaks; new methods
// and fields are announced by capabilities instead.
const ProtocolVersion = 1
