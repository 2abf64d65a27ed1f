package recording

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/stream/mask"
)

// The key is put together here, so that no scanner takes this file for a leak.
var someKey = "sk-" + "ant-api03-AbCdEfGhIjKlMnOpQrStUvWx1234"

// disk is a file that can be full or slow.
type disk struct {
	mu    sync.Mutex // guards the fields below
	text  bytes.Buffer
	room  int           // after which it is full; 0 means never
	stuck chan struct{} // if not nil, Write waits until it is closed
}

func (d *disk) Write(b []byte) (int, error) {
	if d.stuck != nil {
		<-d.stuck
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.room > 0 && d.text.Len()+len(b) > d.room {
		n, _ := d.text.Write(b[:max(d.room-d.text.Len(), 0)])
		return n, syscall.ENOSPC
	}
	return d.text.Write(b)
}

func (d *disk) Close() error { return nil }

// Truncate and Seek are called to write at the end of what is whole.
func (d *disk) Truncate(size int64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.text.Truncate(int(size))
	return nil
}

func (d *disk) Seek(offset int64, _ int) (int64, error) { return offset, nil }

// records closes the recorder and returns what it has written.
func records(t *testing.T, r *Recorder, d *disk) (list []Record) {
	t.Helper()
	r.Close(time.Minute)
	name := filepath.Join(t.TempDir(), "a.jsonl")
	require.NoError(t, os.WriteFile(name, d.text.Bytes(), 0o600))
	reader, err := Open(name)
	require.NoError(t, err)
	defer reader.Close()
	for {
		rec, err := reader.Next()
		if err == io.EOF {
			return list
		}
		require.NoError(t, err)
		assert.Equal(t, uint64(len(list)+1), rec.Seq)
		list = append(list, rec)
	}
}

func start(t *testing.T, d *disk, raw bool, failed func(error)) *Recorder {
	t.Helper()
	stuck := d.stuck
	d.stuck = nil
	r := newRecorder(d, time.Now(), raw, failed)
	require.NoError(t, r.begin(Head{Command: []string{"agent", "--api-key", "x"}}))
	d.stuck = stuck
	go r.write() // ends with Close
	return r
}

// shown is a record without its time and place.
func shown(rec Record) string {
	s := fmt.Sprintf("%s %d %s", rec.Dir, rec.Conn, rec.Kind)
	for _, part := range []string{string(rec.ID), rec.Method, rec.Session, string(rec.Raw), rec.Line} {
		if part != "" {
			s += " " + part
		}
	}
	if rec.Masked {
		s += " masked"
	}
	if rec.Size > 0 {
		s += fmt.Sprintf(" of %d bytes", rec.Size)
	}
	return s
}

func TestRecords(t *testing.T) {
	d := new(disk)
	r := start(t, d, false, nil)
	client, agent := r.Connect()
	client.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s"}}` + "\r\n\n" + ` {"jsonrpc":"2.0","method":"session/ca`))
	agent.Write([]byte("Loading\xff model " + someKey + "\n"))
	client.Write([]byte(`ncel","params":{"sessionId":"s","_meta":{"token":"x"}}}` + "\n"))
	agent.Message([]byte("{\"jsonrpc\":\"2.0\",\n\"id\":\"a\\n\",\"error\":{\"code\":1,\"message\":\"\xff\"}}"))
	agent.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{"sessionId":"t"}}` + "\n" + `[1]` + "\n" + `{"password":"abc","env":{"a":"tor`))
	agent.End("exit status 1")
	client.Write([]byte(`{"jsonrpc":"2.0","id":null,"method":"last"}`))
	client.End("")
	other, _ := r.Connect()
	other.End("")
	var got []string
	for _, rec := range records(t, r, d) {
		got = append(got, shown(rec))
	}
	assert.Equal(t, []string{
		`client 1 request 1 session/prompt s {"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s"}}`,
		"agent 1 invalid Loading\ufffd model [masked] masked",
		`client 1 notification session/cancel s {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s","_meta":{"token":"[masked]"}}} masked`,
		"agent 1 response \"a\\n\" {\"jsonrpc\":\"2.0\", \"id\":\"a\\n\",\"error\":{\"code\":1,\"message\":\"\xff\"}}",
		`agent 1 response 1 t {"jsonrpc":"2.0","id":1,"result":{"sessionId":"t"}}`,
		`agent 1 invalid [1]`,
		`agent 1 invalid {"password":"[masked]","env":{"a":"[masked] masked`,
		`agent 1 end exit status 1`,
		`client 1 request null last {"jsonrpc":"2.0","id":null,"method":"last"}`,
		`client 1 end`,
		`client 2 end`,
	}, got)
	assert.Contains(t, d.text.String(), `"command":["agent","--api-key","[masked]"]`)
}

func TestRaw(t *testing.T) {
	d := new(disk)
	r := start(t, d, true, nil)
	client, _ := r.Connect()
	client.Write([]byte(`{"jsonrpc":"2.0","method":"a","params":{"password":"x"}}` + "\n" + someKey + "\n"))
	list := records(t, r, d)
	require.Len(t, list, 2)
	assert.Equal(t, `{"jsonrpc":"2.0","method":"a","params":{"password":"x"}}`, string(list[0].Raw))
	assert.Equal(t, someKey, list[1].Line)
	assert.False(t, list[0].Masked || list[1].Masked)
	assert.Contains(t, d.text.String(), `"--api-key","x"`)
}

// A message that is longer than any that is read has a record with its length.
func TestTooLongMessages(t *testing.T) {
	d := new(disk)
	r := start(t, d, false, nil)
	client, _ := r.Connect()
	begin := `{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"s\u0031","prompt":"`
	piece := bytes.Repeat([]byte("x "), 1<<19)
	client.Write([]byte(begin))
	for range 40 {
		client.Write(piece)
	}
	client.Write([]byte("\"}}\n{\"jsonrpc\":\"2.0\",\"method\":\"next\"}\n"))
	list := records(t, r, d)
	require.Len(t, list, 2)
	assert.Equal(t, fmt.Sprintf("client 1 request 7 session/prompt s1 of %d bytes", len(begin)+40<<20+3), shown(list[0]))
	assert.Equal(t, "next", list[1].Method)
	assert.Less(t, d.text.Len(), 2000)
}

// While the disk is stuck, bodies are left out first, and then whole messages, and all that passes
// is counted. Nobody waits.
func TestSlowDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{stuck: make(chan struct{})}
		r := start(t, d, false, nil)
		r.queue.mu.Lock()
		r.queue.limit = 8 << 20
		r.queue.mu.Unlock()
		client, agent := r.Connect()
		long := `{"jsonrpc":"2.0","id":%d,"method":"a","params":"` + strings.Repeat("x ", 1500) + `"}` + "\n"
		sent := int64(0)
		for i := range 20_000 { // 60 MB
			msg := fmt.Appendf(nil, long, i)
			sent += int64(len(msg)) - 1
			for ; len(msg) > 1000; msg = msg[1000:] {
				client.Write(msg[:1000])
			}
			client.Write(msg)
		}
		agent.Write([]byte(`{"jsonrpc":"2.0","method":"dropped"}` + "\n" + `{"jsonrpc":"2.0","method":"to`))
		synctest.Wait()
		r.queue.mu.Lock()
		assert.LessOrEqual(t, r.queue.size, r.queue.limit+batchSize)
		r.queue.mu.Unlock()
		close(d.stuck)
		time.Sleep(time.Minute)
		agent.Write([]byte("rn\"}\n" + `{"jsonrpc":"2.0","method":"again"}` + "\n"))
		client.Write([]byte(`{"jsonrpc":"2.0","method":"again"}` + "\n"))
		whole, cut, dropped, bytes := 0, 0, int64(0), int64(0)
		var rest []string
		for _, rec := range records(t, r, d) {
			switch {
			case rec.Kind == Gap && rec.Dir == Client:
				dropped += rec.Dropped
				bytes += rec.Bytes
			case rec.Kind == Request && rec.Size > 0:
				cut++
				bytes += rec.Size
				assert.Equal(t, "a", rec.Method)
				require.Equal(t, fmt.Sprint(whole+cut-1), string(rec.ID))
			case rec.Kind == Request:
				whole++
				bytes += int64(len(rec.Raw))
				require.Equal(t, 0, cut)
			default:
				rest = append(rest, shown(rec)+fmt.Sprint(" ", rec.Dropped))
			}
		}
		assert.Greater(t, whole, 1500)
		assert.Greater(t, cut, 2000)
		assert.Equal(t, int64(20_000), int64(whole+cut)+dropped)
		assert.Equal(t, sent, bytes)
		assert.Contains(t, rest, "agent 1 gap 1")
		assert.Contains(t, rest, `agent 1 notification again {"jsonrpc":"2.0","method":"again"} 0`)
		assert.Contains(t, rest, `client 1 notification again {"jsonrpc":"2.0","method":"again"} 0`)
	})
}

