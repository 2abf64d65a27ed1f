package advice_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/advice"
)

func Example() {
	for _, err := range []error{
		advice.Transient("The search found nothing.").WithHint("Try broader terms."),
		advice.UpstreamRateLimit("The chat service is busy.", time.Minute),
		advice.ContextRequired("Two people are called John.", "Ask which one: John Smith or John Doe."),
		rpcerr.AuthRequired(nil),
		advice.Fatal("The account was deleted."),
	} {
		a := advice.For(overTheWire(err))
		fmt.Printf("%v, %v: %q\n", a.Action, a.After, a.Hint)
	}
	// Output:
	// retry, 0s: "Try broader terms."
	// wait, 1m0s: ""
	// ask the user, 0s: "Ask which one: John Smith or John Doe."
	// log in, 0s: ""
	// give up, 0s: ""
}

func overTheWire(err error) error {
	b, _ := json.Marshal(rpcerr.From(err))
	var answer rpcerr.RequestError
	_ = json.Unmarshal(b, &answer)
	return &answer
}

func ExampleUpstream() {
	for _, status := range []int{404, 429, 503} {
		err := advice.Upstream("The tracker refused the query.", status)
		fmt.Println(status, string(err.Kind), err.Retryable)
	}
	err := advice.Upstream("The tracker refused the query.", 0)
	fmt.Println(string(err.Kind), err.Unwrap())
	// Output:
	// 404 not_found false
	// 429 rate_limited true
	// 503 service_unavailable true
	// internal advice.Upstream: 0 is not an HTTP error status
}
