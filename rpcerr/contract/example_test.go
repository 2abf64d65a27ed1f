package contract_test

import (
	"encoding/json"
	"fmt"

	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/contract"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

var articles = contract.New("fetch_articles")

var (
	NoMatch = articles.Declare(contract.Mode{
		Reason:   "no_match",
		Kind:     kind.NotFound,
		When:     "No requested id returned an article.",
		Recovery: "Call search_articles to find ids that exist.",
	})
	QueueFull = articles.Declare(contract.Mode{
		Reason:    "queue_full",
		Kind:      kind.RateLimited,
		When:      "The local queue of requests is full.",
		Recovery:  "Wait 30 seconds and retry, or ask for fewer articles.",
		Retryable: true,
	})
)

func Example() {
	err := NoMatch.Failf(nil, "None of the %d ids returned an article", 3).WithHint(NoMatch.Recovery())

	wire, _ := json.Marshal(rpcerr.From(err))
	fmt.Println(string(wire))

	var received rpcerr.RequestError
	_ = json.Unmarshal(wire, &received)
	fmt.Println(NoMatch.Matches(&received), QueueFull.Matches(&received))
	// Output:
	// {"code":-32002,"message":"None of the 3 ids returned an article","data":{"kind":"not_found","reason":"no_match","recovery":{"hint":"Call search_articles to find ids that exist."},"retryable":false}}
	// true false
}
