// Package pairtest connects an agent and a client of version 2 for the hardening tests, over
// any stream, directly or through a proxy.
package pairtest
