package weblink_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/internal/weblink"
	"github.com/acpkit/go-sdk/internal/weblink/weblinktest"
)

// A link is shown as it will be reached, or it is none.
func TestParse(t *testing.T) {
	for raw, want := range map[string]weblink.Link{
		"https://example.com":                          {"https://example.com", "example.com"},
		"HTTP://Example.COM:8080/A?b=c#d":              {"http://example.com:8080/A?b=c#d", "example.com:8080"},
		"https://xn--bcher-kva.example/":               {"https://xn--bcher-kva.example/", "xn--bcher-kva.example"},
		"https://127.0.0.1:80/":                        {"https://127.0.0.1:80/", "127.0.0.1:80"},
		"https://[::1]:80/":                            {"https://[::1]:80/", "[::1]:80"},
		"https://a_b.example./x":                       {"https://a_b.example./x", "a_b.example."},
		"https://a.example/\u202e\u200b?\u202e#\u2066": {"https://a.example/%E2%80%AE%E2%80%8B?%E2%80%AE#%E2%81%A6", "a.example"},
	} {
		got, err := weblink.Parse(raw)
		assert.NoError(t, err, raw)
		assert.Equal(t, want, got, raw)
	}
	for name, raw := range weblinktest.False {
		_, err := weblink.Parse(raw)
		assert.Error(t, err, name)
	}
}
