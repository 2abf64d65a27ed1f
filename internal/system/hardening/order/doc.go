// Package order holds the promises of order and of answers against random
// conversations between an agent and a client, with and without proxies between them.
// It has no code of its own.
//
// How many conversations are played is up to the flag -scripts:
//
//	go test -race ./internal/system/hardening/order -scripts 100000
package order
