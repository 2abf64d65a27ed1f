//go:build linux || darwin

package main

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"unsafe"
)

// tty is a terminal. A nil tty does nothing.
type tty struct {
	file *os.File
	was  syscall.Termios

	mu sync.Mutex // held while the mode changes
}

// openTTY returns nil if the file is not a terminal.
func openTTY(f *os.File) *tty {
	t := &tty{file: f}
	if t.ioctl(ioctlGet, unsafe.Pointer(&t.was)) != nil {
		return nil
	}
	return t
}

func (t *tty) keys() bool { return t != nil }

func (t *tty) set(m ttyMode) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.was
	now.Lflag &^= syscall.ECHO
	if m == modeKeys {
		now.Lflag &^= syscall.ICANON
		now.Cc[syscall.VMIN], now.Cc[syscall.VTIME] = 1, 0
	}
	_ = t.ioctl(ioctlSet, unsafe.Pointer(&now)) // the terminal may be gone
}

func (t *tty) restore() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_ = t.ioctl(ioctlSet, unsafe.Pointer(&t.was)) // the terminal may be gone
}

func (t *tty) width() int {
	var size struct{ rows, columns, x, y uint16 }
	if t == nil || t.ioctl(syscall.TIOCGWINSZ, unsafe.Pointer(&size)) != nil || size.columns == 0 {
		return 80
	}
	return int(size.columns)
}

func (t *tty) ioctl(request uintptr, value unsafe.Pointer) error {
	if _, _, err := syscall.Syscall(syscall.SYS_IOCTL, t.file.Fd(), request, uintptr(value)); err != 0 {
		return err
	}
	return nil
}

// follow restores the mode of the terminal when a signal ends the program. It calls again when the
// program continues after Ctrl-Z.
func (t *tty) follow(again func()) {
	if t == nil {
		return
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGCONT)
	for _, ending := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(ending) { // Notify would no longer ignore it
			signal.Notify(signals, ending)
		}
	}
	go func() { // ends with the program
		for s := range signals {
			if s == syscall.SIGCONT {
				again()
			} else {
				t.restore()
			}
		}
	}()
}
