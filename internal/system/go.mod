module github.com/acpkit/go-sdk/internal/system

go 1.26.0

require (
	github.com/acpkit/go-sdk v0.0.0-00010101000000-000000000000
	github.com/acpkit/go-sdk/agent/mcp v0.0.0-00010101000000-000000000000
	github.com/acpkit/go-sdk/draft2 v0.0.0-00010101000000-000000000000
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.23.0
	github.com/nats-io/nats.go v1.55.0
	github.com/stretchr/testify v1.12.1
	golang.org/x/mod v0.42.0
)

require (
	github.com/acpkit/go-sdk/agent/journal/jetstream v0.0.0-00010101000000-000000000000 // indirect
	github.com/antithesishq/antithesis-sdk-go v0.9.0-default-no-op // indirect
	github.com/aymanbagabas/go-udiff v0.4.1 // indirect
	github.com/google/go-tpm v0.9.8 // indirect
	github.com/klauspost/compress v1.20.4 // indirect
	github.com/minio/highwayhash v1.0.4 // indirect
	github.com/nats-io/jwt/v2 v2.8.3 // indirect
	github.com/nats-io/nats-server/v2 v2.15.3 // indirect
	github.com/nats-io/nkeys v0.4.17 // indirect
	github.com/nats-io/nuid v1.0.1 // indirect
	github.com/yuin/goldmark v1.8.7 // indirect
)

require (
	github.com/acpkit/go-sdk/acptest v0.0.0-00010101000000-000000000000
	github.com/acpkit/go-sdk/cmd/acp v0.0.0-00010101000000-000000000000 // indirect
	github.com/coder/websocket v1.8.15
	github.com/gabriel-vasile/mimetype v1.4.16 // indirect
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	github.com/go-playground/locales v0.14.2 // indirect
	github.com/go-playground/universal-translator v0.18.2 // indirect
	github.com/go-playground/validator/v10 v10.30.6 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/leodido/go-urn v1.5.0 // indirect
	github.com/modelcontextprotocol/go-sdk v1.8.0 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/sourcegraph/jsonrpc2 v0.2.3
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	go.yaml.in/yaml/v3 v3.0.5 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/oauth2 v0.35.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	golang.org/x/time v0.16.0 // indirect
)

replace github.com/acpkit/go-sdk => ../..

replace github.com/acpkit/go-sdk/agent/mcp => ../../agent/mcp

replace github.com/acpkit/go-sdk/acptest => ../../acptest

replace github.com/acpkit/go-sdk/cmd/acp => ../../cmd/acp

tool (
	github.com/acpkit/go-sdk/cmd/acp
	github.com/nats-io/nats-server/v2
)

replace github.com/acpkit/go-sdk/draft2 => ../../draft2

replace github.com/acpkit/go-sdk/agent/journal/jetstream => ../../agent/journal/jetstream
