module example.com/articles

go 1.26.0

require github.com/acpkit/go-sdk v0.0.0

require github.com/sourcegraph/jsonrpc2 v0.2.3 // indirect

replace github.com/acpkit/go-sdk => ../../..
