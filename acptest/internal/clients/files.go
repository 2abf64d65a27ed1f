package clients

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

const (
	readFile  = "fs/read_text_file"
	writeFile = "fs/write_text_file"
	canRead   = "fs.readTextFile"
	canWrite  = "fs.writeTextFile"
)

// read asks for the text of a file, which must be served, with further members of the params.
func (s *session) read(path string, members ...any) string {
	m := s.served(readFile, s.with(append([]any{"path", path}, members...)...))
	return m.Text("content")
}

// readLines asks for lines of a file that was read as a whole before.
func (s *session) readLines(path string, members ...any) string {
	m := s.likewise(readFile, s.with(append([]any{"path", path}, members...)...))
	return m.Text("content")
}

// write asks to write a file, which must be served.
func (s *session) write(path, text string) {
	s.served(writeFile, s.with("path", path, "content", text))
}

// refuses fails the check if a request succeeds. The sentence wrong says what is wrong then.
func (s *session) refuses(method string, params any, wrong string) check.Message {
	m := s.Call(method, params)
	s.t.FailAtIf(m.Error == nil, m, "%s", wrong)
	return m
}

// unusual are texts that a program changes which takes them for lines, or for what it writes itself.
var unusual = []string{"one\r\ntwo\r\n", "\ufeffone\n", "a\fb\vc\n", "a\u2028b\u2029c\u0085d\n", "old\rmac\r", "no end", "\n\n", "tab\tand space \n", "del\x7f\n"}

// oddNames are names of files that a program changes which takes them for what a shell or a browser reads.
var oddNames = []string{"a b", "a%20b", "~", "$HOME", "ä世", "-n", "a#b", " x"}

// lines is a text of five lines.
const lines = "one\ntwo\nthree\nfour\nfive\n"

// offer is a method of a capability, with params that change nothing of the user's.
type offer struct {
	capability, method string
	params             map[string]any
}

func (s *session) offers() []offer {
	dir, none := s.folder(), s.with("terminalId", "acptest-unknown")
	return []offer{
		{canRead, readFile, s.with("path", put(s.t, dir, "lines", lines))},
		{canWrite, writeFile, s.with("path", filepath.Join(dir, "new"), "content", "new\n")},
		{canRun, "terminal/output", none},
		{canRun, "terminal/wait_for_exit", none},
		{canRun, "terminal/kill", none},
		{canRun, "terminal/release", none},
		{canRun, "terminal/create", s.with("command", "true")},
		{"elicitation.form", "elicitation/create", s.form("form")},
	}
}

var serving = []check.Check{
	{ID: "AKC-SERVES-001", Title: "The client serves what it advertises.", Tier: check.Must, Fact: "initialization#client-capabilities", In: check.Both,
		Run: check.With(open, func(t *check.T, s *session) {
			for _, o := range s.offers() {
				if !t.Has(o.capability) {
					continue
				}
				m := s.asked(o.method, o.params)
				t.FailAtIf(m.Error != nil && m.Error.Code == -32601, m, "The client advertises %s, and does not know %s.", o.capability, o.method)
			}
		})},
	{ID: "AKC-SERVES-002", Title: "The client serves nothing that it does not advertise.", Tier: check.Must, Fact: "initialization#client-capabilities", In: check.Both, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			for _, o := range s.offers() {
				if t.Has(o.capability) {
					continue
				}
				if m := s.Call(o.method, o.params); m.Error == nil && !slices.Contains([]string{"cancel", "decline"}, m.Text("action")) {
					t.FailAt(m, "The client does not advertise %s, and serves %s.", o.capability, o.method)
				}
			}
		})},
}

