package sessions_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/internal/system/randturns"
	"github.com/acpkit/go-sdk/stream"
)

// Whichever record is the last one before a crash, the session can be loaded, has a beginning of
// its history, and accepts prompts.
func TestCrashAtEveryRecord(t *testing.T) {
	for seed := range *seeds / 250 {
		sc := randturns.New(100+seed, randturns.Options{Turns: 4, Simple: true})
		from := t.TempDir()
		id := ""
		with := func(t *testing.T, dir string, f func(c *randturns.Client)) {
			o := sc.Kit(nil)
			o.Store, o.Logger = files(t, dir), slog.New(slog.DiscardHandler)
			a := kit.New(o)
			ours, theirs := stream.Pipe()
			go a.Serve(context.Background(), theirs) // ends with the connection
			c := randturns.NewClient(t, 1, ours, nil)
			f(c)
			assert.NoError(t, a.Close(t.Context()))
			c.Close()
		}
		with(t, from, func(c *randturns.Client) {
			id = c.Open()
			for _, turn := range sc.Turns[:3] {
				_ = c.Play(id, turn) // the script contains turns that fail
			}
		})
		files, err := filepath.Glob(filepath.Join(from, "*", "log.jsonl"))
		require.NoError(t, err)
		require.Len(t, files, 1)
		log, err := os.ReadFile(files[0])
		require.NoError(t, err)
		meta, err := os.ReadFile(filepath.Join(filepath.Dir(files[0]), "meta.json"))
		require.NoError(t, err)
		var stored map[string]any
		require.NoError(t, json.Unmarshal(meta, &stored))
		stored["synced"] = 0
		unsynced, err := json.Marshal(stored)
		require.NoError(t, err)
		lines := bytes.SplitAfter(log, []byte("\n"))
		for n := 1; n < len(lines); n++ {
			to := t.TempDir()
			folder := filepath.Join(to, filepath.Base(filepath.Dir(files[0])))
			require.NoError(t, os.Mkdir(folder, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(folder, "log.jsonl"), bytes.Join(lines[:n], nil), 0o600))
			text := unsynced
			if n > 1 && n%3 == 0 {
				text = meta // the disk has lost records that were synced
			}
			require.NoError(t, os.WriteFile(filepath.Join(folder, "meta.json"), text, 0o600))
			with(t, to, func(c *randturns.Client) {
				require.NoError(t, c.Load(id), "%d records", n-1)
				require.NoError(t, randturns.Prefix(c.Seen(id).Lines, sc.Turns[2].After.Lines), "%d records", n-1)
				_ = c.Play(id, sc.Turns[3])
				live := c.All(id)
				require.NoError(t, c.Load(id))
				assert.Equal(t, live, c.All(id), "%d records", n-1)
			})
		}
	}
}
