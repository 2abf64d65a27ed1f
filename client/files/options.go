package files

import (
	"context"

	"github.com/acpkit/go-sdk/acp"
)

const defaultMax = 16 << 20

// Options configure [Open], which copies them. The zero value offers no folders.
type Options struct {
	// Roots are the folders that agents may use. A session gets those of its folders
	// that are in one of Roots.
	Roots []string

	// MaxRead and MaxWrite are the maximum size of a text in bytes; 0 means 16 MiB. An agent can
	// read a larger file in parts, by line and limit.
	MaxRead, MaxWrite int64

	// InPlace overwrites files instead of replacing them. Files keep their inode, owner
	// and attributes, and can be written where the folder cannot, or where a file is a
	// mount point. But a reader may see half a text, and files with several hard links
	// are refused.
	InPlace bool

	// Buffers are the texts that are open in an editor; nil means that there are none.
	Buffers Buffers
}

// Buffers are texts that are open in an editor and perhaps not saved. The text of a
// buffer takes precedence over that of the file. Its methods are called with operations
// that were checked, also for files that do not exist, and must be safe for concurrent
// use.
type Buffers interface {
	// ReadBuffer returns the text of the buffer, and false if the file is not open.
	ReadBuffer(context.Context, *Operation) (text string, ok bool, err error)
	// WriteBuffer replaces the text of the buffer by Operation.Content. It returns false
	// if the file is not open; then the file is written.
	WriteBuffer(context.Context, *Operation) (ok bool, err error)
}

// Sessions tells when sessions end. A *client.Conn implements it. The folders of its open sessions
// are in the ctx of each request that it handles.
type Sessions interface {
	// OnSessionEnd arranges for f to be called when a session was closed, and OnEnd for f to
	// be called when the connection has ended and all its sessions with it.
	OnSessionEnd(f func(acp.SessionID))
	OnEnd(f func())
}

// Operation is one read or write, before it is carried out.
type Operation struct {
	Session acp.SessionID
	// Write distinguishes writes from reads.
	Write bool
	// Path is the absolute path of the file without symlinks. This is the file that is
	// read or written. Requested is the path in the request.
	Path, Requested string
	// Exists reports whether there is such a file.
	Exists bool
	// Content is the text that is written.
	Content string
}

// Check decides about an operation. It may take as long as a person needs. The operation is
// carried out if Check returns nil; otherwise the request fails with the error.
type Check func(context.Context, *Operation) error
