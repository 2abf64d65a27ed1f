// Package completions reads what servers of chat completions send, in every form that they are known
// to use. Package agent/loop/chat/testdata has an answer for each.
package completions

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// The limits of what a server may send. The loop limits what an answer contains.
const (
	maxEvent = 16 << 20 // bytes of an event, of an answer that is no stream, and of events in a row that bring nothing
	MaxError = 64 << 10 // bytes of an error that are read
	maxTries = 1000     // lines of an event after each of which it may be complete
)

// Read reads an answer: events, or JSON of a server that does not stream. The answer ends with data
// [DONE], or with the end of the input after a finish reason.
func Read(body io.Reader, a *Answer) error {
	r := &frames{a: a}
	lines := bufio.NewScanner(body)
	lines.Buffer(make([]byte, 0, 16<<10), maxEvent)
	lines.Split(r.split)
	first := true
	for lines.Scan() {
		line := lines.Bytes()
		if first {
			line, first = bytes.TrimPrefix(line, []byte("\ufeff")), false
		}
		if done, err := r.line(line); done || err != nil {
			return err
		}
		if r.idle += len(line) + 1; r.idle > maxEvent || len(r.data)+len(r.body) > maxEvent {
			return ErrTooMuch
		}
	}
	err := lines.Err()
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		return ErrTooMuch
	case err == nil:
		err = r.rest()
	default:
		err = &Cut{err}
	}
	switch {
	case a.finished:
		return nil
	case err != nil:
		return err
	}
	return r.unfinished()
}

// Cut reports that the connection was cut within an answer.
type Cut struct{ Err error }

func (e *Cut) Error() string { return e.Err.Error() }
func (e *Cut) Unwrap() error { return e.Err }

// ErrTooMuch is returned for an event or an answer that is too long.
var ErrTooMuch = fmt.Errorf("it has sent more than %d MiB in one event, or without a text", maxEvent>>20)

// frames splits a body into JSON.
type frames struct {
	a *Answer

	data   []byte  // lines of an event that are not complete JSON
	tries  int     // lines of data
	body   []byte  // lines that belong to no event: JSON over several lines, or a page or text
	junk   []byte  // what is not JSON, for the error
	unsure *Report // what may be an error, if the answer has no end
	failed bool    // the next event is an error
	idle   int     // bytes since something of an answer has arrived
	cr     bool    // the last line has ended with a carriage return
	open   bool    // the last line has no end, because the input has ended
}

// split splits at CR, LF or both.
func (r *frames) split(data []byte, atEOF bool) (int, []byte, error) {
	skip := 0
	if r.cr && len(data) > 0 && data[0] == '\n' {
		skip = 1
	}
	rest := data[skip:]
	i := bytes.IndexAny(rest, "\r\n")
	switch {
	case i >= 0:
		r.cr = rest[i] == '\r'
		return skip + i + 1, rest[:i], nil
	case atEOF && len(rest) > 0:
		r.open = true
		return len(data), rest, nil
	}
	return 0, nil, nil
}

// line reads one line. An event ends with a blank line, or when its data is complete.
func (r *frames) line(line []byte) (done bool, err error) {
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimSpace(value)
	switch strings.ToLower(string(bytes.TrimSpace(field))) {
	case "data":
		for bytes.HasPrefix(value, []byte("data:")) { // of a proxy that has added one
			value = bytes.TrimSpace(value[len("data:"):])
		}
	case "event":
		r.failed = string(value) == "error"
		return false, nil
	case "error": // old versions of llama.cpp
		r.failed = true
	case "id", "retry":
		return false, nil
	case "":
		if len(line) > 0 || len(r.body) > 0 {
			return false, nil // a comment
		}
		return false, r.damaged()
	default:
		value = bytes.TrimSpace(line)
		if len(r.data) == 0 && len(r.body) == 0 && json.Valid(value) && value[0] == '{' {
			break // one of several lines with JSON, or an answer in one line
		}
		if string(value) != "[DONE]" {
			r.body = append(append(r.body, line...), '\n')
			return false, nil
		}
	}
	switch value := bytes.Trim(value, `"`); {
	case string(value) == "[DONE]":
		return true, r.end()
	case bytes.HasSuffix(value, []byte("}[DONE]")):
		r.data = append(r.data[:0], bytes.TrimSuffix(value, []byte("[DONE]"))...)
		if err = r.event(); err == nil {
			err = r.end()
		}
		return true, err
	}
	if len(r.data) > 0 {
		r.data = append(r.data, '\n')
	}
	r.data = append(r.data, value...)
	if r.tries++; r.tries > maxTries || !bytes.HasSuffix(value, []byte("}")) && !bytes.HasSuffix(value, []byte("]")) || values(r.data) == nil {
		return false, nil // the next lines complete it
	}
	return false, r.event()
}

