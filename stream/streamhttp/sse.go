package streamhttp

import (
	"bufio"
	"bytes"
	"io"

	"github.com/acpkit/go-sdk/internal/inbox"
)

// eventReader reads server-sent events. Lines end with LF, CRLF or CR.
type eventReader struct {
	r     *bufio.Reader
	begun bool // the byte order mark has been read
	skip  bool // the last line ended with CR: a LF belongs to it
	lines int  // lines of data that the event has
	data  inbox.Gather
	id    string // that of the last event
	newID string // that of the event under way

	greeted  bool // the first block of lines, which a server sends at once, is over
	alive    bool // something has followed it
	shutdown bool // the last line was that of a server that shuts down
}

func newEventReader(r io.Reader, max int) *eventReader {
	return &eventReader{r: bufio.NewReaderSize(r, 4<<10), data: inbox.Gather{Max: max}}
}

// next returns the data of the next event that has some, or *stream.TooLargeError in place of one
// that is too long. If the end of input cuts the last event, that event counts, unless events are
// numbered: then it can be requested again.
func (e *eventReader) next() ([]byte, error) {
	for {
		field, err := e.line()
		if err != nil {
			if err == io.EOF && e.lines > 0 && e.newID == "" {
				return e.take()
			}
			return nil, err
		}
		e.alive = e.alive || e.greeted
		if field {
			continue
		}
		e.greeted = true
		if e.lines > 0 {
			return e.take()
		}
		e.id = e.newID
	}
}

func (e *eventReader) take() ([]byte, error) {
	e.lines = 0
	e.id = e.newID // not earlier, because an event that was cut is requested again
	return e.data.Take()
}

// line reads one line. It reports whether the line has a field: a blank line ends the
// event.
func (e *eventReader) line() (field bool, err error) {
	var head []byte // the line so far, while its field is not known
	isData, known := false, false
	for {
		part, end, err := e.part()
		if !known {
			head = append(head, part...)
			if !e.begun && len(head) >= 3 {
				e.begun, head = true, bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
			}
			if known = end || err != nil || len(head) > len("data: "); !known {
				continue
			}
			if !e.begun {
				e.begun, head = true, bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
			}
			if len(head) == 0 {
				return false, err
			}
			if value, ok := bytes.CutPrefix(head, []byte("data")); ok && (len(value) == 0 || value[0] == ':') {
				isData = true
				if e.lines++; e.lines > 1 {
					_, _ = e.data.Write([]byte{'\n'})
				}
				part = bytes.TrimPrefix(bytes.TrimPrefix(value, []byte(":")), []byte(" "))
				head = nil
			}
		} else if !isData {
			if len(head) < maxHeaderID {
				head = append(head, part...)
			}
		}
		if isData {
			_, _ = e.data.Write(part)
		}
		if end || err != nil {
			e.shutdown = string(head) == shutdownComment
			// An id that is cut by the end of input counts too, because it shows that events are
			// numbered.
			if id, ok := bytes.CutPrefix(head, []byte("id:")); ok && !isData {
				e.newID = string(bytes.TrimPrefix(id, []byte(" ")))
			}
			return true, err
		}
	}
}

// part returns the next bytes of a line, and whether the line ends after them. They are
// valid until the next read.
func (e *eventReader) part() (part []byte, end bool, err error) {
	if e.r.Buffered() == 0 {
		if _, err := e.r.Peek(1); err != nil {
			return nil, false, err
		}
	}
	b, _ := e.r.Peek(e.r.Buffered())
	if e.skip {
		e.skip = false
		if b[0] == '\n' {
			_, _ = e.r.Discard(1)
			return nil, false, nil
		}
	}
	i := lineEnd(b)
	if i < 0 {
		_, _ = e.r.Discard(len(b))
		return b, false, nil
	}
	e.skip = b[i] == '\r'
	_, _ = e.r.Discard(i + 1)
	return b[:i], true, nil
}

// lineEnd returns the index of the first LF or CR, or -1.
func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf < 0 {
		return bytes.IndexByte(b, '\r')
	}
	if cr := bytes.IndexByte(b[:lf], '\r'); cr >= 0 {
		return cr
	}
	return lf
}
