// Package flood holds tests of an agent and a client that are sent more than they
// can take: notifications, requests and whole sessions by the thousands, and peers
// that do not read. It has no code of its own.
//
// By default the tests are sized for the race detector and a small machine; the
// flags say how to make them larger:
//
//	go test ./internal/system/hardening/flood -notes 1000000
package flood
