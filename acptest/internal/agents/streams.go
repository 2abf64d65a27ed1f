package agents

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

// eventStream is an event stream that is read all the time.
type eventStream struct {
	lines chan string // closed at the end
	body  io.Closer
}

// events opens the event stream of the connection, or of a session.
func (c *httpConn) events(session string, last ...string) *eventStream {
	header := eventHeader.Clone()
	if session != "" {
		header.Set("Acp-Session-Id", session)
	}
	if last != nil {
		header.Set("Last-Event-ID", last[0])
	}
	r := c.get(header, http.StatusOK)
	s := &eventStream{lines: make(chan string, 1<<12), body: r.Body}
	go func() { // ends with the body, which the end of the check closes
		defer close(s.lines)
		for lines := bufio.NewScanner(r.Body); lines.Scan(); {
			select {
			case s.lines <- lines.Text():
			case <-c.t.Context().Done():
				return
			}
		}
	}()
	return s
}

// line returns the next line that is not empty.
func (s *eventStream) line(within time.Duration) (string, error) {
	timeout := time.After(within)
	for {
		select {
		case line, ok := <-s.lines:
			if !ok {
				return "", io.EOF
			}
			if line != "" {
				return line, nil
			}
		case <-timeout:
			return "", context.DeadlineExceeded
		}
	}
}

// ends reports whether the stream ends soon.
func (s *eventStream) ends() bool {
	for {
		if _, err := s.line(time.Second); err != nil {
			return err == io.EOF
		}
	}
}

// event returns the next event with its id.
func (s *eventStream) event(t *check.T) (id, data string) {
	for {
		line, err := s.line(t.Wait)
		t.FailIf(err != nil, "An event did not come: %v.", err)
		if value, ok := strings.CutPrefix(line, "id:"); ok {
			id = strings.TrimSpace(value)
		}
		if value, ok := strings.CutPrefix(line, "data:"); ok {
			return id, strings.TrimSpace(value)
		}
	}
}

// resumes cuts the event stream of a session behind each event of a turn.
func resumes(t *check.T, c *httpConn) {
	id, _ := c.session()
	stream := c.events(id)
	prompt := map[string]any{"sessionId": id, "prompt": []any{textBlock(t.Prompt("text"))}}
	t.Works(func() {
		c.post(c.message("session/prompt", prompt), http.Header{"Acp-Session-Id": {id}}, http.StatusAccepted)
	})
	type event struct{ id, data string }
	var all []event
	for done := false; !done; {
		var e event
		t.Works(func() { e.id, e.data = stream.event(t) })
		t.SkipIf(e.id == "", "The agent does not number the events of its streams.")
		all = append(all, e)
		done = strings.Contains(e.data, `"stopReason"`)
	}
	for i := range len(all) - 1 {
		_ = stream.body.Close() // it ends then
		stream.ends()
		stream = c.events(id, all[i].id)
		if got, data := stream.event(t); data != all[i+1].data {
			t.Fail("After the event %s came %s, %.200s; before the cut it was %s, %.200s.", all[i].id, got, data, all[i+1].id, all[i+1].data)
		}
	}
}

// routes reads both event streams while a session has a turn.
func routes(t *check.T, c *httpConn) {
	id, connection := c.session()
	session := c.events(id)
	prompt := c.message("session/prompt", map[string]any{"sessionId": id, "prompt": []any{textBlock(t.Prompt("text"))}})
	call := strconv.Itoa(c.ids)
	t.Works(func() { c.post(prompt, http.Header{"Acp-Session-Id": {id}}, http.StatusAccepted) })
	t.Expect("messages of the session on its event stream")
	silence := time.NewTimer(0)
	for ended := false; !ended; {
		silence.Reset(3 * t.Patience(t.Wait)) // as for the end of a turn
		select {
		case line, ok := <-session.lines:
			t.Requires(ok, "The event stream of the session has ended.")
			m := check.Parse([]byte(strings.TrimPrefix(line, "data:")))
			ended = string(m.ID) == call && (t.Version == 1 || m.Error != nil) || m.Text("update", "state") == "idle"
		case line, ok := <-connection.lines:
			t.Requires(ok, "The event stream of the connection has ended.")
			m := check.Parse([]byte(strings.TrimPrefix(line, "data:")))
			t.Show(prompt, line)
			t.FailIf(m.Method == "" && string(m.ID) == call, "The response to session/prompt came on the event stream of the connection.")
			t.FailIf(m.Method != "" && m.Text("sessionId") == id, "A %s of the session came on the event stream of the connection.", m.Method)
		case <-silence.C:
			t.Inconclusive("The end of the turn did not come.")
		}
	}
}
