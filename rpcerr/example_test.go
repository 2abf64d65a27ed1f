package rpcerr_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

func Example() {
	// What a handler returns, wrapped on its way up ...
	err := fmt.Errorf("reading notes: %w", rpcerr.ResourceNotFound("/home/me/notes.md"))

	// ... leaves like this.
	wire, _ := json.Marshal(rpcerr.From(err))
	fmt.Println(string(wire))

	// And this is how a caller acts on it.
	if errors.Is(err, rpcerr.ErrResourceNotFound) {
		var e *rpcerr.RequestError
		errors.As(err, &e)
		var data struct{ URI string }
		_ = e.DecodeData(&data)
		fmt.Println("missing:", data.URI)
	}
	// Output:
	// {"code":-32002,"message":"Resource not found: /home/me/notes.md","data":{"uri":"/home/me/notes.md"}}
	// missing: /home/me/notes.md
}

// What a caller does with an error that the peer sent.
func Example_catch() {
	var err error = new(rpcerr.RequestError) // in your program: the error of a call
	_ = json.Unmarshal([]byte(`{"code": -31003, "message": "The model is busy.", "data": {"kind": "rate_limited", "retryable": true, "retryAfterMs": 2000}}`), err)
	code, _ := rpcerr.CodeOf(err)
	fmt.Println("code:", int(code), "of the peer:", rpcerr.FromPeer(err))

	var built *kind.Error // the record as its author built it, which exists in the other process
	fmt.Println("errors.As:", errors.As(err, &built), "errors.Is:", errors.Is(err, kind.RateLimited))
	if e, ok := kind.From(err); ok {
		fmt.Println("kind:", e.Kind, "again after:", e.RetryAfter)
	}
	fmt.Println(rpcerr.Explain(err))
	// Output:
	// code: -31003 of the peer: true
	// errors.As: false errors.Is: true
	// kind: rate_limited again after: 2s
	// The model is busy. (-31003); try again in 2s
}

// errors.Is and the log see the cause. The peer does not receive it.
func ExampleRequestError_WithCause() {
	err := rpcerr.InvalidParams(nil).WithDetail("no such template").WithCause(fs.ErrNotExist)
	fmt.Println(err)
	fmt.Println(errors.Is(err, fs.ErrNotExist))
	wire, _ := json.Marshal(err)
	fmt.Println(string(wire))
	// Output:
	// Invalid params: no such template (-32602)
	// true
	// {"code":-32602,"message":"Invalid params: no such template"}
}

func ExampleFrom() {
	fmt.Println(rpcerr.From(errors.New("open /etc/shadow: permission denied")))
	fmt.Println(rpcerr.From(fmt.Errorf("prompting: %w", rpcerr.AuthRequired(nil))))
	// Output:
	// Internal error (-32603)
	// Authentication required (-32000)
}

func ExampleCodeOf() {
	err := fmt.Errorf("starting a session: %w", rpcerr.AuthRequired(nil))
	if code, ok := rpcerr.CodeOf(err); ok && code == rpcerr.CodeAuthRequired {
		fmt.Println("log in first")
	}
	_, ok := rpcerr.CodeOf(errors.New("connection lost"))
	fmt.Println(ok)
	// Output:
	// log in first
	// false
}
