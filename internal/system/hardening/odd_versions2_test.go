package hardening_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	acp2 "github.com/acpkit/go-sdk/acp/v2"
	agent2 "github.com/acpkit/go-sdk/agent/v2"
	client2 "github.com/acpkit/go-sdk/client/v2"
	"github.com/acpkit/go-sdk/stream"
)

// Answers to initialize that are not of version 2 end in an error that says so, and the
// connection goes on.
func TestOddVersionsOfAgentsOfVersion2(t *testing.T) {
	for name, answer := range map[string]string{
		"99":            `{"protocolVersion":99}`,
		"99, our shape": `{"protocolVersion":99,"info":{"name":"a","version":"1"},"capabilities":{}}`,
		"0":             `{"protocolVersion":0,"info":{"name":"a","version":"1"}}`,
		"1, its shape":  `{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"agentInfo":{"name":"codex","version":"2.6"},"authMethods":[{"id":"chatgpt","name":"ChatGPT"}]}`,
		"1, our shape":  `{"protocolVersion":1,"info":{"name":"a","version":"1"},"capabilities":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			p, in, out := newPeer(t)
			c := client2.New(stream.Lines(in, out, nil), func(*client2.Conn) acp2.Client { return &testClient2{} }, nil)
			run(t, c, p)
			err := try(t, func() error {
				_, err := c.Initialize(t.Context(), nil)
				return err
			}, func() { p.Answer(p.Expect("initialize"), answer) })
			var version *acp2.VersionError
			require.ErrorAs(t, err, &version, "%v", err)
			assert.ErrorContains(t, err, "this client supports version 2")
			assert.Zero(t, c.ProtocolVersion())
			do(t, func() error {
				_, err := c.Initialize(t.Context(), nil)
				return err
			}, func() {
				p.Answer(p.Expect("initialize"), `{"protocolVersion":2,"info":{"name":"a","version":"1"}}`)
			})
			p.echo()
		})
	}
}

// An agent of version 2 answers its own version to clients of it and of later ones, and
// refuses all others; whatever it says, a proper initialize succeeds after it.
func TestOddVersionsOfClientsOfVersion2(t *testing.T) {
	for name, tt := range map[string]struct{ params, want string }{
		"99":               {`{"protocolVersion":99,"clientCapabilities":{}}`, "ok"},
		"65535":            {`{"protocolVersion":65535}`, "ok"},
		"3, bad members":   {`{"protocolVersion":3,"info":7,"capabilities":"all"}`, "ok"},
		"nulls":            {`{"protocolVersion":2,"info":{"name":"c","version":"1"},"capabilities":null,"_meta":null}`, "ok"},
		"bad capabilities": {`{"protocolVersion":2,"info":{"name":"c","version":"1"},"capabilities":"all"}`, "ok"},
		"bad info":         {`{"protocolVersion":2,"info":7}`, "-32602"},
		"no info":          {`{"protocolVersion":2}`, "-32602"},
		"0":                {`{"protocolVersion":0}`, "-32022"},
		"1, its shape":     {`{"protocolVersion":1,"clientInfo":{"name":"editor","version":"1"},"clientCapabilities":{"fs":{"readTextFile":true}}}`, "-32022"},
		"-1":               {`{"protocolVersion":-1}`, "-32602"},
		"65536":            {`{"protocolVersion":65536}`, "-32602"},
		"a text":           {`{"protocolVersion":"2","info":{"name":"c","version":"1"}}`, "-32602"},
		"a fraction":       {`{"protocolVersion":2.5,"info":{"name":"c","version":"1"}}`, "-32602"},
		"none":             {`{}`, "-32602"},
		"a list":           {`[2]`, "-32602"},
	} {
		t.Run(name, func(t *testing.T) {
			p := startOdd2(t)
			p.SendLines(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":` + tt.params + `}`)
			m := p.Next()
			assert.Equal(t, tt.want+" 0", m.String(), "%s", m.Raw)
			switch tt.want {
			case "ok":
				assert.Contains(t, string(m.Result), `"protocolVersion":2`)
			case "-32022":
				assert.Contains(t, string(m.Error.Data), `"supported":[2]`)
			}
			p.SendLines(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"c","version":"1"}}}`)
			assert.Equal(t, "ok 1", p.Next().String())
			p.echo()
		})
	}
	t.Run("before it", func(t *testing.T) {
		p := startOdd2(t)
		for i, method := range []string{"session/new", "session/prompt", "_echo", "no/such"} {
			p.SendLines(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"cwd":"/"}}`, i, method))
			assert.Equal(t, fmt.Sprint("-32600 ", i), p.Next().String())
		}
		p.SendLines(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`,
			`{"jsonrpc":"2.0","id":4,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"c","version":"1"}}}`,
			`{"jsonrpc":"2.0","id":5,"method":"session/new","params":{"cwd":"/"}}`)
		assert.Equal(t, "ok 4", p.Next().String())
		assert.Equal(t, "ok 5", p.Next().String())
	})
}

// startOdd2 returns the peer of an agent of version 2 that has not been initialized.
func startOdd2(t *testing.T) *peer {
	t.Helper()
	p, in, out := newPeer(t)
	run(t, agent2.New(stream.Lines(in, out, nil), func(*agent2.Conn) acp2.Agent { return &testAgent2{} }, nil), p)
	return p
}
