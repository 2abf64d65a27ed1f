package client_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
	"github.com/acpkit/go-sdk/rpcerr"
)

// failingReader is a client that cannot read files.
type failingReader struct{ peertest.Client }

func (*failingReader) ReadTextFile(context.Context, *acp.ReadTextFileRequest) (*acp.ReadTextFileResponse, error) {
	return nil, errors.New("canary")
}

// OnError is called once with the error of a request, before it is converted. ExposeErrors sends
// the details of the error.
func TestOnError(t *testing.T) {
	var seen []string
	c, peer := dial(t, &failingReader{}, &client.Options{
		ExposeErrors: true,
		OnError: func(_ context.Context, where string, err error) error {
			seen = append(seen, where+": "+err.Error())
			return rpcerr.ResourceNotFound("/x").WithCause(err)
		},
	})
	go func() { peer.Answer(peer.Expect("initialize"), `{"protocolVersion":1}`) }() // ends with the response
	_, err := c.Initialize(t.Context(), nil)
	require.NoError(t, err)
	peer.Call("1", "fs/read_text_file", `{"sessionId":"s","path":"/x"}`)
	response, _ := peer.Recv()
	assert.Equal(t, -32002, response.Error.Code)
	assert.JSONEq(t, `{"uri":"/x","details":"canary"}`, string(response.Error.Data))
	assert.Equal(t, []string{"fs/read_text_file: canary"}, seen)
}
