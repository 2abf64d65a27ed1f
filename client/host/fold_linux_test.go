package host_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/host"
	"github.com/acpkit/go-sdk/client/permission"
)

// Rules hold in a file system that takes different names for the same, on a system whose own file systems do not.
func TestRulesInAFileSystemThatFoldsNames(t *testing.T) {
	dir := mountFolded(t)
	rule := func(d permission.Decision, path string) permission.Rule {
		return permission.Rule{Decision: d, Paths: []string{dir + path}}
	}
	x := newFixture(t, host.Options{Roots: []string{dir}, Rules: []permission.Rule{
		rule(permission.Deny, "/secret/**"), rule(permission.Deny, "/\u00c4rger/**"), rule(permission.Deny, "/a long name/**"), rule(permission.Allow, "/**"),
	}})
	require.NoError(t, x.run(func(ctx context.Context, id acp.SessionID) error {
		read := func(name string) error {
			_, err := x.agent.ReadTextFile(ctx, &acp.ReadTextFileRequest{SessionID: id, Path: filepath.Join(dir, name)})
			return err
		}
		for _, name := range []string{"open/text", "OPEN/Text", "Open/./TEXT"} {
			assert.NoError(t, read(name), name)
		}
		for _, name := range []string{
			"secret/text", "SECRET/text", "Secret/TEXT", "sEcReT/../secret/text", "open/../SECRET/text", "\u00c4rger/text", "\u00e4rger/text", "A\u0308rger/text", "a\u0308RGER/text",
			"a long name/text", "ALONGN~1/text", "alongn~1/TEXT",
		} {
			denied(t, read(name))
			denied(t, x.write(ctx, name, "x"))
			denied(t, x.write(ctx, filepath.Join(filepath.Dir(name), "new"), "x"))
		}
		for _, name := range []string{".git/config", ".GIT/config", ".Git/new", "open/.VSCode/tasks.json"} {
			denied(t, x.write(ctx, name, "x"))
		}
		return nil
	}))

	policy := permission.New(nil)
	require.NoError(t, policy.SetRules(rule(permission.Deny, "/a long name/**")))
	q := &permission.Question{Session: "s", Options: []permission.Option{{ID: "1", Kind: permission.AllowOnce}}, Tool: &permission.Tool{Paths: []string{dir + "/ALONGN~1/text"}}}
	assert.Equal(t, permission.ByRule, policy.Scope().Decide(t.Context(), q).By, "a path in a question")
}

// foldedNames are the folders of the file system. Each has a file "text".
var foldedNames = []string{"secret", "open", "\u00c4rger", "a long name", ".git"}

// mountFolded mounts a file system that cannot be written, and that ignores the case of letters and the form of Unicode. It has one
// short name.
func mountFolded(t *testing.T) string {
	fd, err := syscall.Open("/dev/fuse", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		t.Skip("this system lacks what the test needs: it does not let this user mount a file system by /dev/fuse: " + err.Error())
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	options := "fd=" + strconv.Itoa(fd) + ",rootmode=40000,user_id=" + strconv.Itoa(os.Getuid()) + ",group_id=" + strconv.Itoa(os.Getgid())
	if err := syscall.Mount("folded", dir, "fuse", syscall.MS_NOSUID|syscall.MS_NODEV, options); err != nil {
		_ = syscall.Close(fd) // it was not used
		t.Skip("this system lacks what the test needs: only root may mount a file system: " + err.Error())
	}
	ended := make(chan struct{})
	go func() { // ends when the file system is unmounted
		defer close(ended)
		serveFolded(fd)
	}()
	t.Cleanup(func() {
		assert.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH))
		<-ended
		assert.NoError(t, syscall.Close(fd))
	})
	return dir
}

// The requests of the kernel that are answered; see include/uapi/linux/fuse.h.
const (
	fuseLookup, fuseForget, fuseGetattr, fuseOpen, fuseRead, fuseStatfs        = 1, 2, 3, 14, 15, 17
	fuseRelease, fuseFlush, fuseInit, fuseOpendir, fuseReaddir, fuseReleasedir = 18, 25, 26, 27, 28, 29
	fuseInterrupt, fuseBatchForget                                             = 36, 42
)

