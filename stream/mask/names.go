package mask

import (
	"encoding/json"
	"strings"
)

// rule says what a value is because of the name of its member, its variable or its flag.
type rule uint8

const (
	plain  rule = iota
	likely      // a text is a credential if it looks like one, such as of "auth"
	secret      // a text or a number, or those of a list, are credentials, such as of "token"
	all         // all texts and numbers in the value are, such as of "env", but not the names of variables
)

// secretNames are parts of the names of credentials, without - and _.
var secretNames = []string{
	"authorization", "secret", "password", "passwd", "passphrase", "passcode", "credential", "cookie", "bearer",
	"apikey", "accesskey", "privatekey", "authkey", "signingkey", "encryptionkey", "subscriptionkey", "sessionkey", "accountkey", "servicekey", "codeverifier",
}

// plainEnds are what the names of other things end with that have to do with credentials, such as
// --password-stdin and token_file.
var plainEnds = []string{
	"stdin", "file", "path", "dir", "limit", "count", "budget", "length", "size", "type", "format", "url", "uri", "endpoint", "name", "id", "env",
	"policy", "prompt", "required", "enabled", "manager", "provider", "store", "helper", "parser", "field", "label",
}

// rule returns what a name says.
func (m *Masker) rule(name []byte) rule {
	if r, ok := m.rules[string(name)]; ok {
		return r
	}
	r := ruleOf(string(name))
	if m.rules == nil || len(m.rules) > 4096 { // the peer chooses the names
		m.rules = map[string]rule{}
	}
	if len(name) <= 64 {
		m.rules[string(name)] = r
	}
	return r
}

func ruleOf(name string) rule {
	if strings.Contains(name, `\`) {
		_ = json.Unmarshal([]byte(`"`+name+`"`), &name) // the text is JSON, and else stays as it is
	}
	if strings.HasPrefix(strings.TrimLeft(name, "-"), "no-") { // such as --no-password
		return plain
	}
	name = strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == ' ' || r == '.' {
			return -1
		}
		return r
	}, strings.ToLower(name))
	switch {
	case name == "env", strings.HasSuffix(name, "headers"), strings.HasSuffix(name, "credentials"), strings.HasSuffix(name, "secrets"), strings.HasSuffix(name, "cookies"):
		return all
	case name == "progresstoken": // of MCP
		return plain
	case name == "auth", name == "oauth":
		return likely
	case strings.HasSuffix(name, "token"), strings.HasSuffix(name, "pwd"), strings.HasSuffix(name, "jwt"):
		return secret
	}
	for _, end := range plainEnds {
		if strings.HasSuffix(name, end) {
			return plain
		}
	}
	for _, part := range secretNames {
		if strings.Contains(name, part) {
			return secret
		}
	}
	return plain
}
