package acp

// Meta is the `_meta` member that almost every object of the protocol may carry:
// data that sender and receiver agreed on between themselves. The SDK carries it
// and never looks into it.
//
// Keys of your own should be prefixed with a domain, such as
// "example.com/trace". The keys traceparent, tracestate and baggage are reserved
// for W3C trace context. Values are what encoding/json makes of any JSON: objects
// read as map[string]any, numbers as float64, save that an integer which a float64
// cannot hold exactly reads as json.Number. (In a Meta of more than 32 KiB that would
// grow many times over in memory, inner objects and lists stay json.RawMessage.) A nil
// Meta is left out.
//
// A Meta of more than 32 KiB that would take more than sixteen times its bytes in
// memory, as only a hostile peer writes it, is read as far as its own members: the
// objects and lists among them are json.RawMessage.
type Meta map[string]any
