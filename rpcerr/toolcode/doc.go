// Package toolcode encodes the failure of a tool as a JSON object with a stable code, for
// models and programs that compare the code.
//
//	{"error":"not_found","message":"There is no file notes.md."}
//
// The codes are the [Code] constants, which do not change. A tool fails with
//
//	return toolcode.NoMatch.Errorf("old_string was not found in %s", path)
//
// which is a [kind.Error] whose reason is the code, so it is sent and read like every
// other failure. [Of] returns the envelope of any error. Its code is that of the error if
// the error carries a kind, one that fits the errors of files, commands, JSON and
// contexts, and "internal" for every other error. What the envelope leaves out is logged.
//
// The envelope contains a code and a message only. Whether and when to try again, the
// hint and the data are lost; [Envelope.Err] returns what the code implies.
package toolcode
