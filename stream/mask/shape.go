package mask

import (
	"bytes"
	"regexp"
	"sync"
)

// class says which bytes words have, as keys and names do, which bytes runs have, as base64 does, and
// which kind of letter a byte is: 1 for capitals, 2 for small letters, 3 for digits.
var class [256]struct {
	word, run bool
	kind      uint8
}

func init() {
	for c := range class {
		switch {
		case c >= 'A' && c <= 'Z':
			class[c].kind = 1
		case c >= 'a' && c <= 'z':
			class[c].kind = 2
		case c >= '0' && c <= '9':
			class[c].kind = 3
		}
		class[c].word = class[c].kind > 0 || c == '-' || c == '_' || c == '.' || c == '~'
		class[c].run = class[c].word || c == '+' || c == '/' || c == '='
	}
}

// pattern compiles an expression when it is first used, because many programs that import the package mask
// nothing.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// certainKey and likelyKey match keys that begin with the mark of their service, and signed tokens (JWT).
// The marks of likelyKey begin other words, too.
var (
	certainKey = pattern(`^(?:gh[opsur]_|github_pat_|xox[abeprs]-|xapp-|AKIA|ASIA|AGE-SECRET-KEY-).{16}`)
	likelyKey  = pattern(`^(?:(?:` +
		`[ck]?sk-|[sr]k_|whsec_|` + // OpenAI, Anthropic, OpenRouter, Cerebras, Stripe, Clerk
		`AIza|ya29\.|GOCSPX-|gsk_|xai-|hf_|r8_|pplx-|nvapi-|tvly-|fw_|key-|` + // Google, Groq, xAI, Hugging Face, Replicate, Perplexity, NVIDIA, Tavily, Fireworks, Mailgun
		`dop_v1_|dapi|hvs\.|gl[a-z]{1,5}-|ATATT|ATCTT|` + // DigitalOcean, Databricks, Vault, GitLab, Atlassian
		`lin_api_|lin_oauth_|ntn_|figd_|shp(?:at|ca|pa|ss)_|SG\.|tskey-|` + // Linear, Notion, Figma, Shopify, SendGrid, Tailscale
		`npm_|pypi-|rubygems_|dckr_pat_` +
		`).{16}|eyJ[^.]+\..{20})`)
)

// isKey reports whether a word has the shape of a key.
func isKey(word []byte) bool {
	return len(word) >= 19 && (certainKey().Match(word) || likelyKey().Match(word) && isRandom(word))
}

// isRandom reports whether a word looks as if a machine had drawn its letters: capitals, small letters
// and digits change often, and there are digits among them.
func isRandom(word []byte) bool {
	changes, digits, before := 0, 0, uint8(0)
	for i, c := range word {
		kind := class[c].kind
		if kind == 3 {
			digits++
		}
		if i > 0 && kind != before && kind > 0 && before > 0 {
			changes++
		}
		before = kind
	}
	return len(word) >= 12 && digits > 0 && changes >= max(3, min(len(word)/7, 8))
}

// looksSecret reports whether a value that stands behind the name of a credential is one, and not a
// word of a sentence or of a program.
func looksSecret(value []byte) bool {
	if len(value) < 8 || isPlaceholder(value) {
		return false
	}
	var has [4]int
	other := 0
	for _, c := range value {
		switch kind := class[c].kind; {
		case kind > 0:
			has[kind]++
		case c == ' ', c == '(', c == ')', c == '[', c == ']', c == '{', c == '}', c >= 0x80:
			return false
		case c == '.', c == '/':
			other++
		}
	}
	letters := has[1] + has[2]
	if has[3] == 0 { // many keys of 16 letters have no digit, and no name changes its case so often
		return len(value) >= 16 && has[1] > len(value)/4 && has[2] > len(value)/4
	}
	if letters == 0 || path().Match(value) {
		return false
	}
	return other <= len(value)/8 // a path or an address has more
}

// path matches members of values in programs, such as user1.password, and versions, such as v1.2.3.
var path = pattern(`^(?:[A-Za-z_][A-Za-z_0-9]{0,30}(?:\.[A-Za-z_][A-Za-z_0-9]{0,30})+|[v^~]?\d+\..*|[./~].*)$`)

// placeholders are values that stand for a credential or for none.
var placeholders = pattern(`(?i)^(?:\$[a-z_{(].*|%[a-z_]+%|<.*|\{.*|\[.*|:[a-z_]+|\*+|\.\.\.|x{3,}|_{3,}|(?:process|os|import\.meta)\.env.*|.*\byour\b.*|(?:null|nil|none|undefined|true|false|str|string|text|password|passwd|token|secret|key|value|required|optional|include|omit|same-origin|changeme|example|redacted|hidden|boolean|any|unknown)[;,]?)$`)

// isPlaceholder reports whether a value is none. A command in a value is none either: who is asked about the
// text must see it.
func isPlaceholder(value []byte) bool {
	return len(value) == 0 || bytes.Contains(value, []byte("$(")) || bytes.IndexByte(value, '`') >= 0 || len(value) <= 200 && placeholders().Match(value)
}