var reading = []check.Check{
	{ID: "AKC-READ-001", Title: "The text of a file is read as it is.", Tier: check.Must, Fact: "file-system", In: check.V1, Needs: canRead,
		Run: func(t *check.T) {
			const text = "one\n\ttwö \"\\\n\n世 😀 \u2028<&>\n"
			s := open(t)
			got := s.read(put(t, s.folder(), "file", text))
			t.FailIf(got != text, "The text is %q instead of %q.", got, text)
		}},
	{ID: "AKC-READ-011", Title: "A file is read with the ends of its lines and its byte order mark as they are.", Tier: check.Must, Fact: "file-system", In: check.V1, Needs: canRead,
		Run: check.With(open, func(t *check.T, s *session) {
			for _, text := range unusual {
				got := s.read(put(t, s.folder(), "file", text))
				t.FailIf(got != text, "The text is %q instead of %q.", got, text)
			}
		})},
	{ID: "AKC-READ-017", Title: "A file is read by its path as it is, whatever is in its name.", Tier: check.Must, Fact: "file-system", In: check.V1, Needs: canRead,
		Run: check.With(open, func(t *check.T, s *session) {
			dir := s.folder()
			s.read(put(t, dir, "file", lines))
			for _, name := range oddNames {
				m := s.Call(readFile, s.with("path", put(t, dir, name, name)))
				t.FailAtIf(m.Error != nil || m.Text("content") != name, m, "The file %q was not read.", name)
			}
		})},
	{ID: "AKC-READ-012", Title: "Lines end with a line feed: other characters that end lines elsewhere do not.", Tier: check.Must, Fact: "file-system", In: check.V1, Needs: canRead,
		Run: check.With(open, func(t *check.T, s *session) {
			const text = "a\fb\u2028c\u0085d\ve\r\ntwo\r\nthree\n"
			path := put(t, s.folder(), "file", text)
			s.read(path)
			got := s.readLines(path, "line", 2, "limit", 1)
			t.FailIf(strings.TrimRight(got, "\r\n") != "two", "Line 2 of %q is %q.", text, got)
		})},
	{ID: "AKC-READ-013", Title: "A limit beyond the end of a file, and a line without a limit, give what is there.", Tier: check.Must, Fact: "file-system", In: check.V1, Needs: canRead,
		Run: check.With(open, func(t *check.T, s *session) {
			path := put(t, s.folder(), "file", "one\ntwo")
			s.read(path)
			for _, one := range []struct {
				want    string
				members []any
			}{{"one\ntwo", []any{"limit", 100}}, {"two", []any{"line", 2}}, {"two", []any{"line", 2, "limit", 1}}} {
				got := s.readLines(path, one.members...)
				t.FailIf(strings.TrimSuffix(got, "\n") != one.want, "With %v the text is %q instead of %q.", one.members, got, one.want)
			}
		})},
	{ID: "AKC-READ-015", Title: "Null as line and limit reads the whole file.", Tier: check.Must, Fact: "file-system", In: check.V1, Needs: canRead,
		Run: check.With(open, func(t *check.T, s *session) {
			path := put(t, s.folder(), "file", lines)
			s.read(path)
			m := s.Call(readFile, s.with("path", path, "line", nil, "limit", nil))
			t.FailAtIf(m.Text("content") != lines, m, "With null as line and limit the file was not read, and without them it was.")
		})},
	{ID: "AKC-READ-016", Title: "A limit of 0 reads no line.", Tier: check.Should, Fact: "file-system", In: check.V1, Needs: canRead,
		Run: check.With(open, func(t *check.T, s *session) {
			path := put(t, s.folder(), "file", lines)
			s.read(path)
			m := s.Call(readFile, s.with("path", path, "limit", 0))
			t.FailAtIf(m.Text("content") != "", m, "With the limit 0 lines were read.")
		})},
	{ID: "AKC-READ-014", Title: "An empty file is read as an empty text.", Tier: check.Must, Fact: "file-system", In: check.V1, Needs: canRead,
		Run: check.With(open, func(t *check.T, s *session) {
			dir := s.folder()
			s.read(put(t, dir, "file", lines))
			m := s.likewise(readFile, s.with("path", put(t, dir, "empty", "")))
			t.FailAtIf(string(check.At(m.Result, "content")) != `""`, m, "The text is not empty.")
		})},
	{ID: "AKC-READ-002", Title: "line and limit choose lines, of which the first is 1.", Tier: check.Must, Fact: "file-system", In: check.V1, Needs: canRead,
		Run: check.With(open, func(t *check.T, s *session) {
			path := put(t, s.folder(), "file", lines)
			s.read(path)
			for _, one := range []struct {
				want    string
				members []any
			}{{"two\nthree\n", []any{"line", 2, "limit", 2}}, {"four\nfive\n", []any{"line", 4}}, {"one\n", []any{"limit", 1}}} {
				if got := s.readLines(path, one.members...); strings.TrimSuffix(got, "\n") != strings.TrimSuffix(one.want, "\n") {
					t.Fail("With %v the text is %q instead of %q.", one.members, got, one.want)
				}
			}
		})},
	{ID: "AKC-READ-003", Title: "Behind the last line of a file there is no text.", Tier: check.Should, Fact: "file-system", In: check.V1, Needs: canRead,
		Run: check.With(open, func(t *check.T, s *session) {
			path := put(t, s.folder(), "file", lines)
			m := s.Call(readFile, s.with("path", path, "line", 99))
			t.FailAtIf(m.Text("content") != "", m, "Line 99 of a file with five lines has text.")
		})},
	{ID: "AKC-READ-004", Title: "A file that does not exist cannot be read.", Tier: check.Must, Fact: "file-system", In: check.V1, Needs: canRead,
		Run: check.With(open, func(t *check.T, s *session) {
			s.refuses(readFile, s.with("path", filepath.Join(s.folder(), "missing")), "A file that does not exist was read.")
		})},
	{ID: "AKC-READ-005", Title: "The error for a file that does not exist is -32002.", Tier: check.Should, Fact: "file-system", In: check.V1, Needs: canRead,
		Run: check.With(open, func(t *check.T, s *session) {
			dir := s.folder()
			s.read(put(t, dir, "file", lines))
			m := s.Call(readFile, s.with("path", filepath.Join(dir, "missing")))
			t.Requires(m.Error != nil, "A file that does not exist was read.")
			if m.Error.Code != -32002 {
				t.FailAt(m, "The error is %d.", m.Error.Code)
			}
		})},
	{ID: "AKC-READ-006", Title: "A relative path is refused.", Tier: check.Should, Fact: "file-system", In: check.V1, Needs: canRead, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			path := put(t, s.folder(), "file", lines)
			s.read(path)
			s.refuses(readFile, s.with("path", relative(t, path)), "A relative path was read.")
		})},
	{ID: "AKC-READ-007", Title: "A folder cannot be read as a file.", Tier: check.Must, Fact: "file-system", In: check.V1, Needs: canRead,
		Run: check.With(open, func(t *check.T, s *session) {
			s.refuses(readFile, s.with("path", s.subfolder("acptest-folder")), "A folder was read.")
		})},
	{ID: "AKC-READ-008", Title: "A large file is read whole, or refused.", Tier: check.Must, Fact: "file-system", In: check.V1, Needs: canRead,
		Run: check.With(open, func(t *check.T, s *session) {
			text := strings.Repeat("large\n", t.Amount(4<<20, 66<<10)/6)
			m := s.Call(readFile, s.with("path", put(t, s.folder(), "acptest-large", text)))
			t.FailIf(m.Error == nil && m.Text("content") != text, "%d of %d bytes were read.", len(m.Text("content")), len(text))
		})},
	{ID: "AKC-READ-009", Title: "What has no end, or waits for others, is refused.", Tier: check.Should, Fact: "file-system", In: check.V1, Needs: canRead,
		Run: check.With(open, func(t *check.T, s *session) {
			dir := s.folder()
			s.read(put(t, dir, "file", lines))
			pipe := filepath.Join(dir, "acptest-pipe")
			err := exec.Command("mkfifo", pipe).Run()
			t.SkipIf(err != nil, "This system has no named pipes.")
			for _, path := range []string{pipe, "/dev/zero"} {
				s.refuses(readFile, s.with("path", path), "A device was read.")
			}
		})},
	{ID: "AKC-READ-010", Title: "Files that are read at the same time are not mixed up.", Tier: check.Must, Fact: "file-system", In: check.V1, Needs: canRead,
		Run: check.With(open, func(t *check.T, s *session) {
			dir := s.folder()
			var calls []*check.Call
			for i := range 16 {
				calls = append(calls, s.Start(readFile, s.with("path", put(t, dir, fmt.Sprintf("acptest-many-%d", i), fmt.Sprintf("file %d\n", i)))))
			}
			for i, c := range calls {
				m := c.Response()
				t.FailAtIf(m.Error == nil && m.Text("content") != fmt.Sprintf("file %d\n", i), m, "The text is not that of file %d.", i)
			}
		})},
}

