package journal

import (
	"encoding/json"
	"errors"
	"fmt"
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

func marshal(v any) (json.RawMessage, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return text, nil
}
