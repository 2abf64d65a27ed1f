package classify_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/rpcerr/contract"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/toolerr"
)

var signIn = contract.New("sign_in").Declare(contract.Mode{
	Reason: "signed_out", Kind: kind.Unauthorized, When: "The user has signed out.", Recovery: "Sign in to this agent and call again.",
})

// The code -32000 asks the user to sign in to this agent, so it is used only if the author asked
// for it.
func TestOnlyAnAuthorAsksForALogin(t *testing.T) {
	boom := errors.New("boom")
	byOp := func(err error) error {
		op := classify.Op{Name: "op", Kind: kind.Unauthorized, Logger: new(recorder).logger()}
		_, err = do(t.Context(), op, func(context.Context) (int, error) { return 0, err })
		return err
	}
	hook := classify.OnError(&classify.OnErrorOptions{Logger: new(recorder).logger()})
	for name, c := range map[string]struct {
		err  error
		want rpcerr.Code
	}{
		"AuthRequired":      {rpcerr.AuthRequired(nil), rpcerr.CodeAuthRequired},
		"New":               {kind.Unauthorized.New("m"), rpcerr.CodeAuthRequired},
		"Newf":              {kind.Unauthorized.Newf(boom, "m"), rpcerr.CodeAuthRequired},
		"contract":          {signIn.Fail(""), rpcerr.CodeAuthRequired},
		"own RequestError":  {rpcerr.New(-32000, "m", nil), rpcerr.CodeAuthRequired},
		"pattern":           {errors.New("invalid token '}'"), kind.CodeUnauthorized},
		"word of a user":    {fmt.Errorf("no command %q", "unauthorized"), kind.CodeUnauthorized},
		"status in a text":  {errors.New("status code 401"), kind.CodeUnauthorized},
		"JWT":               {errors.New("JWT expired"), kind.CodeUnauthorized},
		"gRPC":              {errors.New("rpc error: code = Unauthenticated desc = x"), kind.CodeUnauthorized},
		"status method":     {answered(401), kind.CodeUnauthorized},
		"response":          {classify.FromResponse(response(401, ""), nil), kind.CodeUnauthorized},
		"upstream":          {kind.Upstream("m", 401), kind.CodeUnauthorized},
		"toolerr":           {toolerr.Auth("m"), kind.CodeUnauthorized},
		"adapter":           {classify.New(classify.Is(boom, kind.Unauthorized)).Error(boom), kind.CodeUnauthorized},
		"adapter's own New": {classify.New(func(error) *kind.Error { return kind.Unauthorized.New("m") }).Error(boom), kind.CodeUnauthorized},
		"adapter's number":  {classify.New(func(error) *kind.Error { return kind.Unauthorized.New("m").WithNumber(-32000) }).Error(boom), kind.CodeUnauthorized},
		"Op.Kind":           {byOp(boom), kind.CodeUnauthorized},
		"Op.Kind, explicit": {byOp(kind.Unauthorized.New("m")), rpcerr.CodeAuthRequired},
	} {
		for _, err := range []error{c.err, classify.Error(c.err), hook(t.Context(), "session/prompt", c.err)} {
			if _, ok := kind.From(err); !ok {
				continue // not classified yet
			}
			r := wireOf(err)
			assert.Equal(t, c.want, r.Code, name)
			assert.Equal(t, c.want == rpcerr.CodeAuthRequired, errors.Is(err, rpcerr.ErrAuthRequired), name)
			assert.Equal(t, kind.Unauthorized, kind.Of(r), "%s: reads back as unauthorized", name)
			wantAction := kind.ActionAskUser
			if c.want == rpcerr.CodeAuthRequired {
				wantAction = kind.ActionLogIn
			}
			assert.Equal(t, wantAction, kind.AdviceFor(r).Action, name)
			if c.want != rpcerr.CodeAuthRequired { // editors show the text, and it must not ask for a login either
				assert.NotEqual(t, kind.Unauthorized.Message(), r.Message, name)
			}
		}
	}
}

// An adapter may convert the error of a server that uses -32000 with another meaning.
func TestAdapterOfAnotherProtocol(t *testing.T) {
	for _, data := range []any{nil, map[string]any{"kind": "timeout"}} {
		c := classify.New(func(error) *kind.Error { return kind.FromRequestError(rpcerr.New(-32000, "server error", data)) })
		err := wireOf(c.Error(errors.New("boom")))
		assert.NotErrorIs(t, err, rpcerr.ErrAuthRequired)
		assert.Equal(t, "server error", err.Message)
	}
}
