package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/agent/tools"
	"github.com/acpkit/go-sdk/agent/workspace"
)

func init() { extend = flags }

// flags reads the command line.
func flags(o *kit.Options) {
	demo := flag.Bool("demo", false, "play: a scripted model repairs a program in a temporary folder, without a key")
	flag.Func("env", "the name of an environment variable that commands get, such as GOFLAGS, or a pattern; it may be repeated", func(name string) error {
		o.Workspace.Inherit = append(o.Workspace.Inherit, name)
		return nil
	})
	flag.Usage = func() {
		log.Print("usage: coder [flags]\n\nA client starts it and talks to it on standard input and output. BASE_URL is the address of a\n" +
			"server of chat completions, API_KEY its key if it needs one, or API_KEY_FILE a file with it, and\nMODEL the model.\n\n" +
			"  go run ./examples/chat -- go run ./examples/coder -demo\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	if *demo {
		play(o)
	} else if os.Getenv("BASE_URL") == "" {
		log.Print("Set BASE_URL to the address of a server of chat completions, such as http://localhost:11434/v1 for Ollama.")
	}
}

// play replaces the model by a scripted one, which repairs a program in a temporary folder with the
// tools of a real model. It needs no key and changes nothing outside of that folder.
func play(o *kit.Options) {
	dir, err := os.MkdirTemp("", "coder-demo-")
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	for name, text := range program {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)
		}
	}
	if err != nil {
		log.Fatal(err)
	}
	l := loop.New(&script{dir: dir}, nil)
	o.Store, o.Auth, o.Settings, o.Images = new(journal.Memory), nil, nil, nil
	o.Tools = func(s *kit.Session) []tools.Tool {
		w, err := workspace.Open(s.Conn(), s.ID(), []string{dir}, &workspace.Options{OnlyLocal: true})
		if err != nil {
			log.Fatal(err)
		}
		return append(workspace.Tools(w), s.TodoTool())
	}
	o.Turn = func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acp.StopReason, error) {
		reason, err := l.Turn(ctx, s, p)
		if text, readErr := os.ReadFile(filepath.Join(dir, "sum.go")); readErr == nil && strings.Contains(string(text), "a + b") {
			err = cmp.Or(err, os.RemoveAll(dir)) // the work is done
		}
		return reason, err
	}
}

// program has the files that the demo repairs.
var program = map[string]string{
	"go.mod": "module example.com/sum\n\ngo 1.21\n",
	"sum.go": "package sum\n\n// Sum adds two numbers.\nfunc Sum(a, b int) int {\n\treturn a - b\n}\n",
	"sum_test.go": "package sum\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n" +
		"\tif got := Sum(2, 3); got != 5 {\n\t\tt.Errorf(\"Sum(2, 3) = %d, want 5\", got)\n\t}\n}\n",
}

// runTests names what it compiles, because the first time that takes half a minute in which go test is silent.
const runTests = "go build -v testing . && go test ./..."

// script is a model that chooses its next call by the results of the earlier ones.
type script struct{ dir string }

func (m *script) Generate(_ context.Context, req *loop.Request) iter.Seq2[loop.Event, error] {
	events := m.next(req.Messages)
	return func(yield func(loop.Event, error) bool) {
		for _, e := range append(events, loop.Stop{}) {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (m *script) next(messages []loop.Message) []loop.Event {
	last := messages[len(messages)-1]
	if last.Role == loop.User {
		if _, err := os.Stat(m.dir); err != nil {
			return say("The demo is over: the test passes, and its folder is removed. Start coder with -demo again to see it once more.")
		}
		return append(say(fmt.Sprintf("I work in %s, a folder of this demo. First I run the tests. Go names each package that it has to compile before.\n", m.dir)),
			call("run_command", map[string]any{"command": runTests}))
	}
	r := last.Results[0]
	text := r.Parts[0].Text
	switch {
	case r.Failed:
		return say("That did not work, so the test still fails: " + text)
	case r.Name == "run_command" && strings.Contains(text, "[exit code 0]"):
		return say("The test passes. ")
	case r.Name == "run_command" && edited(messages):
		return say("The test still fails:\n\n" + text)
	case r.Name == "run_command" && strings.Contains(text, "want 5"):
		return append(say("A test fails: Sum(2, 3) should be 5. I look at the code.\n"), call("read_file", map[string]any{"path": "sum.go"}))
	case r.Name == "run_command":
		return say("The tests cannot be run here; is Go installed?\n\n" + text)
	case r.Name == "read_file":
		return append(say("Sum subtracts where it should add.\n"),
			call("edit_file", map[string]any{"path": "sum.go", "edits": []map[string]string{{"old": "return a - b", "new": "return a + b"}}}))
	}
	return append(say("Now I run the tests again.\n"), call("run_command", map[string]any{"command": runTests}))
}

// edited reports whether an edit was made.
func edited(messages []loop.Message) bool {
	for _, m := range messages {
		for _, r := range m.Results {
			if r.Name == "edit_file" && !r.Failed {
				return true
			}
		}
	}
	return false
}

// say returns a text as events, one for each word.
func say(text string) (events []loop.Event) {
	for _, word := range strings.SplitAfter(text, " ") {
		events = append(events, loop.Text(word))
	}
	return events
}

func call(name string, input map[string]any) loop.Event {
	data, _ := json.Marshal(input) // of texts
	return loop.CallDelta{ID: "call_" + name, Name: name, Input: string(data)}
}
