// Command picture draws docs/chat.svg, the picture in the README: it runs examples/chat
// with examples/agent, types what talk lists, and draws what is on the screen.
//
//	go generate ./internal/picture
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
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

func picture(ctx context.Context) ([]byte, error) {
	screen, err := record(ctx)
	if err != nil {
		return nil, err
	}
	return draw("$ go run ./examples/chat\n" + screen), nil
}

// talk is what the user types, each line when chat asks for one.
var talk = []string{
	`edit greet.go: replace "Hello" with "Bonjour"`,
	"1",
	"run go run greet.go",
	"1",
}

const program = `package main

func main() { println("Hello, world!") }
`

// place is what the picture shows in place of the folder that the talk is held in.
const place = "/home/you/greet"

// record runs chat and returns the screen, with the escape sequences of colours.
func record(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "picture")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	project := filepath.Join(dir, "greet")
	if err := os.Mkdir(project, 0o700); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(project, "greet.go"), []byte(program), 0o600); err != nil {
		return "", err
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", dir, "github.com/acpkit/go-sdk/examples/chat", "github.com/acpkit/go-sdk/examples/agent")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	chat := exec.CommandContext(ctx, filepath.Join(dir, "chat"), "-dir", project, "--", filepath.Join(dir, "agent"), "-state", filepath.Join(dir, "state"))
	chat.Env = append(os.Environ(), "FORCE_COLOR=1", "NO_COLOR=")
	chat.Stderr = os.Stderr
	in, err := chat.StdinPipe()
	if err != nil {
		return "", err
	}
	out, err := chat.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := chat.Start(); err != nil {
		return "", err
	}
	screen, err := converse(in, out)
	if err := errors.Join(err, chat.Wait()); err != nil {
		return "", err
	}
	return strings.ReplaceAll(screen, project, place), nil
}

// converse types the talk. Chat does not echo input from a pipe, so converse adds it to the screen.
func converse(in io.WriteCloser, out io.Reader) (string, error) {
	defer in.Close()
	var screen strings.Builder
	next, since := 0, 0
	buf := make([]byte, 4096)
	for {
		n, err := out.Read(buf)
		screen.Write(buf[:n])
		if errors.Is(err, io.EOF) {
			if next < len(talk) {
				return "", fmt.Errorf("chat ended before %q was typed: %s", talk[next], screen.String())
			}
			return screen.String(), nil
		}
		if err != nil {
			return "", err
		}
		shown := screen.String()[since:]
		if next == len(talk) && strings.HasSuffix(shown, "\n> ") {
			in.Close() // ends chat
		}
		if next < len(talk) && (strings.HasSuffix(shown, "\n> ") || strings.HasSuffix(shown, "choose a number: ")) {
			screen.WriteString(typed + talk[next] + reset + "\n")
			since = screen.Len() - 1
			if _, err := io.WriteString(in, talk[next]+"\n"); err != nil {
				return "", err
			}
			next++
		}
	}
}
