package terminals_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// plays are the programs that the test binary plays when its first argument is play and
// its second the name of one.
var plays = map[string]func(args []string) error{
	"exit": func(args []string) error { return exit(args[0]) },
	// say prints a line and ends with a code.
	"say": func(args []string) error {
		fmt.Println(args[0])
		return exit(args[1])
	},
	"arguments":   func(args []string) error { return json.NewEncoder(os.Stdout).Encode(args) },
	"environment": func([]string) error { return json.NewEncoder(os.Stdout).Encode(os.Environ()) },
	"folder": func([]string) error {
		dir, err := os.Getwd()
		fmt.Println(dir)
		return err
	},
	"wait": func([]string) error { return wait() },
	// ready waits as well, and makes a file first.
	"ready": func(args []string) error {
		fmt.Println(os.Getpid())
		if err := os.WriteFile(args[0], nil, 0o600); err != nil {
			return err
		}
		waitForSignal()
		return nil
	},
	// leave ends with a code, while what it has started waits and holds the output.
	"leave": func(args []string) error {
		if err := startReady(args[0]); err != nil {
			return err
		}
		return exit(args[1])
	},
	// stay waits, and so does what it has started.
	"stay": func(args []string) error {
		if err := startReady(args[0]); err != nil {
			return err
		}
		return wait()
	},
}

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "play" {
		if err := plays[os.Args[2]](os.Args[3:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func exit(code string) error {
	n, err := strconv.Atoi(code)
	if err != nil {
		return err
	}
	os.Exit(n)
	return nil
}

func wait() error {
	fmt.Println(os.Getpid())
	waitForSignal()
	return nil
}

// waitForSignal lives until a signal ends the process.
func waitForSignal() {
	over := make(chan os.Signal, 1)
	signal.Notify(over, syscall.SIGALRM) // no process sends SIGALRM
	<-over
}

// startReady starts ready and returns when the file is there. It polls: what the process
// prints goes to the test.
func startReady(file string) error {
	cmd := exec.Command(os.Args[0], "play", "ready", file)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	for {
		if _, err := os.Stat(file); err == nil {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
}
