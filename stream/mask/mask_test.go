package mask

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Keys are put together here, so that no scanner takes this file for a leak.
var (
	someKey   = "sk-" + "ant-api03-AbCdEfGhIjKlMnOpQrStUvWx1234"
	someToken = "gh" + "p_0123456789abcdefghijABCDEFGHIJ012345"
	someJWT   = "ey" + "JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N"
)

func TestMasking(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"authorization":     {`{"headers":[{"name":"Authorization","value":"Bearer x"},{"name":"Accept","value":"a/b"}]}`, `{"headers":[{"name":"Authorization","value":"[masked]"},{"name":"Accept","value":"[masked]"}]}`},
		"header map":        {`{"headers":{"Authorization":"Basic eA==","name":"y"}}`, `{"headers":{"Authorization":"[masked]","name":"[masked]"}}`},
		"env list":          {`{"mcpServers":[{"name":"a","command":"b","args":["c"],"env":[{"name":"A","value":"hunter2"}]}]}`, `{"mcpServers":[{"name":"a","command":"b","args":["c"],"env":[{"name":"A","value":"[masked]"}]}]}`},
		"env map":           {`{"env":{"name":"x","N":1,"B":true}}`, `{"env":{"name":"[masked]","N":0,"B":true}}`},
		"env of texts":      {`{"env":["A=b"]}`, `{"env":["[masked]"]}`},
		"_meta of env":      {`{"env":[{"name":"A","value":"b","_meta":{"x":"y"}}]}`, `{"env":[{"name":"A","value":"[masked]","_meta":{"x":"[masked]"}}]}`},
		"by name":           {`{"apiKey":"a","API-KEY":"b","x_api_key":"c","access_token":"d","password":1234,"clientSecret":["e","f"]}`, `{"apiKey":"[masked]","API-KEY":"[masked]","x_api_key":"[masked]","access_token":"[masked]","password":0,"clientSecret":["[masked]","[masked]"]}`},
		"escaped name":      {`{"api\u004bey":"a"}`, `{"api\u004bey":"[masked]"}`},
		"credentials":       {`{"credentials":{"user":"a","deep":[{"b":"c"}]}}`, `{"credentials":{"user":"[masked]","deep":[{"b":"[masked]"}]}}`},
		"quotes":            {`{"password":"a\"b\\\"c\\","x":"y"}`, `{"password":"[masked]","x":"y"}`},
		"flag and value":    {`{"args":["-y","server","--api-key","abc","--port","80"]}`, `{"args":["-y","server","--api-key","[masked]","--port","80"]}`},
		"flag with value":   {`["--auth-token=abc","--port=80"]`, `["--auth-token=[masked]","--port=80"]`},
		"assignment":        {`{"command":"OPENAI_API_KEY=abc run","x":"a=b"}`, `{"command":"OPENAI_API_KEY=[masked] run","x":"a=b"}`},
		"key":               {`{"text":"use ` + someKey + `, please"}`, `{"text":"use [masked], please"}`},
		"key after escape":  {`{"text":"a\n` + someKey + `\n"}`, `{"text":"a\n[masked]\n"}`},
		"key after unicode": {`{"text":"a\u003d` + someKey + `"}`, `{"text":"a\u003d[masked]"}`},
		"JSON in JSON":      {`{"text":"{\"a\":\"x\\n` + someKey + `\"}"}`, `{"text":"{\"a\":\"x\\n[masked]\"}"}`},
		"token in path":     {`{"text":"/tmp/` + someToken + `/x"}`, `{"text":"/tmp/[masked]/x"}`},
		"signed token":      {`{"text":"` + someJWT + `"}`, `{"text":"[masked]"}`},
		"bearer":            {`{"text":"curl -H 'authorization: bearer abcdefghijklmnop1'"}`, `{"text":"curl -H 'authorization: bearer [masked]'"}`},
		"URL":               {`{"url":"https://me:pw@host/a?b=c&token=d&e=f#x","v":"https://example.com/@x:y"}`, `{"url":"https://[masked]@host/a?b=c&token=[masked]&e=f#x","v":"https://example.com/@x:y"}`},
		"URL of Go":         {`{"url":"https://host/?a=b\u0026key=d"}`, `{"url":"https://host/?a=b\u0026key=[masked]"}`},
		"private key":       {`{"text":"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----"}`, `{"text":"[masked]"}`},
		"torn":              {`{"env":[{"name":"A","value":"hunter2`, `{"env":[{"name":"A","value":"[masked]`},
		"torn later":        {`{"env":[{"name":"A","value":"b"}],"text":"hello \`, `{"env":[{"name":"A","value":"[masked]"}],"text":"hello \`},
	} {
		var m Masker
		got, changed := m.JSON([]byte(test.text))
		assert.Equal(t, test.want, string(got), name)
		assert.True(t, changed, name)
		assert.Equal(t, json.Valid([]byte(test.text)), json.Valid(got), name)
	}
}

// What looks like a credential and is none stays, so that recordings can be played.
func TestNotMasked(t *testing.T) {
	for _, text := range []string{
		`{"usage":{"totalTokens":5,"inputTokens":3},"maxTokens":100,"_meta":{"progressToken":7}}`,
		`{"authMethods":[{"id":"gemini-api-key","_meta":{"api-key":{"provider":"google"}}}]}`,
		`{"mcpServers":[{"name":"x","env":[],"headers":[]}],"environment":"prod"}`,
		`{"text":"sk-learn and a sk-estuary-is-a-long-word; Basic configuration; Bearer tokens"}`,
		`{"text":"0123456789abcdef0123456789abcdef01234567 5b0b9ff1-9f3d-4d65-9c1d-6b0f3ae3b2a1"}`,
		`{"command":"git","args":["clone","git@github.com:a/b","https://github.com/a/b?tab=readme"]}`,
		`{"text":"x := token=parse(y); password=getPassword()"}`,
		`{"sessionId":"sess_0123456789abcdef0123456789","keyboard":"de","author":"me"}`,
		`{"text":"` + strings.Repeat("a", longBase64) + `"}`,
		`[]`, `"`, `{"`, `\`, ``,
	} {
		var m Masker
		got, changed := m.JSON([]byte(text))
		assert.Equal(t, text, string(got))
		assert.False(t, changed)
	}
}

func TestLongBase64IsADigest(t *testing.T) {
	image := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("acpkit\xff\x3e", 1000)))
	want := fmt.Sprintf("[base64, %d bytes, sha256 %x]", len(image), sha256.Sum256([]byte(image)))
	for text, masked := range map[string]string{
		`{"data":"` + image + `"}`:                            `{"data":"` + want + `"}`,
		`{"url":"data:image/png;base64,` + image + `","x":1}`: `{"url":"data:image/png;base64,` + want + `","x":1}`,
	} {
		var m Masker
		got, changed := m.JSON([]byte(text))
		assert.Equal(t, masked, string(got))
		assert.True(t, changed)
	}
	var m Masker
	got, _ := m.JSON([]byte(`"` + strings.ReplaceAll(image, "/", `\/`) + `"`))
	assert.Less(t, len(got), 200, "slashes may be escaped")
}

// Whatever is masked, JSON stays JSON, and nothing of it takes more than linear time.
func FuzzMask(f *testing.F) {
	f.Add([]byte(`{"env":{"a":1},"b":["--token","x","https://a:b@c?key=d"]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var m Masker
		got, changed := m.JSON(text)
		if json.Valid(text) && !json.Valid(got) {
			t.Fatalf("%q became %q", text, got)
		}
		if !changed && string(got) != string(text) {
			t.Fatalf("%q changed to %q", text, got)
		}
	})
}
