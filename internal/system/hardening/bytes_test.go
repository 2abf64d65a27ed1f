package hardening_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// nested is a list within a list and so on.
func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

const deep = 100_000

// hostileLines are lines that are no messages of the protocol, and what both ends
// answer to them. After each the connection is as good as before.
var hostileLines = []struct {
	name, line string
	want       []string
}{
	{"deep request, id in front", `{"jsonrpc":"2.0","id":7,"method":"_echo","params":` + nested(deep) + `}`, []string{"-32600 7"}},
	{"deep request, id behind", `{"jsonrpc":"2.0","method":"_echo","params":{"x":` + nested(deep) + `},"id":"a\"b"}`, []string{`-32600 "a\"b"`}},
	{"deep objects", `{"jsonrpc":"2.0","id":7,"method":"_echo","params":` + strings.Repeat(`{"id":`, deep) + "1" + strings.Repeat("}", deep) + `}`, []string{"-32600 7"}},
	{"deep notification", `{"jsonrpc":"2.0","method":"session/update","params":` + nested(deep) + `}`, []string{"-32600 null"}},
	{"deep answer to nothing", `{"jsonrpc":"2.0","id":7,"result":` + nested(deep) + `}`, nil},
	{"deep error to nothing", `{"jsonrpc":"2.0","id":7,"error":` + nested(deep) + `}`, nil},
	{"deep list", nested(deep), []string{"-32600 null"}},
	{"deep and not closed", `{"jsonrpc":"2.0","id":7,"method":"_echo","params":` + strings.Repeat("[", deep), []string{"-32600 null"}},
	{"one level too many", `{"jsonrpc":"2.0","id":7,"method":"_echo","params":` + nested(1000) + `}`, []string{"-32600 7"}},
	{"as deep as it may be", `{"jsonrpc":"2.0","id":7,"method":"_echo","params":` + nested(999) + `}`, []string{"ok 7"}},

	{"method of 1 MiB", `{"jsonrpc":"2.0","id":7,"method":"` + strings.Repeat("m", 1<<20) + `"}`, []string{"-32601 7"}},
	{"method of 1 MiB in escapes", `{"jsonrpc":"2.0","id":7,"method":"` + strings.Repeat(`\u00e9`, 1<<20/6) + `"}`, []string{"-32601 7"}},
	{"notification of 1 MiB", `{"jsonrpc":"2.0","method":"` + strings.Repeat("m", 1<<20) + `"}`, nil},
	{"empty method", `{"jsonrpc":"2.0","id":7,"method":""}`, []string{"-32601 7"}},
	{"reserved method", `{"jsonrpc":"2.0","id":7,"method":"$/cancel_request"}`, []string{"-32601 7"}},
	{"id of 10 MiB", `{"jsonrpc":"2.0","id":"` + strings.Repeat("7", 10<<20) + `","method":"_echo"}`, []string{"-32600 null"}},
	{"number of 10 MiB as id", `{"jsonrpc":"2.0","id":1` + strings.Repeat("0", 10<<20) + `,"method":"_echo"}`, []string{"-32600 null"}},
	{"answer with an id of 10 MiB", `{"jsonrpc":"2.0","id":"` + strings.Repeat("7", 10<<20) + `","result":{}}`, nil},
	{"cancel of an id of 10 MiB", `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"` + strings.Repeat("7", 10<<20) + `"}}`, nil},

	{"two methods", `{"jsonrpc":"2.0","id":7,"method":"_echo","method":"logout"}`, []string{"-32600 7"}},
	{"two methods, one escaped", `{"jsonrpc":"2.0","id":7,"method":"_echo","\u006dethod":"logout"}`, []string{"-32600 7"}},
	{"two ids", `{"jsonrpc":"2.0","id":7,"id":8,"method":"_echo"}`, []string{"-32600 null"}},
	{"two params", `{"jsonrpc":"2.0","id":7,"method":"_echo","params":1,"params":2}`, []string{"-32600 7"}},
	{"two versions", `{"jsonrpc":"2.0","jsonrpc":"2.0","id":7,"method":"_echo"}`, []string{"-32600 7"}},
	{"two results", `{"jsonrpc":"2.0","id":7,"result":1,"result":2}`, nil},
	{"request and answer", `{"jsonrpc":"2.0","id":7,"method":"_echo","result":{}}`, []string{"-32600 7"}},
	{"unknown member twice", `{"jsonrpc":"2.0","id":7,"method":"_echo","x":1,"x":2}`, []string{"ok 7"}},

	{"invalid UTF-8 in a method", "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\xff\xfe\"}", []string{"-32601 7"}},
	{"invalid UTF-8 in params", "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"_echo\",\"params\":\"\xff\xc3\xed\xa0\x80\"}", []string{"ok 7"}},
	{"invalid UTF-8 in a name", "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"_echo\",\"\xff\":\"\xff\"}", []string{"ok 7"}},
	{"lone surrogates in params", `{"jsonrpc":"2.0","id":7,"method":"_echo","params":"\ud800 \udc00 \ud83d"}`, []string{"ok 7"}},
	{"lone surrogate in a method", `{"jsonrpc":"2.0","id":7,"method":"\ud800"}`, []string{"-32601 7"}},
	{"escaped NUL", `{"jsonrpc":"2.0","id":7,"method":"_ec\u0000ho"}`, []string{"-32601 7"}},
	{"raw NUL in a string", "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"_ec\x00ho\"}", []string{"-32700 null"}},
	{"NUL behind", "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"_echo\"}\x00", []string{"-32700 null"}},
	{"NUL alone", "\x00\x00\x00", []string{"-32700 null"}},
	{"control characters", "\x01\x02\x1b[2J", []string{"-32700 null"}},

	{"1e400 as id", `{"jsonrpc":"2.0","id":1e400,"method":"_echo"}`, []string{"-32600 null"}},
	{"1e400 as the id of an answer", `{"jsonrpc":"2.0","id":1e400,"result":{}}`, nil},
	{"1e400 in params", `{"jsonrpc":"2.0","id":7,"method":"_echo","params":[1e400,-1e400,1e-400]}`, []string{"ok 7"}},
	{"digits in params", `{"jsonrpc":"2.0","id":7,"method":"_echo","params":` + strings.Repeat("9", 1<<20) + `}`, []string{"ok 7"}},
	{"id is an object", `{"jsonrpc":"2.0","id":{"a":1},"method":"_echo"}`, []string{"-32600 null"}},
	{"id is a list", `{"jsonrpc":"2.0","id":[1],"result":{}}`, nil},

	{"no JSON", "hello", []string{"-32700 null"}},
	{"half a message", `{"jsonrpc":"2.0","id":7,"method":"_ec`, []string{"-32700 null"}},
	{"two messages", `{"jsonrpc":"2.0","method":"_x"}{"jsonrpc":"2.0","method":"_x"}`, []string{"-32700 null"}},
	{"batch", `[{"jsonrpc":"2.0","id":7,"method":"_echo"}]`, []string{"-32600 null"}},
	{"number", "42", []string{"-32600 null"}},
	{"empty object", "{}", []string{"-32600 null"}},
	{"empty lines", "\n\r\n \t\n", nil},
	{"no version", `{"id":7,"method":"_echo"}`, []string{"-32600 7"}},
	{"other names", `{"jsonrpc":"2.0","ID":7,"Method":"_echo","METHOD":"_echo"}`, []string{"-32600 null"}},
	{"params are no object", `{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":[1]}`, []string{"-32602 7"}},
	{"answers that nobody asked for", `{"jsonrpc":"2.0","id":99,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":"x","error":{}}` + "\n" + `{"jsonrpc":"2.0","id":null,"result":1}` + "\n" + `{"jsonrpc":"2.0","result":1}` + "\n" + `{"jsonrpc":"2.0","id":-1,"error":{"code":1,"message":""}}`, nil},
	{"a million members", `{"jsonrpc":"2.0","id":7,"method":"_echo","params":{` + strings.TrimSuffix(strings.Repeat(`"a":0,`, 1<<20), ",") + `}}`, []string{"ok 7"}},
	{"a million members of the message", `{"jsonrpc":"2.0","id":7,"method":"_echo"` + strings.Repeat(`,"\u0061":0`, 1<<20) + `}`, []string{"ok 7"}},
}

