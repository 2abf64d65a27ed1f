//go:build unix

package interop_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/files"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/terminals"
)

// content is the text of a response to a read; ok is false for an error.
func content(t *testing.T, raw json.RawMessage) (text string, ok bool) {
	t.Helper()
	if !strings.HasPrefix(string(raw), `{"content"`) {
		return "", false
	}
	var res acp.ReadTextFileResponse
	require.NoError(t, json.Unmarshal(raw, &res))
	return res.Content, true
}

// all returns the responses to a request that was sent several times.
func (a responses) all(t *testing.T, label string) (all []json.RawMessage) {
	t.Helper()
	require.NoError(t, json.Unmarshal(a["answer:"+label], &all), a.get(label))
	return all
}

// without runs f again and again until the test calls the result, or ends.
func without(t *testing.T, f func()) (stop func()) {
	var over atomic.Bool
	var loop sync.WaitGroup
	loop.Go(func() { // ends with over
		for !over.Load() {
			f()
		}
	})
	stop = func() { over.Store(true); loop.Wait() }
	t.Cleanup(stop)
	return stop
}

// The last element, its folder, and a link to the folder are exchanged without end between
// what is inside and what is outside, while an agent on the TypeScript SDK reads and writes
// and runs commands there. Nothing outside is read, written or run in.
func TestHostKitRaces(t *testing.T) {
	t.Parallel()
	for name, inPlace := range map[string]bool{"replaced": false, "in place": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newHostKit(t, host.Options{Ask: yes, Files: &files.Options{InPlace: inPlace}, Terminals: &terminals.Options{}})
			vault := filepath.Join(k.base, "vault")
			k.put(filepath.Join(vault, "file"), "secret")
			exchange := func(name, target string, inside func(path string)) (stop func()) {
				path := k.at(name)
				inside(path)
				return without(t, func() {
					os.RemoveAll(path)
					os.Symlink(target, path)
					os.Remove(path)
					inside(path)
				})
			}
			file := func(path string) { os.WriteFile(path, []byte("mine"), 0o644) }
			folder := func(path string) { os.Mkdir(path, 0o755); file(path + "/file") }
			stops := []func(){
				exchange("last", filepath.Join(vault, "file"), file), exchange("dir", vault, folder), exchange("chain", k.at("dir"), folder),
			}
			inside, refused, ran := 0, 0, 0
			for i := 0; i < 10 || (inside == 0 || refused == 0 || ran == 0) && i < 500; i++ {
				var steps []step
				paths := []string{k.at("last"), k.at("dir/file"), k.at("chain/file")}
				for _, path := range paths {
					steps = append(steps, readStep("read "+path, path).many(20), writeStep("write "+path, path, "overwritten").many(10))
				}
				steps = append(steps, writeStep("new", k.at("dir/new/file"), "overwritten").many(10))
				for _, dir := range []string{"dir", "chain"} {
					steps = append(steps, sh(dir, "cat file", map[string]any{"cwd": k.at(dir)}), on(dir, "wait"), on(dir, "output"), on(dir, "release"))
				}
				got := k.run(steps...)
				for _, path := range paths {
					for _, raw := range got.all(t, "read "+path) {
						text, ok := content(t, raw)
						if !ok {
							refused++
							continue
						}
						inside++
						require.NotContains(t, text, "secret")
					}
				}
				for _, dir := range []string{"dir output", "chain output"} {
					if strings.HasPrefix(got.get(dir), "{") {
						var res acp.TerminalOutputResponse
						got.decode(t, dir, &res)
						require.NotContains(t, res.Output, "secret")
						if res.Output == "mine" || res.Output == "overwritten" {
							ran++
						}
					}
				}
			}
			for _, stop := range stops {
				stop()
			}
			assert.Positive(t, inside)
			assert.Positive(t, refused)
			assert.Positive(t, ran)
			assert.Equal(t, "secret", k.text(filepath.Join(vault, "file")))
			names, err := os.ReadDir(vault)
			require.NoError(t, err)
			assert.Len(t, names, 1, "nothing was created outside")
		})
	}
}