// The number of the root is 1. That of folder i is 2+i, and that of its file is 100+i.
const (
	foldedRoot   = 1
	foldedFolder = 2
	foldedFile   = 100
	foldedText   = "text\n"
)

func serveFolded(fd int) {
	in := make([]byte, 1<<17)
	for {
		n, err := syscall.Read(fd, in)
		if err == syscall.EINTR || err == syscall.ENOENT {
			continue
		}
		if err != nil { // unmounted
			return
		}
		var head struct {
			Len, Op      uint32
			Unique, Node uint64
			Ignored      [4]uint32
		}
		rest := bytes.NewReader(in[:n])
		_ = binary.Read(rest, binary.NativeEndian, &head) // the kernel sends whole requests
		if slices.Contains([]uint32{fuseForget, fuseBatchForget, fuseInterrupt}, head.Op) {
			continue
		}
		body, errno := answerFolded(head.Op, head.Node, in[n-rest.Len():n])
		var out bytes.Buffer
		put(&out, uint32(16+len(body)), -int32(errno), head.Unique)
		out.Write(body)
		_, _ = syscall.Write(fd, out.Bytes()) // fails if the request was interrupted
	}
}

func put(out *bytes.Buffer, values ...any) {
	for _, v := range values {
		_ = binary.Write(out, binary.NativeEndian, v) // a buffer does not fail
	}
}

func answerFolded(op uint32, node uint64, in []byte) ([]byte, syscall.Errno) {
	var out bytes.Buffer
	offset := func() int { return int(binary.NativeEndian.Uint64(in[8:])) }
	switch op {
	case fuseInit:
		put(&out, uint32(7), uint32(31), uint32(0), uint32(0), uint16(1), uint16(1), uint32(4096), uint32(1), [9]uint32{})
	case fuseLookup:
		found := lookUpFolded(node, strings.TrimRight(string(in), "\x00"))
		if found == 0 {
			return nil, syscall.ENOENT
		}
		put(&out, found, [3]uint64{}, [2]uint32{}, attributesOf(found))
	case fuseGetattr:
		put(&out, [2]uint64{}, attributesOf(node))
	case fuseOpen, fuseOpendir:
		put(&out, [2]uint64{})
	case fuseRead:
		out.WriteString(foldedText[min(offset(), len(foldedText)):])
	case fuseReaddir:
		names := []string{"text"}
		if node == foldedRoot {
			names = foldedNames
		}
		for i := offset(); i < len(names); i++ {
			put(&out, lookUpFolded(node, names[i]), uint64(i+1), uint32(len(names[i])), uint32(0))
			out.WriteString(names[i] + strings.Repeat("\x00", (8-len(names[i])%8)%8))
		}
	case fuseStatfs:
		put(&out, [10]uint64{})
	case fuseRelease, fuseReleasedir, fuseFlush:
	default:
		return nil, syscall.ENOSYS
	}
	return out.Bytes(), 0
}

func lookUpFolded(node uint64, name string) uint64 {
	name = strings.NewReplacer("A\u0308", "\u00c4", "a\u0308", "\u00e4").Replace(name)
	if node == foldedRoot {
		if strings.EqualFold(name, "ALONGN~1") {
			name = "a long name"
		}
		i := slices.IndexFunc(foldedNames, func(other string) bool { return strings.EqualFold(other, name) })
		if i < 0 {
			return 0
		}
		return uint64(foldedFolder + i)
	}
	if node < foldedFile && strings.EqualFold(name, "text") {
		return node - foldedFolder + foldedFile
	}
	return 0
}

// attributes are a struct fuse_attr.
type attributes struct {
	Number, Size, Blocks uint64
	Times                [3]uint64
	Parts                [3]uint32
	Mode, Links, User    uint32
	Group, Device, Block uint32
	Flags                uint32
}

func attributesOf(node uint64) attributes {
	a := attributes{Number: node, Mode: syscall.S_IFDIR | 0o755, Links: 1, User: uint32(os.Getuid()), Group: uint32(os.Getgid()), Block: 4096}
	if node >= foldedFile {
		a.Mode, a.Size = syscall.S_IFREG|0o644, uint64(len(foldedText))
	}
	return a
}
