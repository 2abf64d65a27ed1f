package interop_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"

	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/router"
	agent2 "github.com/acpkit/go-sdk/agent/v2"
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
	case "agent", "agent2", "router":
		os.Exit(play(role))
	default:
		fmt.Fprintf(os.Stderr, "%s=%s is not a role\n", roleVar, role)
		os.Exit(2)
	}
}

// play is an agent of peers/README.md over stdio: that of one version, or both behind the
// router. Whatever it logs is a warning at least; the tests look for that on stderr.
func play(role string) int {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if err := serve(context.Background(), role, stream.Stdio(), log); err != nil {
		log.Error("agent ended", "err", err)
		return 1
	}
	return 0
}

func serve(ctx context.Context, role string, s stream.Stream, log *slog.Logger) error {
	first, second := &agent.Options{Unstable: true, Logger: log}, &agent2.Options{Unstable: true, Logger: log}
	switch role {
	case "agent":
		return agent.Serve(ctx, s, newGoAgent, first)
	case "agent2":
		return agent2.Serve(ctx, s, newGoAgent2, second)
	}
	return router.Serve(ctx, s, &router.Agents{V1: newGoAgent, V2: newGoAgent2}, &router.Options{V1: first, V2: second})
}
