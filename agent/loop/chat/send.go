package chat

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/internal/completions"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

const (
	attempts  = 4
	firstWait = time.Second
	maxWait   = 30 * time.Second // the longest wait after which a request is repeated
	toldWait  = 5 * time.Second  // the shortest wait that the person is told of
)

// busy lists the statuses after which a request is repeated, if nothing of the answer has arrived.
var busy = []int{408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529}

// pause returns how long to wait before a request is repeated that has failed with err.
func pause(err error, wait time.Duration) (time.Duration, bool) {
	r, ok := errors.AsType[*refusal](err)
	if !ok {
		_, cut := errors.AsType[*completions.Cut](err)
		return wait, !cut && wait == firstWait && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET))
	}
	wait = max(wait, r.after)
	return wait, wait <= maxWait && slices.Contains(busy, r.status) && !r.final()
}

// repeat sends a request until it has an answer, or repeating it does not help.
func (m *Model) repeat(ctx context.Context, model string, req *loop.Request, show func(loop.Event)) error {
	told := false
	wait := firstWait
	for n := 1; ; n++ {
		r, body, err := m.build(model, req)
		if err != nil {
			return kind.Serialization.New("the conversation cannot be sent to the model").WithCause(err)
		}
		if r.leftOut && !told {
			told = true
			show(loop.Notice(fmt.Sprintf("The model %s takes no images: they are left out, and a sentence takes their place.", model)))
		}
		a := &completions.Answer{Model: model, Show: show}
		err = m.attempt(ctx, body, a)
		switch {
		case err == nil:
			a.End(m.window(model))
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !a.Shown && m.adapt(r, err):
			n--
			continue
		}
		delay, again := pause(err, wait)
		if a.Shown || !again || n == attempts {
			return m.explain(ctx, err, model)
		}
		if delay >= toldWait {
			show(loop.Notice(fmt.Sprintf("%s is busy: the request is sent again in %s.", m.host, delay.Round(time.Second))))
		}
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		wait *= 2
	}
}

// adapt notes the change that a refusal asks for. It reports whether the request has another form now.
func (m *Model) adapt(r *request, err error) bool {
	said, ok := errors.AsType[*refusal](err)
	if !ok || said.tooLong() || !slices.Contains([]int{400, 404, 415, 422, 500, 501}, said.status) || said.page || said.text == "" && said.status != 400 && said.status != 422 {
		return false
	}
	for _, c := range changes {
		idle := c.change == noImages && r.images == 0 // some gateways refuse what was not sent
		if r.without[c.change] || !c.asked.MatchString(said.text) || idle && !takesNone.MatchString(said.text) ||
			c.change == "temperature" && m.opts.Temperature == nil || c.change == completionMax && m.opts.MaxTokens == 0 {
			continue
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.changed[r.model] == nil {
			m.changed[r.model] = make(map[change]bool)
		}
		m.changed[r.model][c.change] = true
		return !idle
	}
	return false
}

// changesOf returns a copy of the changes that hold for a model.
func (m *Model) changesOf(model string) map[change]bool {
	all := make(map[change]bool)
	for _, member := range m.service.refuses {
		all[change(member)] = true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for c := range m.changed[model] {
		all[c] = true
	}
	if known := m.known[model]; known != nil && known.images != nil && !*known.images {
		all[noImages] = true
	}
	return all
}

// attempt sends one request and reads its answer.
func (m *Model) attempt(ctx context.Context, body []byte, a *completions.Answer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	late := func(limit time.Duration, what string) *time.Timer {
		if limit < 0 {
			return nil
		}
		return time.AfterFunc(limit, func() { cancel(&lateError{fmt.Sprintf("%s has not %s within %s", m.host, what, limit)}) }) // ends at once
	}
	silence := late(m.firstByte, "begun to answer")
	if m.opts.Whole > 0 {
		defer late(m.opts.Whole, "ended its answer").Stop()
	}
	res, err := m.send(ctx, http.MethodPost, "/chat/completions", body)
	if err == nil {
		defer res.Body.Close()
		err = completions.Read(&heard{res.Body, false, func() {
			if silence != nil && !silence.Stop() {
				return // it was too late
			}
			if a.Shown {
				silence = late(m.opts.Silence, "sent more of its answer")
			} else { // there may be comments while the server reads the prompt
				silence = late(m.firstByte, "begun to answer")
			}
		}}, a)
	}
	if silence != nil {
		silence.Stop()
	}
	if tooLate, ok := errors.AsType[*lateError](context.Cause(ctx)); ok && err != nil {
		return tooLate
	}
	if said, ok := errors.AsType[*completions.Report](err); ok {
		return m.said(said)
	}
	return err
}

// heard is a body that calls again before it waits for more than has arrived.
type heard struct {
	io.Reader
	any   bool
	again func()
}

func (h *heard) Read(p []byte) (int, error) {
	if h.any {
		h.again()
	}
	n, err := h.Reader.Read(p)
	h.any = n > 0
	return n, err
}

// lateError reports that a limit of Options has passed.
type lateError struct{ text string }

func (e *lateError) Error() string { return e.text }

// send sends one request. A response of the server that is no answer is a *refusal. If the server has
// nothing at the base URL, send tries once more with /v1 after it.
func (m *Model) send(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	if m.bad != nil {
		return nil, m.bad
	}
	m.mu.Lock()
	version := m.version
	m.mu.Unlock()
	res, err := m.sendTo(ctx, method, version+path, body)
	missing, ok := err.(*refusal)
	if !ok || missing.status != http.StatusNotFound || version != "" || path != "/models" && missing.unknownModel() || strings.HasSuffix(m.base.Path, "/v1") {
		return res, err
	}
	if res, err := m.sendTo(ctx, method, "/v1"+path, body); err == nil {
		m.mu.Lock()
		m.version = "/v1"
		m.mu.Unlock()
		return res, nil
	}
	return nil, err
}

func (m *Model) sendTo(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	to := *m.base
	to.Path += path
	to.RawPath = ""
	req, err := http.NewRequestWithContext(ctx, method, to.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "text/event-stream, application/json")
	}
	if m.opts.Key != "" {
		req.Header.Set("Authorization", "Bearer "+m.opts.Key)
		if m.service.header != "" {
			req.Header.Set(m.service.header, m.opts.Key)
		}
	}
	for name, values := range m.opts.Header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	res, err := m.opts.Client.Do(req)
	if outer, ok := errors.AsType[*url.Error](err); ok {
		return nil, outer.Err // without the URL, which may contain a secret
	}
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusOK {
		return res, nil
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(res.Body, completions.MaxError)) // a part of the text is enough
	return nil, m.refused(res, text)
}

// local reports whether a host is in a network of its own, where a server may have to load the model.
func local(host string) bool {
	ip := net.ParseIP(host)
	if ip != nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
	}
	return !strings.Contains(host, ".") || slices.ContainsFunc([]string{".local", ".localhost", ".internal", ".lan", ".home", ".home.arpa"}, func(end string) bool { return strings.HasSuffix(host, end) })
}
