package localfs

import (
	"io/fs"
	"os"
	"syscall"
)

const doNotBlock = 0

func deviceOf(fs.FileInfo) uint64                         { return 0 }
func keepOwner(*os.File, fs.FileInfo) (owner, group bool) { return true, true }
func isTextBusy(error) bool                               { return false }
func refusePseudo(*os.Root) error                         { return nil }
func refusePseudoFile(*os.File) error                     { return nil }

func linksOf(f *os.File, _ fs.FileInfo) uint64 {
	conn, err := f.SyscallConn()
	if err != nil {
		return 1
	}
	var info syscall.ByHandleFileInformation
	err = conn.Control(func(handle uintptr) {
		if syscall.GetFileInformationByHandle(syscall.Handle(handle), &info) != nil {
			info.NumberOfLinks = 1
		}
	})
	if err != nil {
		return 1
	}
	return uint64(info.NumberOfLinks)
}