// A full disk ends the recording, says so once, and lets all that passes pass.
func TestFullDisk(t *testing.T) {
	d := &disk{room: 100_000}
	failed := make(chan error, 2)
	r := start(t, d, false, func(err error) { failed <- err })
	client, agent := r.Connect()
	line := []byte(`{"jsonrpc":"2.0","method":"a"}` + "\n")
	for range 10_000 {
		client.Write(line)
	}
	assert.ErrorIs(t, <-failed, syscall.ENOSPC)
	for range 10_000 {
		agent.Write(line)
	}
	agent.End("")
	list := records(t, r, d)
	assert.Greater(t, len(list), 300)
	assert.Equal(t, " 1 cut no space left on device", shown(list[len(list)-1]))
	assert.Empty(t, failed)
	assert.LessOrEqual(t, r.queue.size, 0)
	loss := r.Close(time.Minute)
	assert.Equal(t, int64(20_000), loss.Messages+int64(len(list)-1), "it knows what is missing")
}

// A disk that does not write cannot keep the program from ending.
func TestCloseDoesNotWaitForTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{stuck: make(chan struct{})}
		r := start(t, d, false, nil)
		client, _ := r.Connect()
		client.Write([]byte("x\n"))
		loss := Loss{Messages: 1, Bytes: 2}
		assert.Equal(t, loss, r.Close(10*time.Second))
		close(d.stuck)
		synctest.Wait()
		assert.Zero(t, r.Close(time.Second), "it was written at last")
	})
}

