package interop_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"

	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/stream"
)

// roleVar makes the test binary an agent instead of running tests, so that
// clients in other languages have an agent of ours to start.
const roleVar = "ACPKIT_INTEROP_ROLE"

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleVar); role {
	case "":
		code := m.Run()
		for _, dir := range buildDirs() {
			_ = os.RemoveAll(dir) // what was built for the tests
		}
		os.Exit(code)
	case "agent":
		os.Exit(playAgent())
	default:
		fmt.Fprintf(os.Stderr, "%s=%s is not a role\n", roleVar, role)
		os.Exit(2)
	}
}

// playAgent is the agent of peers/README.md over stdio. Whatever it logs is a
// warning at least; the tests look for that on stderr.
func playAgent() int {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	err := agent.Serve(context.Background(), stream.Stdio(), newGoAgent, &agent.Options{Unstable: true, Logger: log})
	if err != nil {
		log.Error("agent ended", "err", err)
		return 1
	}
	return 0
}
