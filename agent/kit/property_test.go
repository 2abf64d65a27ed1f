package kit_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/journal"
	"github.com/acpkit/go-sdk/internal/randturns"
)

var seeds = flag.Uint64("seeds", 30, "how many random conversations TestLoadEqualsLive plays")

// inMemory and onDisk return a function that returns the same store at each call.
func inMemory() func(*testing.T) journal.Store {
	store := new(journal.Memory)
	return func(*testing.T) journal.Store { return store }
}

func onDisk(dir string) func(*testing.T) journal.Store {
	return func(t *testing.T) journal.Store {
		store, err := journal.OpenFiles(dir, nil)
		require.NoError(t, err)
		return store
	}
}

// After session/load a client shows the same as before, which is what the agent did.
func TestLoadEqualsLive(t *testing.T) {
	for version := 1; version <= 2; version++ {
		for seed := range *seeds {
			t.Run(fmt.Sprintf("version %d, seed %d", version, seed), func(t *testing.T) {
				if seed%5 == 0 {
					randturns.Check(t, seed, version, onDisk(t.TempDir()))
				} else {
					randturns.Check(t, seed, version, inMemory())
				}
			})
		}
	}
}

func FuzzLoadEqualsLive(f *testing.F) {
	f.Add(uint64(1), true)
	f.Fuzz(func(t *testing.T, seed uint64, second bool) {
		version := 1
		if second {
			version = 2
		}
		randturns.Check(t, seed, version, inMemory())
	})
}