func TestHostileLines(t *testing.T) {
	ends(t, nil, func(t *testing.T, p *echoPeer) {
		for _, tt := range hostileLines {
			p.SendLines(tt.line)
			got := brief(p.echoAnd(len(tt.want)))
			if tt.name == "params are no object" { // one end knows the method
				assert.Contains(t, []string{"-32602 7", "-32601 7"}, got[0])
				continue
			}
			assert.Equal(t, tt.want, got, tt.name)
		}
	})
}

// The response to a hostile line does not repeat the line: it may contain secrets, and it
// may be long.
func TestAnswersDoNotRepeatHostileInput(t *testing.T) {
	ends(t, nil, func(t *testing.T, p *echoPeer) {
		for _, tt := range hostileLines {
			if len(tt.want) == 0 || strings.HasPrefix(tt.want[0], "ok") {
				continue
			}
			p.SendLines(tt.line)
			for _, m := range p.echoAnd(len(tt.want)) {
				assert.Less(t, len(m.Raw), 1000, "%s: %.300s", tt.name, m.Raw)
			}
		}
		p.SendLines(`secret`, `["secret"]`, `{"jsonrpc":"2.0","id":7,"params":{"secret":"secret"}}`, `{"jsonrpc":"2.0","method":1,"id":7,"secret":"secret"}`)
		for _, m := range p.echoAnd(3) { // the one with an id and no method counts as an answer
			assert.NotContains(t, m.Raw, "secret")
		}
	})
}

// Members of params that come twice are refused, so that a proxy on the way cannot
// have read something else than this end.
func TestDuplicateMembersInParams(t *testing.T) {
	eachAgent(t, func(t *testing.T, _ int, p *echoPeer) {
		for i, params := range []string{
			`{"cwd":"/a","cwd":"/b","mcpServers":[]}`,
			`{"cwd":"/a","mcpServers":[],"\u0063wd":"/b"}`,
			`{"cwd":"/a","mcpServers":[{"type":"stdio","name":"n","command":"/c","command":"/d","args":[],"env":[]}]}`,
			`{"cwd":"/a","mcpServers":[],"mcpServers":[]}`,
		} {
			p.Send(`{"jsonrpc":"2.0","id":%d,"method":"session/new","params":%s}`, i, params)
			assert.Equal(t, []string{fmt.Sprintf("-32602 %d", i)}, brief(p.echoAnd(1)), params)
		}
	})
}

// The method-not-found response that the connection itself sends truncates a long method
// name.
func TestLongMethodNames(t *testing.T) {
	for name, start := range withoutExtensions {
		t.Run(name, func(t *testing.T) {
			p := start(t)
			p.SendLines(`{"jsonrpc":"2.0","id":7,"method":"` + strings.Repeat("m", 1<<20) + `"}`)
			m := p.Next()
			assert.Equal(t, "-32601 7", m.String())
			assert.Less(t, len(m.Raw), 1000)
			p.SendLines(`{"jsonrpc":"2.0","id":8,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`)
			assert.Equal(t, "ok 8", p.Next().String())
		})
	}
}
