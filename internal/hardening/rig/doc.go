// Package rig holds what the hardening tests share: an agent and a client that
// have every method, and connections between them over any stream.
package rig
