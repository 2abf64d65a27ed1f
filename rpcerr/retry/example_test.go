package retry_test

import (
	"context"
	"fmt"
	"time"

	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/retry"
)

func Example() {
	calls := 0
	search := func(context.Context) (string, error) {
		if calls++; calls < 3 {
			return "", kind.UpstreamRateLimit("The index is busy.", time.Millisecond)
		}
		return "found", nil
	}
	result, err := retry.Value(context.Background(), search, &retry.Options{FirstPause: time.Millisecond})
	fmt.Println(result, err, calls)
	// Output: found <nil> 3
}
