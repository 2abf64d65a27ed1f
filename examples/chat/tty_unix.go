//go:build linux || darwin

package main

import (
	"io"
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

func (t *tty) input() input { return t }

func (t *tty) wait() error {
	for {
		if _, err := t.ready(nil); err != syscall.EINTR {
			return err
		}
	}
}

// ready reports whether a read would not block. It waits until timeout; nil means without end.
func (t *tty) ready(timeout *syscall.Timeval) (bool, error) {
	fd := t.file.Fd() // 0: it is the standard input
	var set syscall.FdSet
	set.Bits[0] = 1 << fd
	err := selectInput(int(fd)+1, &set, timeout)
	return err == nil && set.Bits[0] != 0, err
}

func (t *tty) take() ([]byte, error) {
	if ready, err := t.ready(&syscall.Timeval{}); !ready {
		return nil, ignoreInterrupt(err)
	}
	buf := make([]byte, 4096)
	n, err := syscall.Read(int(t.file.Fd()), buf)
	if n == 0 && err == nil {
		err = io.EOF
	}
	return buf[:max(n, 0)], ignoreInterrupt(err)
}

func ignoreInterrupt(err error) error {
	if err == syscall.EINTR || err == syscall.EAGAIN {
		return nil
	}
	return err
}

func (t *tty) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	var now syscall.Termios
	if t.ioctl(ioctlGet, unsafe.Pointer(&now)) == nil {
		_ = t.ioctl(ioctlSetFlushed, unsafe.Pointer(&now)) // the terminal may be gone
	}
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