// What waits for the disk when the recording is closed is written as long as the disk writes, and else
// counted, in the recording too.
func TestCloseCountsWhatIsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{stuck: make(chan struct{})}
		r := start(t, d, false, nil)
		client, _ := r.Connect()
		for i := range 2000 {
			client.Write(fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"a%d"}`+"\n", i))
		}
		go func() { // ends with the test
			time.Sleep(5500 * time.Millisecond) // the messages that were not taken yet are given up after 5
			close(d.stuck)
		}()
		loss := r.Close(5 * time.Second)
		list := records(t, r, d)
		last := list[len(list)-1]
		assert.Equal(t, " 1 cut the disk was too slow", shown(last))
		assert.Equal(t, loss, Loss{Messages: last.Dropped, Bytes: last.Bytes})
		assert.Equal(t, int64(2000), loss.Messages+int64(len(list)-1))
		assert.Greater(t, loss.Messages, int64(1000))
	})
}

// A message that a peer was given is in the file: a program that is killed has lost none.
func TestNothingIsPassedOnBeforeItIsInTheFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := new(disk)
		r := start(t, d, false, nil)
		client, agent := r.Connect()
		began := time.Now()
		for i := range 500 {
			message := fmt.Sprintf(`{"jsonrpc":"2.0","method":"a%d"}`, i)
			client.Write([]byte(message + "\n"))
			agent.Message([]byte(message))
			d.mu.Lock()
			inFile := strings.Count(d.text.String(), message)
			d.mu.Unlock()
			require.Equal(t, 2, inFile)
			time.Sleep(time.Millisecond)
		}
		assert.Equal(t, 500*time.Millisecond, time.Since(began), "nobody else waits for a clock")
		r.Close(time.Minute)
	})
}

// A disk that is stuck has the peers wait once.
func TestStuckDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{stuck: make(chan struct{})}
		r := start(t, d, false, nil)
		client, agent := r.Connect()
		began := time.Now()
		for range 500 {
			client.Write([]byte("x\n"))
			agent.Write([]byte("x\n"))
		}
		assert.Equal(t, patience, time.Since(began))
		close(d.stuck)
		assert.Zero(t, r.Close(time.Minute))
	})
}

// Standard error, signals and the end of the process are records of their own kinds.
func TestProcessRecords(t *testing.T) {
	d := new(disk)
	r := start(t, d, false, nil)
	client, agent := r.Connect()
	stderr := agent.Stderr()
	agent.Write([]byte(`{"jsonrpc":"2.0","me`))
	stderr.Write([]byte("  at main.go:12\r\n\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}\nkey " + someKey + "\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n"))
	client.Note(Signal, "terminated")
	stderr.Write([]byte("MIIF\n-----END RSA PRIVATE KEY-----\npanic: no"))
	stderr.Write([]byte("thing"))
	stderr.End("")
	agent.Write([]byte("thod\":\"b\"}\n"))
	agent.End("")
	agent.Note(Exit, "exit status 2")
	var got []string
	for _, rec := range records(t, r, d) {
		got = append(got, shown(rec))
	}
	assert.Equal(t, []string{
		"agent 1 stderr   at main.go:12",
		`agent 1 stderr {"jsonrpc":"2.0","id":1,"method":"a"}`,
		"agent 1 stderr key [masked] masked",
		"agent 1 stderr [masked] masked",
		"agent 1 stderr [masked] masked",
		"client 1 signal terminated",
		"agent 1 stderr [masked] masked",
		"agent 1 stderr [masked] masked",
		"agent 1 stderr panic: nothing",
		`agent 1 notification b {"jsonrpc":"2.0","method":"b"}`,
		"agent 1 end",
		"agent 1 exit exit status 2",
	}, got)
}

// Recordings that grow too long end, and old ones make room while they grow.
func TestLongRecording(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "2000.jsonl")
	require.NoError(t, os.WriteFile(old, nil, 0o600))
	require.NoError(t, os.Truncate(old, maxBytes-1)) // sparse
	failed := make(chan error, 1)
	r, err := Create(dir, Head{}, false, func(err error) { failed <- err })
	require.NoError(t, err)
	assert.NoFileExists(t, r.Path+"x")
	assert.FileExists(t, r.Path)
	client, _ := r.Connect()
	r.queue.mu.Lock()
	r.written = pruneEvery // as if so much was written
	r.queue.mu.Unlock()
	require.NoError(t, os.WriteFile(old, nil, 0o600))
	require.NoError(t, os.Truncate(old, maxBytes))
	client.Write([]byte("x\n"))
	require.Eventually(t, func() bool { _, err := os.Stat(old); return errors.Is(err, os.ErrNotExist) }, time.Minute, time.Millisecond)
	r.queue.mu.Lock()
	r.written = maxBytes
	r.queue.mu.Unlock()
	client.Write([]byte("x\n"))
	assert.Equal(t, errFull, <-failed)
}

func TestMaskedCommand(t *testing.T) {
	got, changed := texts(new(mask.Masker), []string{"gemini", "--acp", "--api-key", "abc", "--token=x", "wss://me:pw@host"})
	assert.Equal(t, []string{"gemini", "--acp", "--api-key", "[masked]", "--token=[masked]", "wss://[masked]@host"}, got)
	assert.True(t, changed)
}
