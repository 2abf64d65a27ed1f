package terminals_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// plays are programs that the test binary runs if its first argument is play and its second the
// name of one.
var plays = map[string]func(args []string) error{
	"exit": func(args []string) error { return exit(args[0]) },
	// say prints a line and exits with a status.
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
	// ready creates a file and then waits.
	"ready": func(args []string) error {
		fmt.Println(os.Getpid())
		if err := os.WriteFile(args[0], nil, 0o600); err != nil {
			return err
		}
		waitForSignal()
		return nil
	},
	// leave exits with a status, and leaves a process that waits and holds the output.
	"leave": func(args []string) error {
		if err := startReady(args[0]); err != nil {
			return err
		}
		return exit(args[1])
	},
	// stay starts a process that waits, and waits too.
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
	_ = flag.Set("test.parallel", "16") // the tests wait for processes that end late, not for processors
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

// waitForSignal blocks until a signal ends the process.
func waitForSignal() {
	over := make(chan os.Signal, 1)
	signal.Notify(over, syscall.SIGALRM) // no process sends SIGALRM
	<-over
}

// startReady starts ready and returns when the file exists. It polls, because the output of the
// process goes to the test.
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
		time.Sleep(10 * time.Millisecond) // a child process that waits for another one
	}
}
