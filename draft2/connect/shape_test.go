package connect

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/envelope"
)

// These are responses of existing agents, and their verdicts.
func TestVerdict(t *testing.T) {
	for name, c := range map[string]struct {
		response string
		want     verdict
	}{
		"version 2":                        {`"result":{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{}}}`, speaksV2},
		"version 2 without capabilities":   {`"result":{"protocolVersion":2,"info":{"name":"a","version":"1"}}`, speaksV2},
		"version 2 in the shape of both":   {`"result":{"protocolVersion":2,"info":{"name":"a"},"capabilities":{},"agentCapabilities":{}}`, speaksV2},
		"version 1":                        {`"result":{"protocolVersion":1,"agentCapabilities":{}}`, speaksV1},
		"version 1, bare":                  {`"result":{"protocolVersion":1}`, speaksV1},
		"goose repeats 2":                  {`"result":{"protocolVersion":2,"agentCapabilities":{"loadSession":true},"agentInfo":{"name":"goose"}}`, speaksV1},
		"repeats 2 as a text":              {`"result":{"protocolVersion":"2","agentCapabilities":{}}`, speaksV1},
		"version 2 in neither shape":       {`"result":{"protocolVersion":2}`, tryV1},
		"version 2 with a broken shape":    {`"result":{"protocolVersion":2,"info":"a","capabilities":[]}`, tryV1},
		"another version":                  {`"result":{"protocolVersion":3,"info":{"name":"a"},"capabilities":{}}`, tryV1},
		"no version":                       {`"result":{"agentCapabilities":{}}`, tryV1},
		"a version that is none":           {`"result":{"protocolVersion":1.5,"agentCapabilities":{}}`, tryV1},
		"null":                             {`"result":null`, tryV1},
		"unsupported, says version 1":      {`"error":{"code":-32022,"message":"m","data":{"requested":2,"supported":[1]}}`, tryV1},
		"unsupported, says nothing":        {`"error":{"code":-32022,"message":"m"}`, tryV1},
		"unsupported, says something else": {`"error":{"code":-32022,"message":"m","data":"only 1"}`, tryV1},
		"unsupported, says version 3":      {`"error":{"code":-32022,"message":"m","data":{"requested":2,"supported":[3]}}`, refuses},
		"unsupported, supports none":       {`"error":{"code":-32022,"message":"m","data":{"supported":[]}}`, tryV1},
		"invalid params":                   {`"error":{"code":-32602,"message":"m"}`, tryV1},
		"must sign in":                     {`"error":{"code":-32000,"message":"m"}`, refuses},
		"a code with a fraction of zero":   {`"error":{"code":-32022.0,"message":"m","data":{"supported":[3.0]}}`, refuses},
		"no message":                       {`"error":{ "code":-32022,"data":{"supported":["3"]}}`, refuses},
		"an empty error":                   {`"error":{}`, tryV1},
		"no error":                         {`"error":7`, tryV1},
	} {
		t.Run(name, func(t *testing.T) {
			e := envelope.Parse([]byte(`{"jsonrpc":"2.0","id":0,` + c.response + `}`))
			require.True(t, isResponse(&e))
			a := answerOf(&e)
			assert.Equal(t, c.want, a.verdict())
		})
	}
}

func TestMerged(t *testing.T) {
	b, err := merged([]byte(`{"protocolVersion":1,"clientCapabilities":{"terminal":true},"clientInfo":{"name":"a"},"_meta":{"a":1,"b":1}}`),
		[]byte(`{"protocolVersion":2,"info":{"name":"a"},"capabilities":{},"_meta":{"b":2}}`))
	require.NoError(t, err)
	assert.JSONEq(t, `{"protocolVersion":2,"clientCapabilities":{"terminal":true},"clientInfo":{"name":"a"},"info":{"name":"a"},"capabilities":{},"_meta":{"a":1,"b":2}}`, string(b))
}

func TestLossy(t *testing.T) {
	for params, want := range map[string]bool{
		`{}`: false,
		`{"clientCapabilities":{"fs":{"readTextFile":false}}}`:              false,
		`{"clientCapabilities":{"elicitation":{"form":{}}}}`:                false,
		`{"clientCapabilities":{"session":{"notices":null}}}`:               false,
		`{"clientCapabilities":{"fs":{"readTextFile":true}}}`:               true,
		`{"clientCapabilities":{"fs":{"writeTextFile":true}}}`:              true,
		`{"clientCapabilities":{"terminal":true}}`:                          true,
		`{"clientCapabilities":{"session":{"notices":{}}}}`:                 true,
		`{"clientCapabilities":{"session":{"compaction":{}}}}`:              true,
		`{"clientCapabilities":{"_meta":{"terminal-auth":true}}}`:           true,
		`{"clientCapabilities":{"subagents":{}}}`:                           true,
		`{"clientCapabilities":{"session":{"configOptions":{}},"plan":{}}}`: false,
	} {
		assert.Equal(t, want, lossy([]byte(params)), params)
	}
}

func TestVersionIsRewritten(t *testing.T) {
	e := envelope.Parse([]byte(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2","agentCapabilities":{"x":1.50}}}`))
	a := answerOf(&e)
	assert.JSONEq(t, `{"protocolVersion":1,"agentCapabilities":{"x":1.50}}`, string(a.as(1)))
	assert.Contains(t, string(a.result), `"2"`, "the response itself stays")
}