// event handles complete data.
func (r *frames) event() error {
	all := values(r.data)
	r.data, r.tries = r.data[:0], 0
	failed := r.failed
	r.failed = false
	for _, data := range all {
		brought, said := r.a.read(data, failed)
		if brought {
			r.idle = 0
		}
		if said != nil && said.unsure {
			r.unsure = said
		} else if said != nil && !r.a.finished {
			return said
		}
	}
	return nil
}

// values returns the values in data, or nil if it is not JSON. Some servers put two into one line.
func values(data []byte) (all []json.RawMessage) {
	for d := json.NewDecoder(bytes.NewReader(numbers(data))); ; {
		var v json.RawMessage
		switch err := d.Decode(&v); {
		case err == io.EOF:
			return all
		case err != nil:
			return nil
		}
		all = append(all, v)
	}
}

// damaged handles the end of an event whose data is not JSON. A word, such as ping, is remembered, and
// damaged JSON is an error, because a part of the answer is missing.
func (r *frames) damaged() error {
	data := bytes.TrimSpace(r.data)
	if len(data) > 0 && (data[0] == '{' || data[0] == '[' || data[0] == '"') && values(data) != nil {
		return r.event() // it is a text with JSON, or has very many lines
	}
	r.data, r.tries = r.data[:0], 0
	if len(data) == 0 {
		return nil
	}
	if r.junk == nil || r.failed {
		r.junk = bytes.Clone(data[:min(len(data), MaxError)])
	}
	if (data[0] == '{' || data[0] == '[' || r.failed) && !r.a.finished {
		return r.unfinished()
	}
	return nil
}

// end handles [DONE].
func (r *frames) end() error {
	if r.a.finished || r.unsure == nil && (r.a.Shown || r.junk == nil && len(r.body) == 0) {
		r.a.finished = true
		return nil
	}
	return r.unfinished()
}

// rest handles what the body ends with.
func (r *frames) rest() error {
	if r.open && values(r.data) == nil && len(r.data) > 0 {
		r.junk = bytes.Clone(r.data[:min(len(r.data), MaxError)])
		r.data = nil
	}
	if err := r.damaged(); err != nil {
		return err
	}
	r.data = r.body
	if all := values(r.data); len(all) == 0 || all[0][0] != '{' && all[0][0] != '[' {
		return nil
	}
	r.body = nil
	return r.event()
}

// unfinished returns the error for an answer without an end.
func (r *frames) unfinished() error {
	if r.unsure != nil {
		return r.unsure
	}
	text := r.junk
	if text == nil {
		text = r.body
	}
	if IsPage(text) {
		return &Report{Texts: []string{titleOf(text)}, Page: true}
	}
	// The answer may have been complete in another form, so it has no status for which it is asked for again.
	return &Report{Texts: []string{strings.TrimSuffix("it ended in the middle, with "+string(bytes.TrimSpace(text)), ", with ")}, Unfinished: true}
}

// number matches values that servers in Python send and that JSON does not have.
var number = regexp.MustCompile(`([:,\[]\s*)(NaN|-?Infinity)\b`)

// numbers returns data with null in place of numbers that JSON does not have.
func numbers(data []byte) []byte {
	if bytes.Contains(data, []byte("NaN")) || bytes.Contains(data, []byte("Infinity")) {
		if !json.Valid(data) {
			return number.ReplaceAll(data, []byte("${1}null"))
		}
	}
	return data
}
