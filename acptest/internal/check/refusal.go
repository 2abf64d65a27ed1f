package check

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/stream"
)

// refusal is why what was awaited does not come: the POST of a message has failed. Of a request it ends that
// request alone.
type refusal struct {
	text    string
	excused bool // the peer may be right, or does what another check judges
	over    bool // the transport has given up the connection
}

func (r *refusal) Error() string { return r.text }

// Is reports that there is nothing to wait for.
func (r *refusal) Is(target error) bool { return r.over && target == errEnded }

// lose records that a request gets no response.
func (p *Peer) lose(lost *stream.LostError) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if lost.ID != nil { // that a session is lost is noticed by its messages, which fail by themselves
		p.log = append(p.log, Message{Seq: len(p.log), ID: bytes.Clone(lost.ID), lost: lost.Err})
	}
	p.grow()
}

// refused returns the refusal of the request of the check with the id of m. p.mu is locked.
func (p *Peer) refused(m *Message) error {
	i := slices.IndexFunc(p.log, func(sent Message) bool { return sent.Sent && sent.Method != "" && bytes.Equal(sent.ID, m.ID) })
	if i < 0 {
		return errEnded
	}
	request := &p.log[i]
	// Over HTTP a message is read for the session that it names, and one that names none may be refused at once.
	unread := strings.HasPrefix(request.Method, "session/") && request.Text("sessionId") == "" &&
		!slices.Contains([]string{"session/new", "session/list"}, request.Method)
	status, ok := errors.AsType[*stream.StatusError](m.lost)
	return &refusal{text: posted(request.Method, m.lost), excused: unread && ok && status.Code == http.StatusBadRequest}
}

// ending returns why the connection is over. p.mu is locked.
func (p *Peer) ending() error {
	l, ok := p.link.(wired)
	if _, refused := errors.AsType[*stream.StatusError](p.err); !ok || !refused || l.seen().refused.Load() == nil {
		return errEnded
	}
	last := l.seen().refused.Load()
	if last.message.Method != "" {
		return &refusal{text: posted(last.message.Method, p.err), over: true}
	}
	r := &refusal{text: posted("a response", p.err), over: true}
	for _, m := range p.log {
		if !m.Sent && m.Method != "" && bytes.Equal(m.ID, last.message.ID) {
			r.text = posted("the response to "+m.Method, p.err)
			if r.excused = last.session == "" && m.Text("sessionId") != ""; r.excused {
				r.text += ", because the request did not come on the event stream of its session, of which AK-HTTP-015 judges"
			}
		}
	}
	return r
}

// posted returns a text about a POST that has failed.
func posted(what string, err error) string {
	if status, ok := errors.AsType[*stream.StatusError](err); ok {
		return fmt.Sprintf("the POST of %s got status %d %.200q", what, status.Code, strings.TrimSpace(status.Body))
	}
	return fmt.Sprintf("the POST of %s failed: %v", what, err)
}

// over states a verdict if err says that there is nothing more to wait for.
func (p *Peer) over(err error, what string) {
	if r, ok := errors.AsType[*refusal](err); ok {
		p.t.Requires(!r.excused, "%s: %v.", what, r)
		p.t.Fail("%s: %v.", what, r)
	}
	p.t.FailIf(errors.Is(err, errEnded), "%s: %v.", what, err)
}
