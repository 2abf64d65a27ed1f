package permission_test

import (
	"context"
	"fmt"

	"github.com/acpkit/go-sdk/acp/v2"
	model "github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/v2/permission"
)

func ExampleRequests() {
	policy, err := model.New(&model.Options{
		Rules: []model.Rule{{Decision: model.Deny, Commands: []string{"rm *"}}},
		Ask: func(_ context.Context, q *model.Question) (string, error) {
			fmt.Println("asked:", q.Title, q.Command)
			return q.Pick(model.AllowOnce), nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	part := permission.Requests{Scope: policy.Scope()}
	for _, command := range []string{"rm -r /", "go test ./..."} {
		res, err := part.RequestPermission(context.Background(), &acp.RequestPermissionRequest{
			SessionID: "s", Title: "Run this?", Subject: &acp.CommandPermissionSubject{Command: command, Cwd: "/work"},
			Options: []acp.PermissionOption{
				{OptionID: "yes", Name: "Yes", Kind: acp.PermissionOptionKindAllowOnce},
				{OptionID: "no", Name: "No", Kind: acp.PermissionOptionKindRejectOnce},
			},
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(res.Outcome.(*acp.SelectedPermissionOutcome).OptionID)
	}
	// Output:
	// no
	// asked: Run this? go test ./...
	// yes
}
