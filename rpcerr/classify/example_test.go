package classify_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

func Example() {
	_, err := os.ReadFile("/no/such/file")
	err = classify.Error(err)
	fmt.Println(string(kind.Of(err)))
	fmt.Println(err) // what the peer reads
	fmt.Println(errors.Is(err, os.ErrNotExist))
	// Output:
	// not_found
	// Resource not found
	// true
}

func ExampleFromResponse() {
	resp := &http.Response{StatusCode: 429, Header: http.Header{"Retry-After": {"30"}}, Body: io.NopCloser(strings.NewReader(""))}
	e := classify.FromResponse(resp, &classify.ResponseOptions{Service: "The tracker"})
	fmt.Println(e)
	fmt.Println(string(e.Kind), e.Status, e.RetryAfter)
	// Output:
	// The tracker answered 429 Too Many Requests
	// rate_limited 429 30s
}

func ExampleOp_Catch() {
	load := func(ctx context.Context) (err error) {
		defer classify.Op{Name: "Store.Load", Logger: slog.New(slog.DiscardHandler)}.Catch(ctx, &err)
		var index []int
		return fmt.Errorf("entry %d", index[len(index)]) // panics
	}
	err := load(context.Background())
	fmt.Println(err)
	fmt.Println(errors.Unwrap(err))
	// Output:
	// Internal error
	// panic: runtime error: index out of range [0] with length 0
}

type apiError struct{ Name string }

func (e *apiError) Error() string { return "api: " + e.Name }

func ExampleNew() {
	c := classify.New(classify.As(func(e *apiError) *kind.Error {
		if e.Name == "channel_not_found" {
			return kind.NotFound.New("There is no such channel.")
		}
		return nil // the rules of the package decide
	}))
	fmt.Println(c.Error(fmt.Errorf("posting: %w", &apiError{"channel_not_found"})))
	// Output: There is no such channel.
}
