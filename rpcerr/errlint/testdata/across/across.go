package across

import (
	"context"

	"errlint.test/across/tools"
	"github.com/acpkit/go-sdk/rpcerr/contract"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

func fetch(n int) error {
	if n == 0 {
		return tools.NoMatch.Fail("")
	}
	return kind.NotFound.New("nothing") // want `kind not_found is declared by contract Articles: use NoMatch.Fail`
}

func serve(ctx context.Context) error {
	ctx = contract.NewContext(ctx, tools.Articles)
	if ctx.Err() != nil {
		return kind.Conflict.New("taken") // want `kind conflict, which contract Articles does not declare`
	}
	return nil
}

var _ = []any{fetch, serve}
