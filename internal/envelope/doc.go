// Package envelope reads the part of a JSON-RPC message that is the same for every
// method. [Parse] checks the whole message in one pass and finds its kind, id, method
// and payload. Streams, transports and the engine share it.
//
// The JSON scanner below it ([Skip] and its parts) is the only one of the module.
// Package wire builds its decoders on it. The scanner walks long strings eight bytes at
// a time and is two to three times as fast as encoding/json/jsontext on what an agent
// streams (internal/bench/codec measures it). Fuzz tests verify that it accepts what
// encoding/json accepts.
package envelope
