// Package endpoint contains what both ends of a connection share, in every version of the protocol:
// typed methods ([Request], [Notification]), the table of the methods that an end handles, and
// calls by name. It connects the vocabularies with the engine (package rpc), which do not import
// each other. It imports no vocabulary itself.
//
// Only the packages of the ends import it. It has no state; the engine holds the state of a
// connection.
package endpoint
