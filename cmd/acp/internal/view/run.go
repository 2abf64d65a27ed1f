package view

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/acpkit/go-sdk/cmd/acp/internal/recording"
)

// Options say how a recording is shown.
type Options struct {
	Text bool // the messages and their faults on standard output, instead of a page
	Open bool // the page in the browser
	Port int  // of the page; 0 means any
}

// Run shows a recording, the newest one if file is empty, and ends with ctx.
func Run(ctx context.Context, file string, opts Options, stdout, stderr io.Writer) error {
	path, err := choose(file)
	if err != nil {
		return err
	}
	r, err := Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	if opts.Text {
		err = Text(ctx, stdout, r)
	} else {
		err = serve(ctx, r, opts, stdout, stderr)
	}
	if ctx.Err() != nil {
		return nil // Ctrl-C ends it
	}
	return err
}

// serve serves the page.
func serve(ctx context.Context, r *Recording, opts Options, stdout, stderr io.Writer) error {
	read := make(chan error, 1)
	defer func() { <-read }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { read <- r.Read(ctx, nil) }() // ends with ctx

	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(opts.Port)))
	if err != nil {
		return fmt.Errorf("the page cannot be served on port %d: %w: choose another port with -port, or leave it out", opts.Port, err)
	}
	server := NewServer(r)
	address := fmt.Sprintf("http://%s/%s/", listener.Addr(), server.Token)
	_, _ = fmt.Fprintf(stdout, "%s\n%s\nCtrl-C ends it.\n", r.Path, address)
	if opts.Open {
		dir, err := open(address)
		if err != nil {
			_, _ = fmt.Fprintf(stderr, "the browser cannot be started: %v: open the address above\n", err)
		}
		defer os.RemoveAll(dir)
	}
	web := &http.Server{Handler: server, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = web.Close() })()
	return web.Serve(listener)
}

// open opens an address in the browser of the user, by a page of its own in a new folder that only the
// user may read: the arguments of a program can be read by everyone on the machine, and the address
// has the token.
func open(address string) (dir string, err error) {
	dir, err = os.MkdirTemp("", "acp-view-")
	if err != nil {
		return "", err
	}
	way := filepath.Join(dir, "recording.html")
	if err := os.WriteFile(way, fmt.Appendf(nil, `<!DOCTYPE html><meta http-equiv="refresh" content="0; url=%s">`, address), 0o600); err != nil {
		return dir, err
	}
	browser := opener(runtime.GOOS, way)
	if err := browser.Start(); err != nil {
		return dir, err
	}
	go func() { _ = browser.Wait() }() // ends with the program that hands the page on
	return dir, nil
}

// choose returns the recording to show: the named one, or the newest.
func choose(name string) (string, error) {
	if name != "" {
		return name, nil
	}
	dir, err := recording.Folder()
	if err != nil {
		return "", err
	}
	list, err := recording.List(dir)
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", fmt.Errorf("there is no recording in %s: make one with acp tap, or name a file", dir)
	}
	return list[0].Path, nil
}

// opener returns the command of a system that opens a page in the browser of the user.
func opener(system, page string) *exec.Cmd {
	switch system {
	case "windows":
		return exec.Command("rundll32", "url.dll,FileProtocolHandler", page)
	case "darwin":
		return exec.Command("open", page)
	}
	return exec.Command("xdg-open", page)
}
