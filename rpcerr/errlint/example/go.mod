module example.com/articles

go 1.26.0

require github.com/acpkit/go-sdk v0.0.0

replace github.com/acpkit/go-sdk => ../../..
