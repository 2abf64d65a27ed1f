module github.com/acpkit/go-sdk/internal/bench

go 1.26.0

require (
	github.com/coder/acp-go-sdk v0.13.0
	github.com/sourcegraph/jsonrpc2 v0.2.3
)

replace github.com/acpkit/go-sdk => ../..
