module github.com/acpkit/go-sdk/internal/bench

go 1.26.0

require (
	github.com/acpkit/go-sdk v0.0.0-00010101000000-000000000000
	github.com/coder/acp-go-sdk v0.13.0
	github.com/sourcegraph/jsonrpc2 v0.2.3
	github.com/stretchr/testify v1.12.1
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect

replace github.com/acpkit/go-sdk => ../..
