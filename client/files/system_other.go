//go:build !linux && !darwin

package files

import (
	"io/fs"
	"os"
)

const doNotBlock = 0

func deviceOf(fs.FileInfo) uint64       { return 0 }
func keepOwner(*os.File, fs.FileInfo)   {}
func isTextBusy(error) bool             { return false }
func refusePseudo(*os.Root) error       { return nil }
func refusePseudoFile(f *os.File) error { return nil }
