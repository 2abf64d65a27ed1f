package guard_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/guard"
)

// A handler returns whatever a function below returned. The peer reads what kind of
// failure it was and no path; the log has the rest.
func Example() {
	read := func(context.Context, string, any) (any, error) {
		return os.ReadFile("/home/me/no-such-file")
	}
	h := guard.Middleware(&guard.Options{Logger: slog.New(slog.DiscardHandler)})(read)

	_, err := h(context.Background(), "_notes/read", nil)
	fmt.Println(rpcerr.From(err))
	// Output: Resource not found (-32002)
}
