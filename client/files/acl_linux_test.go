package files_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/client/files"
)

// The attributes of POSIX ACLs: that of a file, and that of a folder which new files get.
const (
	aclOfFile  = "system.posix_acl_access"
	aclOfFiles = "system.posix_acl_default"
)

// The tags of the entries of an ACL.
const (
	aclOwner, aclUser, aclGroup, aclMask, aclOthers = 1, 2, 4, 16, 32
)

type aclEntry struct {
	Tag, Perm uint16
	ID        uint32
}

func acl(entries ...aclEntry) []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, uint32(2)) // the version; a buffer does not fail
	for _, e := range entries {
		if e.Tag != aclUser {
			e.ID = 1<<32 - 1
		}
		_ = binary.Write(&b, binary.LittleEndian, e)
	}
	return b.Bytes()
}

// somebody is the id of another user.
const somebody = 65534

// newACLFixture returns a fixture in a file system with ACLs.
func newACLFixture(t *testing.T, opts files.Options) *fixture {
	h := newFixture(t, opts, nil)
	try := filepath.Join(h.base, "try")
	h.put(try, "")
	err := syscall.Setxattr(try, aclOfFile, acl(aclEntry{aclOwner, 6, 0}, aclEntry{aclUser, 4, somebody}, aclEntry{aclGroup, 4, 0}, aclEntry{aclMask, 4, 0}, aclEntry{aclOthers, 4, 0}), 0)
	if errors.Is(err, syscall.EOPNOTSUPP) {
		t.Skip("the file system of the temporary folder has no ACLs: set TMPDIR to one that has")
	}
	require.NoError(t, err)
	return h
}

// A write keeps the ACL of a file, and gives it none that it did not have: what the mode grants to the group is the mask of
// the ACL, which would be the permissions of the group without it.
func TestWritesKeepACLs(t *testing.T) {
	for name, inPlace := range map[string]bool{"replaced": false, "in place": true} {
		t.Run(name, func(t *testing.T) {
			h := newACLFixture(t, files.Options{InPlace: inPlace})
			read := func(file string) (entries []byte, mode os.FileMode) {
				entries = make([]byte, 1024)
				n, err := syscall.Getxattr(file, aclOfFile, entries)
				if !errors.Is(err, syscall.ENODATA) {
					require.NoError(t, err)
				}
				info, err := os.Stat(file)
				require.NoError(t, err)
				return entries[:max(n, 0)], info.Mode()
			}
			for what, entries := range map[string][]byte{
				"one may read, the group may not": acl(aclEntry{aclOwner, 6, 0}, aclEntry{aclUser, 6, somebody}, aclEntry{aclGroup, 0, 0}, aclEntry{aclMask, 6, 0}, aclEntry{aclOthers, 0, 0}),
				"one may not read":                acl(aclEntry{aclOwner, 6, 0}, aclEntry{aclUser, 0, somebody}, aclEntry{aclGroup, 4, 0}, aclEntry{aclMask, 4, 0}, aclEntry{aclOthers, 4, 0}),
			} {
				h.put(h.at("a"), "a")
				require.NoError(t, syscall.Setxattr(h.at("a"), aclOfFile, entries, 0))
				_, mode := read(h.at("a"))
				require.NoError(t, h.write(h.at("a"), "b"), what)
				kept, now := read(h.at("a"))
				assert.Equal(t, entries, kept, what)
				assert.Equal(t, mode, now, what)
				require.NoError(t, os.Remove(h.at("a")))
			}

			h.put(h.at("b"), "b")
			require.NoError(t, os.Chmod(h.at("b"), 0o640))
			require.NoError(t, syscall.Setxattr(h.work, aclOfFiles,
				acl(aclEntry{aclOwner, 7, 0}, aclEntry{aclUser, 7, somebody}, aclEntry{aclGroup, 7, 0}, aclEntry{aclMask, 7, 0}, aclEntry{aclOthers, 0, 0}), 0))
			require.NoError(t, h.write(h.at("b"), "c"))
			none, mode := read(h.at("b"))
			assert.Empty(t, none, "the folder has an ACL for new files, and this one is not new")
			assert.Equal(t, os.FileMode(0o640), mode)
			require.NoError(t, h.write(h.at("new"), "c"))
			given, _ := read(h.at("new"))
			assert.NotEmpty(t, given)
		})
	}
}
