// Package wire is what the vocabulary and the engine share about bytes: the
// scanner that checks JSON and takes envelopes apart, the primitives that
// generated codecs are made of, the table of methods, the tree of field errors,
// and the sentinels that both sides name.
//
// A message is read twice: [Skip] checks it as a whole and finds the payload, a
// codec then reads the payload into its type with a [Decoder], which trusts that
// check. Both walk long strings eight bytes at a time. An [Encoder] appends to
// one buffer. None of them uses reflection; the scanner is our own because it is
// several times faster than encoding/json/jsontext on what an agent streams, and
// fuzz tests hold that it accepts and reads exactly the same.
package wire
