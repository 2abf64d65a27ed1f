package recording

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/filelock"
)

const (
	someHead = `{"acp":"recording","format":1,"version":"v1","command":["agent","-x"],"started":"2026-01-02T03:04:05.000000006Z"}` + "\n"
	one      = `{"seq":1,"time":"2026-01-02T03:04:06Z","dir":"client","conn":1,"kind":"request","id":0,"method":"initialize","raw":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}}` + "\n"
	two      = `{"seq":2,"time":"2026-01-02T03:04:07Z","dir":"agent","conn":1,"session":"s","kind":"invalid","line":"hello","masked":true}` + "\n"
)

func write(t *testing.T, text string) (name string) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "a.jsonl")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

func TestRead(t *testing.T) {
	r, err := Open(write(t, someHead+one+two))
	require.NoError(t, err)
	defer r.Close()
	assert.Equal(t, Head{"recording", 1, "v1", []string{"agent", "-x"}, time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)}, r.Head)
	first, err := r.Next()
	require.NoError(t, err)
	assert.Equal(t, Record{
		Seq: 1, Time: time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC), Dir: Client, Conn: 1, Kind: Request, ID: json.RawMessage(`0`), Method: "initialize",
		Raw: json.RawMessage(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`), Offset: int64(len(someHead)), Length: len(one),
	}, first)
	second, err := r.Next()
	require.NoError(t, err)
	assert.Equal(t, Record{
		Seq: 2, Time: time.Date(2026, 1, 2, 3, 4, 7, 0, time.UTC), Dir: Agent, Conn: 1, Session: "s", Kind: Invalid, Line: "hello", Masked: true,
		Offset: int64(len(someHead + one)), Length: len(two),
	}, second)
	_, err = r.Next()
	assert.Equal(t, io.EOF, err)
}

func TestFilesThatAreNoRecordings(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "text": "hello\n", "JSON": "{}\n", "torn head": someHead[:len(someHead)-5], "a message": `{"jsonrpc":"2.0"}`,
		"format 0": `{"acp":"recording","format":0}` + "\n", "wrong types": `{"acp":"recording","format":"1"}` + "\n",
	} {
		_, err := Open(write(t, text))
		assert.ErrorIs(t, err, ErrNotRecording, name)
	}
	_, err := Open(write(t, `{"acp":"recording","format":2,"version":"v9","later":[]}`+"\n"))
	assert.ErrorContains(t, err, "the recording has format 2 of acp v9, and this acp reads format 1: install a newer acp")
	_, err = Open(filepath.Join(t.TempDir(), "x"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// A writer that was killed leaves a torn line at the end. It is no fault of the recording.
func TestTornLastLine(t *testing.T) {
	for cut := 0; cut < len(two); cut += 7 {
		r, err := Open(write(t, someHead+one+two[:cut]))
		require.NoError(t, err)
		_, err = r.Next()
		require.NoError(t, err)
		_, err = r.Next()
		assert.Equal(t, io.EOF, err, cut)
		require.NoError(t, r.Close())
	}
}

func TestDamagedLine(t *testing.T) {
	r, err := Open(write(t, someHead+"{]\n"+"{}\n"+one))
	require.NoError(t, err)
	defer r.Close()
	for line := range int64(2) {
		_, err = r.Next()
		assert.ErrorIs(t, err, ErrDamaged)
		assert.ErrorContains(t, err, fmt.Sprintf("line %d of the recording is damaged: ", line+2))
	}
	rec, err := r.Next()
	require.NoError(t, err)
	assert.Equal(t, uint64(1), rec.Seq)
}

func TestLongLine(t *testing.T) {
	text := `{"seq":1,"time":"2026-01-02T03:04:06Z","dir":"client","conn":1,"kind":"invalid","line":"` + strings.Repeat("x", 10<<20) + "\"}\n"
	r, err := Open(write(t, someHead+text+one))
	require.NoError(t, err)
	defer r.Close()
	rec, err := r.Next()
	require.NoError(t, err)
	assert.Len(t, rec.Line, 10<<20)
	rec, err = r.Next()
	require.NoError(t, err)
	assert.Equal(t, int64(len(someHead)+len(text)), rec.Offset)
}

// The longest line that a peer can send is recorded as a line that can be read again, whatever is in it.
func TestLongestLine(t *testing.T) {
	const n = 1 << 16
	for name, unit := range map[string]string{"zeros": "\x00", "no UTF-8": "\xff", "quotes": `"`, "text": "x", "masked": `"",`} {
		line := strings.Repeat(unit, n/len(unit))
		if name == "masked" {
			line = `{"jsonrpc":"2.0","method":"m","params":{"env":[` + line + `""]}}`
		}
		d := &disk{}
		rec := start(t, d, false, nil)
		client, _ := rec.Connect()
		client.Write([]byte(line + "\n"))
		require.Len(t, records(t, rec, d), 1)
		longest := slices.MaxFunc(strings.Split(d.text.String(), "\n"), func(a, b string) int { return len(a) - len(b) })
		assert.LessOrEqual(t, len(longest), n*(maxLine/maxMessage), name)
	}
}

// Follow waits for what is written while the writer lives, also for the rest of a line.
func TestFollow(t *testing.T) {
	name := write(t, someHead+one)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	require.NoError(t, filelock.Lock(f))
	synctest.Test(t, func(t *testing.T) {
		r, err := Open(name)
		require.NoError(t, err)
		defer r.Close()
		_, err = r.Follow(t.Context())
		require.NoError(t, err)
		go func() { // ends with the recording
			for _, part := range []string{two[:20], two[20:]} {
				time.Sleep(time.Minute)
				_, _ = f.WriteString(part)
			}
			time.Sleep(time.Minute)
			_ = f.Close()
		}()
		ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
		defer cancel()
		_, err = r.Follow(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		rec, err := r.Follow(t.Context())
		require.NoError(t, err)
		assert.Equal(t, uint64(2), rec.Seq)
		_, err = r.Follow(t.Context())
		assert.Equal(t, io.EOF, err)
	})
}
