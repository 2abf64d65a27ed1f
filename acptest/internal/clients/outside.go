package clients

import (
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

// secret is the text of files outside of the session's folder.
const secret = "acptest secret\n"

// outside checks that files outside of the session's folder are neither read nor written. A way
// returns a path in the folder dir that leads to the file with a name in the folder out.
var outside = []check.Check{
	leak("AKC-OUTSIDE-001", "A path outside of the session's folder is not read.",
		func(_ *check.T, _, out, name string) string { return filepath.Join(out, name) }),
	leak("AKC-OUTSIDE-002", "A path that leaves the session's folder by .. is not read.", upwards),
	leak("AKC-OUTSIDE-003", "A symlink that leads out of the session's folder is not read.", linkToFile),
	leak("AKC-OUTSIDE-004", "A file in a folder that is a symlink which leads outside is not read.", linkToFolder),
	{ID: "AKC-OUTSIDE-005", Title: "A folder whose name only begins as that of the session's folder is not read.",
		Tier: check.Should, Fact: "file-system", In: check.V1, Needs: canRead,
		Run: check.With(open, func(t *check.T, s *session) {
			s.read(put(t, s.folder(), "file", lines))
			beside, err := os.MkdirTemp(filepath.Dir(t.Opts.Cwd), filepath.Base(t.Opts.Cwd)+"-")
			t.Requires(err == nil, "No folder can be made: %v.", err)
			t.Cleanup(func() { _ = os.RemoveAll(beside) })
			s.keeps(put(t, beside, "file", secret))
		})},
	{ID: "AKC-OUTSIDE-006", Title: "A folder that becomes a symlink while it is read leads nowhere else.",
		Tier: check.Should, Fact: "file-system", In: check.V1, Needs: canRead,
		Run: check.With(open, func(t *check.T, s *session) {
			dir, out := s.folder(), newFolder(t, "")
			inside := s.subfolder("inside")
			s.read(put(t, inside, "file", lines))
			put(t, out, "file", secret)
			changing := filepath.Join(dir, "changing")
			turn := func(to string) {
				_ = os.Remove(changing + ".new")
				_ = os.Symlink(to, changing+".new")
				_ = os.Rename(changing+".new", changing)
			}
			turn(inside)
			_, err := os.Lstat(changing)
			t.Requires(err == nil, "No symlink can be made: %v.", err)
			done := make(chan struct{})
			var turning sync.WaitGroup
			turning.Go(func() { // ends with done
				for {
					turn(out)
					select {
					case <-done:
						return
					default:
						turn(inside)
					}
				}
			})
			stop := sync.OnceFunc(func() { close(done); turning.Wait() })
			defer stop()
			for range t.Amount(200, 5) {
				s.keeps(filepath.Join(changing, "file"))
			}
			stop()
			s.keeps(filepath.Join(changing, "file"))
		})},
	spill("AKC-OUTSIDE-007", "A path outside of the session's folder is not written.",
		func(_ *check.T, _, out, name string) string { return filepath.Join(out, name) }),
	spill("AKC-OUTSIDE-008", "A path that leaves the session's folder by .. is not written.", upwards),
	spill("AKC-OUTSIDE-009", "A symlink that leads out of the session's folder, to a file or to none, is not written through.", linkToFile),
	spill("AKC-OUTSIDE-010", "Nothing is written in a folder that is a symlink which leads outside.", linkToFolder),
	{ID: "AKC-OUTSIDE-011", Title: "Files are served only in a session that the client has opened.",
		Tier: check.Should, Fact: "file-system", In: check.V1, Needs: canRead, Rough: true,
		Run: check.With(open, func(t *check.T, s *session) {
			path := put(t, s.folder(), "file", lines)
			s.read(path)
			s.id = "acptest-unknown"
			s.refuses(readFile, s.with("path", path), "A file was read in a session that does not exist.")
		})},
}

// leak returns a check that a way leads to no file that can be read.
func leak(id, title string, way func(t *check.T, dir, out, name string) string) check.Check {
	return check.Check{ID: id, Title: title, Tier: check.Should, Fact: "file-system", In: check.V1, Needs: canRead,
		Run: check.With(open, func(t *check.T, s *session) {
			dir, out := s.folder(), newFolder(t, "")
			s.read(put(t, dir, "file", lines))
			put(t, out, "file", secret)
			s.keeps(way(t, dir, out, "file"))
		})}
}

// keeps fails the check if the secret is read by a path.
func (s *session) keeps(path string) {
	m := s.Call(readFile, s.with("path", path))
	s.t.FailAtIf(strings.Contains(m.Text("content"), strings.TrimSpace(secret)), m, "A file outside of the session's folder was read.")
}

// spill returns a check that a way leads to no file that can be written, or created.
func spill(id, title string, way func(t *check.T, dir, out, name string) string) check.Check {
	return check.Check{ID: id, Title: title, Tier: check.Should, Fact: "file-system", In: check.V1, Needs: canWrite,
		Run: check.With(open, func(t *check.T, s *session) {
			dir, out := s.folder(), newFolder(t, "")
			s.write(filepath.Join(dir, "file"), lines)
			put(t, out, "old", secret)
			for name, before := range map[string]string{"old": secret, "new": ""} {
				m := s.asked(writeFile, s.with("path", way(t, dir, out, name), "content", "spilled\n"))
				t.FailAtIf(on(filepath.Join(out, name)) != before, m, "A file outside of the session's folder was written.")
			}
		})}
}

func upwards(t *check.T, dir, out, name string) string {
	rel, err := filepath.Rel(dir, filepath.Join(out, name))
	t.Requires(err == nil, "The path cannot be made relative: %v.", err)
	return dir + string(filepath.Separator) + rel
}

func linkToFile(t *check.T, dir, out, name string) string {
	return link(t, filepath.Join(out, name), filepath.Join(dir, name+"-link"))
}

func linkToFolder(t *check.T, dir, out, name string) string {
	return filepath.Join(link(t, out, filepath.Join(dir, name+"-folder")), name)
}

func link(t *check.T, to, path string) string {
	err := os.Symlink(to, path)
	t.Requires(err == nil, "No symlink can be made: %v.", err)
	return path
}
