package recording

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
)

// masked stands in place of a credential.
const masked = "[masked]"

// longBase64 is the length from which base64 becomes a digest.
const longBase64 = 4 << 10

// maxDepth is more than any message is nested.
const maxDepth = 10_000

// masker hides credentials in JSON. It is used by one goroutine at a time.
type masker struct {
	rules map[string]rule // of names of members that were seen
	out   []byte
}

// rule says what a value is because of the name of its member.
type rule uint8

const (
	plain  rule = iota
	secret      // a text or a number, or those of a list, are credentials, such as of "token"
	all         // all texts and numbers in the value are, such as of "env", but not the names of variables
)

// frame is an object or an array that is open.
type frame struct {
	object bool
	key    bool // the next text is the name of a member
	hide   rule // for all that is in it
	member rule // for the value of the current member
	pair   bool // it is an object in a list, such as {"name": "PATH", "value": "/bin"}: its name is shown
	named  bool // the current member is called "name"
	flag   bool // the last text of the list was a flag such as --api-key
}

// json returns text with credentials masked, and reports whether it differs. What it returns is
// valid until the next call. Text may be torn, or be no JSON at all.
func (m *masker) json(text []byte) ([]byte, bool) {
	m.out = m.out[:0]
	copied := 0 // how much of text is in out, or replaced
	replace := func(from, to int, by string) {
		m.out = append(append(m.out, text[copied:from]...), by...)
		copied = to
	}
	stack := make([]frame, 1, 32)
	for i := 0; i < len(text); i++ {
		top := &stack[len(stack)-1]
		switch c := text[i]; c {
		case '{', '[':
			if len(stack) > maxDepth { // which is no message
				replace(i, len(text), masked)
				return m.out, true
			}
			f := frame{object: c == '{', key: c == '{', hide: top.below(c == '['), pair: c == '{' && !top.object}
			stack = append(stack, f)
		case '}', ']':
			if len(stack) > 1 {
				stack = stack[:len(stack)-1]
			}
		case ',':
			top.key = top.object
		case '"':
			end := endOfText(text, i+1)
			value := text[i+1 : end]
			switch {
			case top.key:
				top.key = false
				top.member, top.named = m.rule(value), string(value) == "name"
			case top.hides():
				replace(i+1, end, masked)
				top.flag = false
			default:
				m.text(value, i+1, replace)
				top.flag = !top.object && bytes.HasPrefix(value, []byte("-")) && m.rule(value) == secret
			}
			i = end
		case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '-':
			end := i + 1
			for end < len(text) && bytes.IndexByte([]byte("0123456789+-.eE"), text[end]) >= 0 {
				end++
			}
			if top.hides() {
				replace(i, end, "0")
			}
			i = end - 1
		}
	}
	if copied == 0 {
		return text, false
	}
	m.out = append(m.out, text[copied:]...)
	return m.out, true
}

// below returns the rule for all that is in an object or a list that begins in the frame.
func (f *frame) below(list bool) rule {
	switch {
	case f.hide == all, f.object && f.member == all:
		return all
	case list && f.hide == secret, list && f.object && f.member == secret:
		return secret
	}
	return plain
}

// hides reports whether a text or a number in the frame is a credential.
func (f *frame) hides() bool {
	if f.object {
		return f.member != plain || f.hide == all && !(f.pair && f.named)
	}
	return f.hide != plain || f.flag
}

// endOfText returns where the text that begins at i ends: the index of its quotation mark, or of
// the end of b.
func endOfText(b []byte, i int) int {
	for i < len(b) {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		i += n
		slashes := i
		for slashes > 0 && b[slashes-1] == '\\' {
			slashes--
		}
		if (i-slashes)%2 == 0 {
			return i
		}
		i++
	}
	return i
}

// secretNames are parts of the names of credentials, without - and _.
var secretNames = []string{
	"authorization", "secret", "password", "passwd", "passphrase", "passcode", "credential", "cookie", "bearer",
	"apikey", "accesskey", "privatekey", "authkey", "signingkey", "encryptionkey", "subscriptionkey", "sessionkey", "accountkey", "servicekey",
}

// rule returns what the name of a member says.
func (m *masker) rule(name []byte) rule {
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
	case strings.HasSuffix(name, "token"), strings.HasSuffix(name, "pwd"), strings.HasSuffix(name, "jwt"):
		return secret
	}
	for _, part := range secretNames {
		if strings.Contains(name, part) {
			return secret
		}
	}
	return plain
}

// texts masks a line that is no JSON, or the arguments of a command, and reports whether the result
// differs.
func texts[T string | []string](m *masker, plain T) (out T, differs bool) {
	text, _ := json.Marshal(plain) // texts can always be encoded, and masked JSON is JSON
	text, differs = m.json(text)
	_ = json.Unmarshal(text, &out)
	return out, differs
}

func digest(base64 []byte) string {
	return fmt.Sprintf("[base64, %d bytes, sha256 %x]", len(base64), sha256.Sum256(base64))
}
