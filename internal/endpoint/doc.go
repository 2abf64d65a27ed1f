// Package endpoint holds what the two ends of a connection have in common: the
// rows of their method tables, the typed and the untyped way to call the peer,
// and the translation between the vocabulary (package acp) and the engine
// (package rpc), which do not know each other.
//
// Packages agent and client are its only users. The state of a connection is the
// engine's; all that is kept here is the way to it, in [Engine], which can be asked
// before it exists.
package endpoint
