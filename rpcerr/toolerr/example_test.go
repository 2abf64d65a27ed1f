package toolerr_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/rpcerr/toolerr"
)

func Example() {
	// A handler fails ...
	err := fmt.Errorf("posting: %w", toolerr.RateLimited("The chat service is busy", 2*time.Second))

	// ... the error crosses the wire ...
	wire, _ := json.Marshal(rpcerr.From(err))
	var received rpcerr.RequestError
	_ = json.Unmarshal(wire, &received)

	// ... and the caller waits.
	e, _ := kind.From(&received)
	fmt.Println(e.Code, toolerr.CategoryOf(e), e.Retryable, e.RetryAfter)
	// Output:
	// RATE_LIMITED rate_limit true 2s
}

func ExampleParse() {
	text := toolerr.RateLimited("Too many requests", 2*time.Second).Text()
	fmt.Println(text)

	e, err := toolerr.Parse(text)
	fmt.Println(e.RetryAfter, err)
	// Output:
	// [ERROR code=RATE_LIMITED category=rate_limit retryable=true retryAfterMs=2000] Too many requests
	//
	// ```json
	// {"code":"RATE_LIMITED","category":"rate_limit","retryable":true,"retryAfterMs":2000}
	// ```
	// 2s <nil>
}

func ExampleNew() {
	err := toolerr.New("EXPORT_TOO_LARGE", toolerr.CategoryValidation, "Export exceeds 10,000 row limit")
	var e *toolerr.Error
	fmt.Println(errors.As(err, &e), toolerr.CategoryOf(err), e.Retryable)
	// Output: true validation false
}
