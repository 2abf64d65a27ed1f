// Package envelope is the plain form of a tool's failure, for programs that want
// one word to match on:
//
//	{"error":"not_found","message":"There is no file notes.md."}
//
// The words are [Code] constants and do not change. A tool fails with
//
//	return envelope.NoMatch.Errorf("old_string was not found in %s", path)
//
// which is a [kind.Error], the code being its reason, so it travels and is read like
// every other failure. [Of] makes the envelope of any error: it reads explicit ones, maps
// those of files, programs and contexts, and hides the rest behind "internal", whose
// details go to the log.
//
// The envelope has room for a code and a message. Whether and when to try again, hints,
// data and the rest are lost; [Envelope.Err] gives back what a code implies.
package envelope
