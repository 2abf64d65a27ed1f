package plain

import (
	"context"
	"errors"
	"fmt"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

var look = tools.Tool{Run: func(_ context.Context, c *tools.Call) (tools.Result, error) {
	switch c.Tool() {
	case "a":
		return tools.Result{}, errors.New("no such thing") // want `the peer reads only "Internal error" of this`
	case "b":
		return tools.Result{}, tools.Failf("There is no %s.", c.Tool())
	}
	return tools.Result{}, kind.NotFound.New("nothing there")
}}

type in struct{ Path string }

var typed = tools.Typed("typed", "A tool.", func(_ context.Context, _ *tools.Call, in in) (tools.Result, error) {
	return tools.Result{}, fmt.Errorf("no file %s", in.Path) // want `the peer reads only "Internal error" of this`
})

var options = kit.Options{
	Turn: func(context.Context, *kit.Session, *kit.Prompt) (acp.StopReason, error) {
		return "", errors.New("no model") // want `the peer reads only "Internal error" of this`
	},
	Commands: kit.Commands{{Name: "go", Run: command}},
}

func command(context.Context, *kit.Session, *kit.Prompt) (acp.StopReason, error) {
	return "", errors.New("no command") // want `the peer reads only "Internal error" of this`
}
