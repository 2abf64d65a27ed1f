package envelope

// Handed returns the envelope from which package stream has made a message, given a
// *stream.Message, so that it need not be parsed again. It returns nil if the message was
// made in another way, or its data replaced. Package stream sets it: only there the members
// of the message are known that others cannot set.
var Handed func(message any) *Envelope