var writing = []check.Check{
	{ID: "AKC-WRITE-001", Title: "A file that does not exist is created with the text as it is.", Tier: check.Must, Fact: "file-system", In: check.V1, Needs: canWrite,
		Run: func(t *check.T) {
			const text = "one\n\ttwö \"\\\n\n世 😀 \u2028<&>\n"
			s := open(t)
			dir := s.folder()
			path, other := filepath.Join(dir, "file"), put(t, dir, "other", "old\n")
			m := s.asked(writeFile, s.with("path", path, "content", text))
			if m.Error != nil {
				s.write(other, text) // what is refused in any case is inconclusive
				t.FailAt(m, "A file that exists is written, and one that does not is refused: %d (%s).", m.Error.Code, m.Error.Message)
			}
			t.FailIf(on(path) != text, "The file has %q instead of %q.", on(path), text)
		}},
	{ID: "AKC-WRITE-010", Title: "A file is written at its path as it is, whatever is in its name.", Tier: check.Must, Fact: "file-system", In: check.V1, Needs: canWrite,
		Run: check.With(open, func(t *check.T, s *session) {
			dir := s.folder()
			for _, name := range oddNames {
				path := filepath.Join(dir, name)
				s.write(path, name)
				t.FailIf(on(path) != name, "The file %q was not written, and the write has succeeded.", path)
			}
		})},
	{ID: "AKC-WRITE-008", Title: "A file is written with the ends of its lines and its byte order mark as they are.", Tier: check.Must, Fact: "file-system", In: check.V1, Needs: canWrite,
		Run: check.With(open, func(t *check.T, s *session) {
			dir := s.folder()
			for i, text := range unusual {
				path := filepath.Join(dir, fmt.Sprint("file", i))
				s.write(path, text)
				t.FailIf(on(path) != text, "The file has %q instead of %q.", on(path), text)
			}
		})},
	{ID: "AKC-WRITE-009", Title: "Writing a file changes no other one.", Tier: check.Must, Fact: "file-system", In: check.V1, Needs: canWrite,
		Run: check.With(open, func(t *check.T, s *session) {
			dir := s.folder()
			other := put(t, dir, "other", lines)
			s.write(filepath.Join(dir, "file"), "text\n")
			entries, err := os.ReadDir(dir)
			t.FailIf(on(other) != lines || err == nil && len(entries) != 2, "After the write the folder has other files than before, or another text in one.")
		})},
	{ID: "AKC-WRITE-002", Title: "A file is replaced as a whole.", Tier: check.Must, Fact: "file-system", In: check.V1, Needs: canWrite,
		Run: check.With(open, func(t *check.T, s *session) {
			path := put(t, s.folder(), "file", lines)
			s.write(path, "short\n")
			t.FailIf(on(path) != "short\n", "The file has %q instead of %q.", on(path), "short\n")
			s.likewise(writeFile, s.with("path", path, "content", ""))
			t.FailIf(on(path) != "", "The file has %q instead of no text.", on(path))
		})},
	{ID: "AKC-WRITE-003", Title: "A write that succeeds has been done.", Tier: check.Must, Fact: "file-system", In: check.V1, Needs: canWrite,
		Run: check.With(open, func(t *check.T, s *session) {
			path := filepath.Join(put(t, s.folder(), "acptest-absent", lines), "file") // a file cannot have files in it
			m := s.asked(writeFile, s.with("path", path, "content", lines))
			t.FailAtIf(m.Error == nil && on(path) != lines, m, "The write succeeded, and there is no such file.")
		})},
	{ID: "AKC-WRITE-004", Title: "A script that is written stays executable.", Tier: check.Should, Fact: "file-system", In: check.V1, Needs: canWrite,
		Run: func(t *check.T) {
			t.SkipIf(runtime.GOOS == "windows", "Files of this system have no such mode.")
			s := open(t)
			path := put(t, s.folder(), "script", lines)
			t.Requires(os.Chmod(path, 0o755) == nil, "The mode cannot be set.")
			s.write(path, "other\n")
			info, err := os.Stat(path)
			t.FailIf(err != nil || info.Mode().Perm()&0o100 == 0, "The file is not executable any more.")
		}},
	{ID: "AKC-WRITE-005", Title: "A relative path is not written.", Tier: check.Should, Fact: "file-system", In: check.V1, Needs: canWrite, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			path := put(t, s.folder(), "file", lines)
			s.write(path, "absolute\n")
			s.refuses(writeFile, s.with("path", relative(t, path), "content", "relative\n"), "A relative path was written.")
		})},
	{ID: "AKC-WRITE-006", Title: "A folder cannot be written as a file.", Tier: check.Must, Fact: "file-system", In: check.V1, Needs: canWrite,
		Run: check.With(open, func(t *check.T, s *session) {
			m := s.asked(writeFile, s.with("path", s.subfolder("acptest-folder"), "content", lines))
			t.FailAtIf(m.Error == nil, m, "A folder was written.")
		})},
	{ID: "AKC-WRITE-007", Title: "What was written is read.", Tier: check.Must, Fact: "file-system", In: check.V1, Needs: canWrite,
		Run: func(t *check.T) {
			t.SkipIf(!t.Has(canRead), "The client does not advertise %s.", canRead)
			s := open(t)
			path := put(t, s.folder(), "acptest-again", "old\n")
			s.read(path)
			s.write(path, "new\n")
			got := s.read(path)
			t.FailIf(got != "new\n", "The text is %q.", got)
		}},
}

// subfolder returns a new folder with a name.
func (s *session) subfolder(name string) string {
	dir := filepath.Join(s.folder(), name)
	s.t.Requires(os.Mkdir(dir, 0o700) == nil, "No folder can be made.")
	return dir
}

// relative returns a path as it is relative to the folder of the session.
func relative(t *check.T, path string) string {
	rel, err := filepath.Rel(t.Opts.Cwd, path)
	t.Requires(err == nil, "The path cannot be made relative: %v.", err)
	return rel
}
