module github.com/acpkit/go-sdk/cmd/acp

go 1.26.0

require (
	github.com/acpkit/go-sdk v0.0.0-00010101000000-000000000000
	github.com/acpkit/go-sdk/acptest v0.0.0-00010101000000-000000000000
	github.com/acpkit/go-sdk/agent/journal/jetstream v0.0.0-00010101000000-000000000000
	github.com/acpkit/go-sdk/draft2 v0.0.0-00010101000000-000000000000
	github.com/nats-io/nats.go v1.55.0
	github.com/stretchr/testify v1.12.1
	github.com/yuin/goldmark v1.8.7
)

require (
	github.com/aymanbagabas/go-udiff v0.4.1 // indirect
	github.com/coder/websocket v1.8.15 // indirect
	github.com/gabriel-vasile/mimetype v1.4.16 // indirect
	github.com/go-playground/locales v0.14.2 // indirect
	github.com/go-playground/universal-translator v0.18.2 // indirect
	github.com/go-playground/validator/v10 v10.30.6 // indirect
	github.com/klauspost/compress v1.20.0 // indirect
	github.com/leodido/go-urn v1.5.0 // indirect
	github.com/nats-io/nkeys v0.4.16 // indirect
	github.com/nats-io/nuid v1.0.1 // indirect
	github.com/sourcegraph/jsonrpc2 v0.2.3 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)
