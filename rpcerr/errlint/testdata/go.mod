module errlint.test

go 1.26.0

require github.com/acpkit/go-sdk v0.0.0

require (
	github.com/acpkit/go-sdk/draft2 v0.0.0
	github.com/aymanbagabas/go-udiff v0.4.1 // indirect
	github.com/gabriel-vasile/mimetype v1.4.16 // indirect
	github.com/go-playground/locales v0.14.2 // indirect
	github.com/go-playground/universal-translator v0.18.2 // indirect
	github.com/go-playground/validator/v10 v10.30.6 // indirect
	github.com/leodido/go-urn v1.5.0 // indirect
	github.com/sourcegraph/jsonrpc2 v0.2.3 // indirect
	golang.org/x/crypto v0.58.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/acpkit/go-sdk => ../../..

replace github.com/acpkit/go-sdk/draft2 => ../../../draft2
