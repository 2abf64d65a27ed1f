package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"testing"

	acpkit "github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/stream"
)

// acpEnv makes the test binary the command acp.
const acpEnv = "ACP_TEST_COMMAND"

// plays are the agents that the test binary plays. Their arguments follow the name.
var plays = map[string]func(args []string){
	// mirror sends what it receives.
	"mirror": func([]string) { _, _ = io.Copy(os.Stdout, os.Stdin) },
	// pump is a plain pump of bytes before an agent.
	"pump": func(args []string) {
		cmd := exec.Command(args[0], args[1:]...)
		in, _ := cmd.StdinPipe()
		out, _ := cmd.StdoutPipe()
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		go func() { // ends with the input
			pump(in.(*os.File), os.Stdin, nil)
		}()
		pump(os.Stdout, out.(*os.File), nil)
		_ = cmd.Wait()
	},
	// say writes to standard output and standard error, and exits with a code.
	"say": func(args []string) {
		fmt.Fprint(os.Stdout, args[0])
		fmt.Fprint(os.Stderr, args[1])
		code, _ := strconv.Atoi(args[2])
		os.Exit(code)
	},
	// updates sends so many updates, one write each.
	"updates": func(args []string) {
		n, _ := strconv.Atoi(args[0])
		for i := range n {
			fmt.Fprintf(os.Stdout, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"word %d of the answer, which is as long as those of models"}}}}`+"\n", i)
		}
	},
	// flood sends so many MiB of updates as fast as it can.
	"flood": func(args []string) {
		n, _ := strconv.Atoi(args[0])
		line := []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","text":"` + strings.Repeat("word ", 200) + `"}}` + "\n")
		block := bytes.Repeat(line, 100)
		for left := n << 20; left > 0; left -= len(block) {
			if _, err := os.Stdout.Write(block); err != nil {
				os.Exit(9)
			}
		}
	},
	// deaf closes its output and waits for the end of its input.
	"deaf": func([]string) {
		os.Stdout.Close()
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(4)
	},
	// hang says its process id and ends by a signal only.
	"hang": func([]string) {
		fmt.Println(os.Getpid())
		in, out, _ := os.Pipe()
		_, _ = in.Read(make([]byte, 1))
		_ = out.Close()
	},
	// signals says which signals it gets, and exits after so many.
	"signals": func(args []string) {
		n, _ := strconv.Atoi(args[0])
		got := make(chan os.Signal, 10)
		signal.Notify(got, watched()...)
		fmt.Println("ready")
		for range n {
			fmt.Println(<-got)
		}
		os.Exit(5)
	},
	// parent exits and leaves a child that has its output.
	"parent": func([]string) {
		child := exec.Command(os.Args[0], "play", "hang")
		child.Stdout = os.Stdout
		if err := child.Start(); err != nil {
			panic(err)
		}
		os.Exit(6)
	},
	// bold is an agent that repeats each prompt as Markdown.
	"bold": func([]string) {
		_ = kit.New(&kit.Options{Turn: func(ctx context.Context, s *kit.Session, p *kit.Prompt) (acpkit.StopReason, error) {
			return acpkit.StopReasonEndTurn, s.Text(ctx, "**"+acpkit.PlainText(p.Blocks...)+"**")
		}}).Serve(context.Background(), stream.Stdio())
	},
	// reply responds to each line with the same line.
	"reply": func([]string) {
		for in := bufio.NewReader(os.Stdin); ; {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return
			}
			_, _ = os.Stdout.Write(line)
		}
	},
}

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "play" {
		plays[os.Args[2]](os.Args[3:])
		return
	}
	if os.Getenv(acpEnv) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}
