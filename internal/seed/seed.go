// Package seed provides the messages in internal/recordings to tests, such as seeds of fuzz tests:
// recorded conversations, and the vectors of the official TypeScript SDK.
package seed

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Line is one line of a recorded conversation. Some lines of clients are invalid on purpose.
type Line struct {
	File string
	Dir  string // "send" is from a client, "recv" from an agent
	Raw  string
}

// Recorded returns the lines of the recorded conversations in a version of the protocol. In some
// conversations of version 2, one end of a router speaks version 1.
func Recorded(tb testing.TB, version int) []Line {
	tb.Helper()
	folder := map[int]string{1: "transcripts", 2: "transcripts-v2"}[version]
	files, err := filepath.Glob(filepath.Join(testdata(tb), folder, "*.jsonl"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("no recorded conversations: %v", err)
	}
	var all []Line
	for _, name := range files {
		all = append(all, read(tb, name)...)
	}
	return all
}

func read(tb testing.TB, name string) []Line {
	tb.Helper()
	file, err := os.Open(name)
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	var all []Line
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		l := Line{File: filepath.Base(name)}
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			tb.Fatalf("%s: %v", name, err)
		}
		if l.Dir == "send" || l.Dir == "recv" { // else it tells of a process
			all = append(all, l)
		}
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	return all
}

// Vectors returns what the official SDK received and sent, one text for each direction of a
// conversation.
func Vectors(tb testing.TB) []string {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(testdata(tb), "wire.json"))
	if err != nil {
		tb.Fatal(err)
	}
	var vectors []struct{ Sent, Received []json.RawMessage }
	if err := json.Unmarshal(data, &vectors); err != nil {
		tb.Fatal(err)
	}
	var all []string
	for _, v := range vectors {
		for _, part := range [][]json.RawMessage{v.Sent, v.Received} {
			script := ""
			for _, raw := range part {
				var line string
				if json.Unmarshal(raw, &line) != nil {
					line = string(raw) // written as a value
				}
				script += line + "\n"
			}
			if script != "" {
				all = append(all, script)
			}
		}
	}
	return all
}

// Short returns the lines and vectors of at most limit bytes. Longer ones only make fuzzing slow.
func Short(tb testing.TB, limit int) [][]byte {
	tb.Helper()
	var all [][]byte
	seen := map[string]bool{}
	add := func(text string) {
		if len(text) <= limit && !seen[text] {
			seen[text] = true
			all = append(all, []byte(text))
		}
	}
	for version := 1; version <= 2; version++ {
		for _, l := range Recorded(tb, version) {
			add(l.Raw)
		}
	}
	for _, script := range Vectors(tb) {
		add(script)
	}
	return all
}

// Errors returns the error objects of all recorded responses.
func Errors(tb testing.TB) [][]byte {
	tb.Helper()
	var all [][]byte
	for _, line := range Short(tb, 64<<10) {
		var m struct{ Error json.RawMessage }
		if json.Unmarshal(line, &m) == nil && len(m.Error) > 0 {
			all = append(all, m.Error)
		}
	}
	return all
}

// testdata finds the folder from any folder of the repository.
func testdata(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for {
		recordings := filepath.Join(dir, "internal", "recordings")
		if _, err := os.Stat(recordings); err == nil {
			return recordings
		}
		up := filepath.Dir(dir)
		if up == dir {
			tb.Fatal("not in the repository")
		}
		dir = up
	}
}
