package faults_test

import (
	"log/slog"
	"os"
	"testing"
)

// TestMain keeps what the tests provoke out of their output.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}
