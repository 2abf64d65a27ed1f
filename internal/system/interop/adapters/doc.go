// Package adapters holds tests against the two most used agents of version 2 of the protocol,
// claude-agent-acp and codex-acp, which adapt Claude Code and Codex. They run with a language
// model on the loopback interface whose answers are known. The package has no code of its
// own.
//
// The tests run if the environment variable ACPKIT_INTEROP_ADAPTERS is set, because npm
// installs almost a gigabyte for them:
//
//	ACPKIT_INTEROP_ADAPTERS=1 go test ./internal/system/interop/adapters
//
// What the agents said is in the transcripts of package interop, whose tests always run. The
// flag -record writes these transcripts again.
package adapters
