package journal

import (
	"errors"
	"os"
)

// errHeld is what lock returns while another open file has the lock.
var errHeld = errors.New("held")

// appendFile is a log file. Truncate goes by name, because a file that Windows has opened for
// appending cannot be cut.
type appendFile struct{ *os.File }

func openLogFile(name string) (logFile, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return appendFile{f}, nil
}

func (f appendFile) Truncate(size int64) error { return os.Truncate(f.Name(), size) }
