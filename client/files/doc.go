// Package files serves fs/read_text_file and fs/write_text_file: an agent gets the text
// files below the folders of its session and nothing else. Experimental: it may change in
// any release.
//
//	folders, err := files.Open(&files.Options{Roots: []string{dir}})
//	...
//	defer folders.Close()
//	conn, err := client.Connect(ctx, process, func(c *client.Conn) acp.Client {
//		return &myClient{ReadWriter: folders.ReadWriter(c, nil)}
//	}, nil)
//
// [ReadWriter] and [Reader] have exactly the methods of their interfaces in package acp.
// They are made for embedding: the capabilities of the client follow from what it
// embeds.
//
// # What is served
//
// A path is served if it is in a folder of its session (cwd or an additional directory)
// that is in a folder of [Options.Roots]. Symlinks are followed as long as they stay there.
// Each folder of the path is opened separately, so that replacing a folder or a symlink
// during the operation does not lead elsewhere. For any other path the error is
// [ErrOutside], whether or not the file exists.
//
// Only regular files with valid UTF-8 and without NUL are text. Devices, sockets, FIFOs
// and folders are refused without being opened, and so are the files of kernel file
// systems such as /proc and /sys.
//
// A write replaces the file as a whole: it goes to a temporary file in the same folder,
// which is then renamed. A reader sees the old or the new text, other hard links keep the
// old text, and the mode is preserved without its setuid bits. Extended attributes are
// lost. See [Options.InPlace] for files that cannot be replaced.
package files
