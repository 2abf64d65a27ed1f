package kind_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

func Example() {
	// An agent responds with an error ...
	err := kind.NotFound.Newf(fs.ErrNotExist, "no template %q", "letter").
		WithHint("Call list_templates to see what exists.").
		With("template", "letter")
	wire, _ := json.Marshal(rpcerr.From(err))
	fmt.Println(string(wire))

	// ... and a client acts on it.
	var received rpcerr.RequestError
	_ = json.Unmarshal(wire, &received)
	if e, ok := kind.From(&received); ok && e.Kind == kind.NotFound {
		fmt.Println(e.Hint)
	}
	// Output:
	// {"code":-32002,"message":"no template \"letter\"","data":{"kind":"not_found","recovery":{"hint":"Call list_templates to see what exists."},"retryable":false,"template":"letter"}}
	// Call list_templates to see what exists.
}

func ExampleKind_New() {
	err := kind.RateLimited.New("The search index takes 10 calls a minute.").WithRetryAfter(20 * time.Second)
	fmt.Println(err.Retryable, err.RetryAfter)
	fmt.Println(errors.Is(err, kind.RateLimited))
	fmt.Println(rpcerr.CodeOf(err))
	// Output:
	// true 20s
	// true
	// code -31003 true
}

// The cause stays in this process. The peer receives the message.
func ExampleKind_Newf() {
	err := kind.ServiceUnavailable.Newf(errors.New("dial 10.0.0.7:443: refused"), "The issue tracker does not answer")
	fmt.Println(err)
	fmt.Println(errors.Unwrap(err))
	// Output:
	// The issue tracker does not answer
	// dial 10.0.0.7:443: refused
}

func ExampleFromStatus() {
	for _, status := range []int{401, 404, 429, 503} {
		fmt.Println(status, string(kind.FromStatus(status)))
	}
	// Output:
	// 401 unauthorized
	// 404 not_found
	// 429 rate_limited
	// 503 service_unavailable
}
