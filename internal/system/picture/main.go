// Command picture draws docs/chat.svg, the picture in the README: it runs examples/chat
// with examples/agent, types what talk lists, and draws what is on the screen.
//
//	cd internal/system && go generate ./picture
package main

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

//go:generate go run . ../../../docs/chat.svg

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

// The picture is a terminal of so many columns. Longer lines are wrapped.
const (
	columns    = 96
	charWidth  = 8.4
	lineHeight = 19
	margin     = 16
	header     = 36
)

// The escape sequences that chat sends, and the one that marks what the user types.
const (
	typed = "\x1b[1m"
	reset = "\x1b[0m"
)

// colors maps the parameter of an escape sequence to a style of the picture.
var colors = map[string]string{
	"1": "b", "2": "d", "31": "r", "32": "g", "33": "y", "36": "c",
}

const style = `text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d8dee9;white-space:pre}` +
	`.b{fill:#fff;font-weight:bold}.d{fill:#7b8494}.r{fill:#f07178}.g{fill:#8fce7e}.y{fill:#e6c264}.c{fill:#6cc4d8}`

// span is a piece of a line in one style.
type span struct{ class, text string }

func draw(screen string) []byte {
	lines := parse(strings.TrimRight(screen, "\n"))
	width, height := columns*charWidth+2*margin, header+len(lines)*lineHeight+margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" width="%.0f" height="%d" role="img" aria-label="A conversation with an agent on the terminal">`+"\n",
		width, height, width, height)
	fmt.Fprintf(&b, "<style>%s</style>\n", style)
	fmt.Fprintf(&b, `<rect width="%.0f" height="%d" rx="8" fill="#1e222a"/>`+"\n", width, height)
	for i, color := range []string{"#f07178", "#e6c264", "#8fce7e"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="18" r="6" fill="%s"/>`+"\n", 20+20*i, color)
	}
	for i, line := range lines {
		if len(line) == 0 {
			continue
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" xml:space="preserve">`, margin, header+(i+1)*lineHeight-5)
		for _, s := range line {
			if s.class == "" {
				b.WriteString(escape(s.text))
			} else {
				fmt.Fprintf(&b, `<tspan class="%s">%s</tspan>`, s.class, escape(s.text))
			}
		}
		b.WriteString("</text>\n")
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder does not fail
	return strings.ReplaceAll(b.String(), "&#34;", `"`)
}

func parse(screen string) (lines [][]span) {
	class := ""
	for line := range strings.SplitSeq(screen, "\n") {
		var spans []span
		room := columns
		for line != "" {
			text, rest, found := strings.Cut(line, "\x1b[")
			for text = strings.ReplaceAll(text, "\t", "    "); text != ""; {
				piece := []rune(text)
				n := min(len(piece), room)
				spans = append(spans, span{class, string(piece[:n])})
				text, room = string(piece[n:]), room-n
				if room == 0 && (text != "" || found) {
					lines, spans, room = append(lines, spans), nil, columns
				}
			}
			line = ""
			if found {
				parameter, after, _ := strings.Cut(rest, "m")
				class, line = colors[parameter], after
			}
		}
		lines = append(lines, spans)
	}
	return lines
}
