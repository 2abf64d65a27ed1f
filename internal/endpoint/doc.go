// Package endpoint holds what the two ends of a connection have in common: the
// rows of their method tables, the typed and the untyped way to call the peer,
// and the translation between the vocabulary (package acp) and the engine
// (package rpc), which do not know each other.
//
// Packages agent and client are its only users. Nothing in it holds state of a
// connection.
package endpoint
