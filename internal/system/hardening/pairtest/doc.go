// Package pairtest connects an agent and a client for the hardening tests, over any
// stream, directly or through a proxy, and measures what they log and hold.
package pairtest
