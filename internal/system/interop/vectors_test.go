package interop_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// vector is one observation of internal/recordings/wire.json: what the TypeScript SDK 2.4.0
// wrote when it was sent something.
type vector struct {
	Name, Role, Fixture, Preamble string
	Sent, Received                []string
	SentBase64                    []string          `json:"sent_base64"`
	AppEvents                     []json.RawMessage `json:"app_events"`
	ConnectionClosed              bool              `json:"connection_closed"`
}

// endOfInput stands in Sent for the end of the input.
const endOfInput = "<EOF>"

// unterminated are the vectors whose first line has no end of line.
var unterminated = []string{
	"frame.split_message", "frame.eof_partial_json", "frame.size_unterminated_over_limit", "eof.unterminated_request_reaches_handler",
}

func vectors(t *testing.T, role string) []vector {
	t.Helper()
	b, err := os.ReadFile("../../recordings/wire.json")
	require.NoError(t, err)
	var all []vector
	require.NoError(t, json.Unmarshal(b, &all))
	return slices.DeleteFunc(all, func(v vector) bool { return v.Role != role })
}

// bytes are what is written for the i-th entry of Sent.
func (v *vector) bytes(i int) []byte {
	text := []byte(v.Sent[i])
	if i < len(v.SentBase64) {
		text, _ = base64.StdEncoding.DecodeString(v.SentBase64[i])
	}
	if i == 0 && slices.Contains(unterminated, v.Name) || strings.HasSuffix(string(text), "\n") {
		return text
	}
	return append(text, '\n')
}

// wire is the peer of a connection under test: it writes bytes and keeps every line
// that comes back. All of it lives in one synctest bubble, so that "nothing more
// comes" is a fact and not a matter of time.
type wire struct {
	t     *testing.T
	in    *io.PipeWriter
	lines []string
}

// newWire returns the peer and the two sides of the connection under test. The lines
// are safe to look at after settle.
func newWire(t *testing.T) (w *wire, r io.ReadCloser, out io.WriteCloser) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	w = &wire{t: t, in: inW}
	go func() { // ends when the connection closes its output
		lines := bufio.NewReader(outR)
		for {
			line, err := lines.ReadString('\n')
			if line != "" {
				w.lines = append(w.lines, strings.TrimSuffix(line, "\n"))
			}
			if err != nil {
				return
			}
		}
	}()
	return w, inR, outW
}

func (w *wire) write(b []byte) {
	if _, err := w.in.Write(b); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		w.t.Errorf("writing: %v", err)
	}
}

// settle waits until all goroutines are blocked and timers of less than a second have
// fired.
func (w *wire) settle() {
	synctest.Wait()
	time.Sleep(time.Second)
	synctest.Wait()
}

// take settles, and returns what has come back since the last take.
func (w *wire) take() []string {
	w.settle()
	lines := w.lines
	w.lines = nil
	return lines
}

// send writes all that a vector sends. A response in it answers the request that the
// connection has sent before, so it waits for that, and takes its id.
func (w *wire) send(v *vector) {
	for i, s := range v.Sent {
		if s == endOfInput {
			w.settle()
			w.in.Close()
			continue
		}
		lines := strings.SplitAfter(string(v.bytes(i)), "\n")
		if slices.ContainsFunc(lines, isResponse) {
			w.settle()
			for j, line := range lines {
				if isResponse(line) {
					lines[j] = shiftID(line)
				}
			}
		}
		w.write([]byte(strings.Join(lines, "")))
	}
}

func isResponse(line string) bool {
	var m map[string]json.RawMessage
	if json.Unmarshal([]byte(line), &m) != nil {
		return false
	}
	return m["method"] == nil && (m["result"] != nil || m["error"] != nil)
}

// shiftID makes the ids that the TypeScript SDK gives out, which count from 0, ours,
// which count from 1.
func shiftID(line string) string {
	for n := 2; n >= 0; n-- {
		for _, form := range []string{`"id":%d,`, `"id":"%d"`, `"requestId":%d}`} {
			line = strings.ReplaceAll(line, fmt.Sprintf(form, n), fmt.Sprintf(form, n+1))
		}
	}
	return line
}

// message is one line, taken apart for comparing.
type message map[string]any

func parseMessage(t *testing.T, line string) message {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	var m message
	require.NoError(t, d.Decode(&m), "not a JSON object: %s", line)
	return m
}

