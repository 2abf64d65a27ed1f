package agent_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/draft2/acp"
	"github.com/acpkit/go-sdk/draft2/agent"
	"github.com/acpkit/go-sdk/internal/rawpeer"
)

// starting is an agent that takes values for the start of a session.
type starting struct {
	telling
	got []acp.InitialSessionConfigOption
}

func (a *starting) NewSession(_ context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	a.got = req.ConfigOptions
	return &acp.NewSessionResponse{SessionID: "s1"}, nil
}

func (a *starting) SessionOptions(context.Context, *acp.SessionOptionsRequest) (*acp.SessionOptionsResponse, error) {
	return &acp.SessionOptionsResponse{}, nil
}

// A value for the start of a session fails if its type is none of the protocol. Types of vendors, options and values are
// the agent's affair, which ignores those that it does not know.
func TestTypesOfInitialValues(t *testing.T) {
	for value, want := range map[string]string{
		`{"configId":"o","type":"id","value":"v"}`:           "",
		`{"configId":"o","type":"boolean","value":true}`:     "",
		`{"configId":"o","type":"_colour","value":"#fff"}`:   "",
		`{"configId":"o","type":"colour","value":"#ffffff"}`: "colour",
	} {
		synctest.Test(t, func(t *testing.T) {
			a := &starting{telling: telling{caps: &acp.AgentCapabilities{}}}
			require.NoError(t, json.Unmarshal([]byte(`{"session":{"options":{}}}`), a.caps))
			near, far := rawpeer.Pipe(t)
			rawpeer.Start(t, agent.New(near, func(c *agent.Conn) acp.Agent { a.conn = c; return a }, &agent.Options{Unstable: true}))
			far.Call("0", "initialize", `{"protocolVersion":2,"info":{"name":"c","version":"1"},"capabilities":{}}`)
			require.Nil(t, far.Next().Error)
			far.Call("1", "session/new", `{"cwd":"/","configOptions":[`+value+`]}`)
			m := far.Next()
			if want == "" {
				require.Nil(t, m.Error, value)
				assert.Len(t, a.got, 1)
				return
			}
			require.NotNil(t, m.Error, value)
			assert.EqualValues(t, -32602, m.Error.Code)
			assert.Contains(t, m.Raw, want)
			assert.Empty(t, a.got, "no session was started")
		})
	}
}
