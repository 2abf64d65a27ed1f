package work

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// dialChild starts an agent of the contender that listens, and connects to it.
func dialChild(c Contender, mode string, env *Env) (Client, error) {
	if c.Dial == nil {
		return nil, errors.New("the contender has no network")
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(exe, "-mode", "listen")
	if p := os.Getenv("ACPKIT_BENCH_AGENT_PROFILE"); p != "" {
		cmd.Args = append(cmd.Args, "-cpuprofile", p)
	}
	cmd.Stderr = os.Stderr
	child, err := Start(cmd)
	if err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(child).ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reading the URL: %w", err), child.Close())
	}
	url := strings.TrimSpace(line)
	if mode == "ws" {
		url = "ws" + strings.TrimPrefix(url, "http")
	}
	client, err := c.Dial(url, env)
	if err != nil {
		return nil, errors.Join(err, child.Close())
	}
	return &listened{client, child}, nil
}

// listened is a client whose agent is a process of its own that it did not start.
type listened struct {
	Client
	child *Child
}

func (l *listened) Close() error { return errors.Join(l.Client.Close(), l.child.Close()) }