// normal drops what does not count: the data of -32602, the wording behind the colon
// of a message, the random id of an internal error. It returns a text to sort and compare by.
func (m message) normal(t *testing.T) string {
	t.Helper()
	if r, ok := m["result"].(map[string]any); ok && r["protocolVersion"] != nil {
		delete(r, "authMethods") // [] is written where theirs is left out
	}
	if e, ok := m["error"].(map[string]any); ok {
		code, _ := e["code"].(json.Number)
		if code == "-32602" {
			delete(e, "data")
		}
		if data, ok := e["data"].(map[string]any); ok && data["errorId"] != nil {
			data["errorId"] = "ID"
		}
		if text, ok := e["message"].(string); ok && (code == "-32600" || code == "-32602") {
			e["message"], _, _ = strings.Cut(text, ":")
		}
	}
	b, err := json.Marshal(m)
	require.NoError(t, err)
	return string(b)
}

// compare asserts that got says the same as want, where answers to different ids may
// swap.
func compare(t *testing.T, want, got []string, rewrite func(message)) {
	t.Helper()
	assert.Equal(t, normalized(t, want, rewrite), normalized(t, got, func(message) {}))
}

// normalized returns what the lines say, sorted.
func normalized(t *testing.T, lines []string, rewrite func(message)) []string {
	t.Helper()
	all := make([]string, len(lines))
	for i, line := range lines {
		m := parseMessage(t, line)
		rewrite(m)
		all[i] = m.normal(t)
	}
	slices.Sort(all)
	return all
}

// difference is an entry of testdata/differences.json: vectors that this SDK answers otherwise
// than the TypeScript SDK, on purpose.
type difference struct {
	Why       string
	Names     []string
	Received  []json.RawMessage // in place of the vector's, with our own ids
	Events    []json.RawMessage // in place of the vector's
	Unordered bool              // events come in any order
	Open      bool              // the connection stays open where it closes theirs
}

// expectation is what must follow a vector.
type expectation struct {
	received          []string
	rewrite           func(message) // of what was received
	events            []json.RawMessage
	closed, unordered bool
}

// expected applies the differences to a vector.
func (v *vector) expected(t *testing.T) *expectation {
	t.Helper()
	e := &expectation{received: v.Received, rewrite: rewriteAll, events: v.AppEvents, closed: v.ConnectionClosed}
	for i, line := range e.received {
		if parseMessage(t, line)["method"] != nil {
			e.received[i] = shiftID(line)
		}
	}
	b, err := os.ReadFile("testdata/differences.json")
	require.NoError(t, err)
	var all []difference
	require.NoError(t, json.Unmarshal(b, &all))
	i := slices.IndexFunc(all, func(d difference) bool { return slices.Contains(d.Names, v.Name) })
	if i < 0 {
		return e
	}
	d := all[i]
	if d.Received != nil {
		e.received, e.rewrite = nil, func(message) {}
		for _, line := range d.Received {
			e.received = append(e.received, string(line))
		}
	}
	if d.Events != nil {
		e.events = d.Events
	}
	e.closed, e.unordered = e.closed && !d.Open, d.Unordered
	return e
}

// rewrites change every error of a kind that this SDK sends otherwise, on purpose.
var rewrites = map[string]func(map[string]any){
	// -32600 does not echo the offending message back: it may hold secrets and be deeply nested.
	"-32600": func(e map[string]any) { delete(e, "data") },
	// The message of -32601 has no quotes.
	"-32601": func(e map[string]any) {
		e["message"] = strings.Replace(e["message"].(string), `"Method not found"`, "Method not found", 1)
	},
	// The text of an unexpected error does not leave the program, but an id under which the log has it.
	"-32603": func(e map[string]any) { e["data"] = map[string]any{"errorId": "ID"} },
	// The message of -32022 names the version, for programs that show nothing else.
	"-32022": func(e map[string]any) {
		data, _ := e["data"].(map[string]any)
		e["message"] = fmt.Sprint(e["message"], ": ", data["requested"])
	},
}

func rewriteAll(m message) {
	if e, ok := m["error"].(map[string]any); ok {
		if code, _ := e["code"].(json.Number); rewrites[string(code)] != nil {
			rewrites[string(code)](e)
		}
	}
}
