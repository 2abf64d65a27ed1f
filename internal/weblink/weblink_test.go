package weblink_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/internal/weblink"
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
	for name, raw := range map[string]string{
		"nothing":                "",
		"relative":               "/login",
		"no scheme":              "example.com",
		"a program":              "javascript:alert(1)",
		"a program with a host":  "javascript://example.com/%0aalert(1)",
		"a file":                 "file:///etc/passwd",
		"a file with a host":     "file://host/share",
		"data":                   "data:text/html,x",
		"another handler":        "vscode://extension/x",
		"no host":                "https:///path",
		"a port alone":           "https://:80/",
		"opaque":                 "https:example.com",
		"a user":                 "https://bank.example@evil.example/",
		"a user and a secret":    "https://bank.example:443@evil.example/",
		"a backslash":            `https://evil.example\.bank.example/`,
		"a backslash and a user": `https://bank.example\@evil.example/`,
		"a slash that is none":   "https://bank.example%E2%81%84login.evil.example/",
		"the same, unescaped":    "https://bank.example\u2044login.evil.example/",
		"escaped twice":          "https://bank.example%25E2%2581%2584login.evil.example/",
		"an escaped slash":       "https://bank.example%2Flogin.evil.example/",
		"Cyrillic":               "https://b\u0430nk.example/",
		"wide dots":              "https://bank\u3002example/",
		"wide letters":           "https://\uff42ank.example/",
		"bidi":                   "https://bank\u202e.example/",
		"zero width":             "https://ba\u200bnk.example/",
		"a soft hyphen":          "https://ba\u00adnk.example/",
		"not UTF-8":              "https://ba%FFnk.example/",
		"an address as a number": "https://2130706433/",
		"as a hex number":        "https://0x7f.1/",
		"short":                  "https://127.1/",
		"octal":                  "https://0177.0.0.1/",
		"a zone":                 "https://[fe80::1%25eth0]/",
		"spaces":                 "https://bank.example .evil.example/",
		"a line":                 "https://bank.example/\n",
		"a tab":                  "ht\ttps://bank.example/",
		"signs":                  "https://bank.example(evil)/",
		"empty label":            "https://bank..example/",
	} {
		_, err := weblink.Parse(raw)
		assert.Error(t, err, name)
	}
}