// A file grows while the agent reads it: it gets what there is, and never more than the
// limit.
func TestHostKitGrowingFile(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	k := newHostKit(t, host.Options{Files: &files.Options{MaxRead: limit}})
	log, err := os.Create(k.at("log"))
	require.NoError(t, err)
	defer log.Close()
	line := []byte(strings.Repeat("x", 4095) + "\n")
	grown := 0
	stop := without(t, func() {
		if grown += len(line); grown > 3*limit { // again, so that the limit is passed during some read
			assert.NoError(t, log.Truncate(0))
			_, err := log.Seek(0, 0)
			assert.NoError(t, err)
			grown = len(line)
		}
		_, err := log.Write(line)
		assert.NoError(t, err)
	})
	read, refused := 0, 0
	for i := 0; i < 5 || (read == 0 || refused == 0) && i < 100; i++ {
		for _, raw := range k.run(readStep("read", k.at("log")).many(20)).all(t, "read") {
			text, ok := content(t, raw)
			if !ok {
				assert.Equal(t, "-32602", brief(raw))
				refused++
				continue
			}
			read++
			require.LessOrEqual(t, len(text), limit)
			require.Empty(t, strings.Trim(text, "x\n"))
		}
	}
	stop()
	assert.Positive(t, read)
	assert.Positive(t, refused)
}

// Many write one file at once: whoever reads it sees one of the texts as a whole.
func TestHostKitWritesAreWhole(t *testing.T) {
	t.Parallel()
	k := newHostKit(t, host.Options{Ask: yes})
	whole := func(text string) bool {
		return len(text) == 64<<10 && strings.Count(text, text[:1]) == len(text)
	}
	k.put(k.at("a"), strings.Repeat("0", 64<<10))
	stop := without(t, func() { assert.True(t, whole(k.text(k.at("a"))), "another program reads") })
	var steps []step
	for i := range 8 {
		letter := string(rune('a' + i))
		steps = append(steps, writeStep(letter, k.at("a"), strings.Repeat(letter, 64<<10)).many(10).started(), readStep("read "+letter, k.at("a")).many(10).started())
	}
	for i := range 8 {
		letter := string(rune('a' + i))
		steps = append(steps, wait(letter), wait("read "+letter))
	}
	got := k.run(steps...)
	stop()
	for i := range 8 {
		letter := string(rune('a' + i))
		for _, answer := range got.each(letter) {
			assert.Equal(t, "{}", answer)
		}
		for _, raw := range got.all(t, "read "+letter) {
			text, ok := content(t, raw)
			assert.True(t, !ok && brief(raw) == "-32602" || whole(text), "%.80s", raw)
		}
	}
	assert.True(t, whole(k.text(k.at("a"))))
	names, err := os.ReadDir(k.work)
	require.NoError(t, err)
	assert.Len(t, names, 1, "no temporary file is left")
}

// In place a file keeps its inode, and one with several names is refused.
func TestHostKitInPlace(t *testing.T) {
	t.Parallel()
	k := newHostKit(t, host.Options{Ask: yes, Files: &files.Options{InPlace: true}})
	secret := filepath.Join(k.base, "secret.txt")
	k.put(secret, "secret")
	k.put(k.at("a"), "a longer text")
	require.NoError(t, os.Link(secret, k.at("hard")))
	k.link(filepath.Join(k.base, "nothing"), k.at("dangling out"))
	before, err := os.Stat(k.at("a"))
	require.NoError(t, err)
	got := k.run(writeStep("a", k.at("a"), "new"), writeStep("new", k.at("sub/new"), "new"), writeStep("hard", k.at("hard"), "new"), writeStep("dangling", k.at("dangling out"), "new"))
	for label, want := range map[string]string{"a": "{}", "new": "{}", "hard": "-32602", "dangling": "-32602"} {
		assert.Equal(t, want, got.get(label), label)
	}
	after, err := os.Stat(k.at("a"))
	require.NoError(t, err)
	assert.True(t, os.SameFile(before, after))
	assert.Equal(t, "new", k.text(k.at("a")))
	assert.Equal(t, "new", k.text(k.at("sub/new")))
	assert.Equal(t, "secret", k.text(secret))
	assert.NoFileExists(t, filepath.Join(k.base, "nothing"))
}
