// Package toolerr describes the failures of tools for models: a code, one of six
// categories, and whether and when to try again.
//
//	return toolerr.NotFound(`Channel "general" does not exist`).WithCode("CHANNEL_NOT_FOUND")
//
// If a handler returns such an error, or ends a tool call with it, the peer receives all
// of it: [FromRequestError] returns an equal value. [Error.Text] writes the form that
// goes to a model as text, and [Parse] reads it.
//
// An Error is a view of the record in package kind, which the other packages below
// rpcerr share; Record and FromRecord convert without loss. The cause stays in
// the process.
package toolerr
