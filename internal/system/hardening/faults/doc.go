// Package faults holds tests of faults at an agent, at a client and between
// them: peers that die at any moment, streams that break, connections that are closed
// from everywhere, and handlers that panic or never return. It has no code of its own.
package faults
