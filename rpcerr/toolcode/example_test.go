package toolcode_test

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/acpkit/go-sdk/rpcerr/toolcode"
)

func Example() {
	_, err := os.ReadFile("/no/such/file")
	fmt.Println(toolcode.Of(err, nil))
	fmt.Println(toolcode.Of(toolcode.NoMatch.Errorf("old_string was not found in %s", "main.go"), nil))

	var e toolcode.Envelope
	_ = json.Unmarshal([]byte(`{"error":"ambiguous_match","message":"old_string was found 3 times"}`), &e)
	if e.Error == toolcode.AmbiguousMatch {
		fmt.Println("widen the text")
	}
	// Output:
	// {"error":"not_found","message":"It does not exist."}
	// {"error":"no_match","message":"old_string was not found in main.go"}
	// widen the text
}
