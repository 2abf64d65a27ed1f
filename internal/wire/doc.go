// Package wire contains what the vocabularies and the engine share about JSON: the primitives of
// the generated codecs, the table of methods, the tree of field errors, and the sentinel errors of
// both.
//
// A message is read twice. envelope.Parse checks the whole message and finds the payload. A codec
// then decodes the payload with a [Decoder], which relies on that check. The Decoder also bounds
// and reports the memory that the message occupies. An [Encoder] appends to one buffer. Long
// strings are read and written eight bytes at a time, and nothing uses reflection.
//
// The codecs do not use encoding/json/jsontext because they are about 1.8 times as fast on the
// chunks that an agent streams, and more than three times on files (internal/bench/codec measures
// it). Fuzz tests verify that they accept the same input and read the same values as encoding/json.
package wire
