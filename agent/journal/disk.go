package journal

import (
	"errors"
	"os"
)

// errHeld is the error of lock while another open file has the lock.
var errHeld = errors.New("held")

// appendFile is a log file. Its Truncate method opens the file by name, because Windows cannot
// truncate a file that is open for appending.
type appendFile struct{ *os.File }

func openLogFile(name string, flag int) (logFile, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND|flag, 0o600)
	if err != nil {
		return nil, err
	}
	return appendFile{f}, nil
}

func (f appendFile) Truncate(size int64) error { return os.Truncate(f.Name(), size) }
