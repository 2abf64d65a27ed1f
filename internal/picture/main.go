// Command picture draws docs/chat.svg, the picture in the README: it runs examples/chat
// with examples/agent, types what talk lists, and draws what is on the screen.
//
//	go generate ./internal/picture
package main

import (
	"context"
	"fmt"
	"os"
)

//go:generate go run . ../../docs/chat.svg

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: picture FILE")
		os.Exit(2)
	}
	svg, err := picture(context.Background())
	if err == nil {
		err = os.WriteFile(os.Args[1], svg, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

// picture returns the picture.
func picture(ctx context.Context) ([]byte, error) {
	screen, err := record(ctx)
	if err != nil {
		return nil, err
	}
	return draw("$ go run ./examples/chat\n" + screen), nil
}
