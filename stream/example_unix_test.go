//go:build unix

package stream_test

import (
	"fmt"
	"os/exec"

	"github.com/acpkit/go-sdk/stream"
)

// An agent that cannot start says why.
func ExampleCommand() {
	p, err := stream.Command(exec.Command("sh", "-c", "echo 'no such model: x' >&2; exit 2"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	_, err = p.Read()
	fmt.Println(err)
	// Output: process exited with status 2: no such model: x
}
