// Package toolerr is for the failures of tools, as a model sees them: a code, one
// of six categories, and whether and when to try again.
//
//	return toolerr.NotFound(`Channel "general" does not exist`).WithCode("CHANNEL_NOT_FOUND")
//
// Returned by a handler, or given to the session helper that ends a tool call, all of it
// arrives at the other end: [FromRequestError] gives an equal value out. [Error.Text]
// writes the form that goes to a model as text, and [Parse] reads it.
//
// An Error is a view of the record in package kind, which the other packages below
// rpcerr share; Record and FromRecord convert without loss. The cause stays in
// the process.
package toolerr
