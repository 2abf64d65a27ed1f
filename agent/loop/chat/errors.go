package chat

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/internal/completions"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// steps has what a person can do after a status.
var steps = map[int]string{
	400: "If the conversation has become too long, shorten it with /compact; otherwise choose another model.",
	402: "Add credit to the account at this service, or choose another model.",
	403: "See whether the key may use this model, or choose another model.",
	404: "See whether BASE_URL and MODEL are right: BASE_URL usually ends in /v1.",
	408: "Send the prompt again.",
	409: "Send the prompt again.",
	413: compactStep,
	422: "If the conversation has become too long, shorten it with /compact; otherwise choose another model.",
	429: "Wait a little, and send the prompt again.",
	529: "The service is overloaded: wait a little, and send the prompt again.",
}

const (
	keyStep     = "Set API_KEY to a valid key of this service."
	compactStep = "Shorten the conversation with /compact, or begin a new session."
	laterStep   = "Wait a little, and send the prompt again."
)

// explain converts the error of a request into an error for the person. The model is empty for a
// request for the list of models.
func (m *Model) explain(ctx context.Context, err error, model string) error {
	_, own := kind.From(err)
	r, refused := errors.AsType[*refusal](err)
	late, isLate := errors.AsType[*lateError](err)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case own:
		return err
	case isLate:
		return told(kind.Timeout.New(late.text), "A server of this machine may still be loading the model: send the prompt again.", err)
	case errors.Is(err, completions.ErrTooMuch):
		return told(kind.Serialization.New(fmt.Sprintf("the answer of %s was ended: %v", m.host, err)), laterStep, err) //errlint:ignore ErrTooMuch is a text of ours
	case !refused:
		return m.unreachable(err)
	}
	e, step := m.describe(ctx, r, model)
	if r.after > 0 && e.Retryable {
		e = e.WithRetryAfter(r.after)
		step = fmt.Sprintf("Wait %v, and send the prompt again.", r.after.Round(1e9))
	}
	if r.tooLong() {
		err = errors.Join(err, loop.ErrTooLong)
	}
	return told(e, step, err)
}

// told adds what a person can do to an error.
func told(e *kind.Error, step string, cause error) *kind.Error {
	if !strings.HasSuffix(e.Message, "?") {
		e.Message = strings.TrimSuffix(e.Message, ".") + "."
	}
	e.Message += " " + step
	return e.WithHint(step).WithCause(cause)
}

// describe returns the error for a refusal, and what a person can do.
func (m *Model) describe(ctx context.Context, r *refusal, model string) (e *kind.Error, step string) {
	says := ""
	if r.text != "" {
		says = ": " + clip(r.text)
	}
	upstream := func(status int, format string, args ...any) *kind.Error {
		return kind.Upstream(fmt.Sprintf(format, args...)+says, status)
	}
	client := r.status >= 400 && r.status < 500
	switch {
	case r.tooLong():
		return kind.ContextTooLarge.New(m.host + " says that the conversation is too long for the model" + says), compactStep
	case r.to != "":
		return kind.Configuration.New(fmt.Sprintf("%s redirects (status %d)", m.host, r.status)), "Set BASE_URL to " + clip(r.to)
	case r.page && (r.status == 0 || r.status == 200 || r.status == 404 || r.status == 405):
		return kind.Configuration.New(fmt.Sprintf("BASE_URL leads to a web page and not to a server of chat completions (%s, status %d)%s", m.host, r.status, says)), "BASE_URL usually ends in /v1."
	case strings.Contains(strings.ToLower(r.text), "does not support tools"):
		return kind.Configuration.New("the model " + model + " cannot call tools" + says), "Choose another MODEL."
	case client && strings.Contains(r.code, "content_filter"): // Azure
		return upstream(r.status, "a filter of %s has refused the prompt", m.host), "Say it in other words, or begin a new session."
	case r.status == 401, client && badKey.MatchString(r.code+" "+r.text):
		if m.opts.Key == "" {
			return upstream(401, "%s wants a key", m.host), keyStep
		}
		return upstream(401, "%s rejects API_KEY (status %d)", m.host, r.status), keyStep
	case r.status == 402, client && r.status != 403 && unpaid.MatchString(r.code+" "+r.text) && r.after == 0:
		return upstream(402, "%s wants to be paid (status %d)", m.host, r.status), steps[402]
	case r.status == 429:
		return upstream(429, "%s has a limit that is reached (status 429)", m.host), steps[429]
	case model != "" && (client || r.status == 0) && r.unknownModel():
		if ids, err := m.models(ctx); err == nil {
			says = ""
			return upstream(404, "%s does not know the model %s; it has %s", m.host, model, listed(ids)), "Choose one of them."
		}
		return upstream(404, "%s does not know the model %s", m.host, model), "Choose another MODEL."
	case r.midway:
		status := r.status
		if status == 0 {
			status = 503
		}
		return upstream(status, "%s has ended its answer with an error", m.host), cmp.Or(steps[status], laterStep)
	case r.status == 404:
		return upstream(404, "%s has nothing at %s/chat/completions", m.host, m.shown()), steps[404]
	case r.status < 400:
		return kind.Serialization.New(fmt.Sprintf("%s has answered with status %d%s", m.host, r.status, says)), "See whether BASE_URL is right."
	}
	step = map[bool]string{true: steps[400], false: laterStep}[client]
	return upstream(r.status, "%s has answered with status %d", m.host, r.status), cmp.Or(steps[r.status], step)
}

// unreachable converts the error of a request that got no response, or whose answer was cut.
func (m *Model) unreachable(err error) error {
	dns, isDNS := errors.AsType[*net.DNSError](err)
	cut, isCut := errors.AsType[*completions.Cut](err)
	var timeout interface{ Timeout() bool }
	_, badCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	_, unknownAuthority := errors.AsType[x509.UnknownAuthorityError](err)
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case isCut:
		return told(kind.ServiceUnavailable.New(fmt.Sprintf("the answer of %s was cut: %v", m.host, short(cut.Err))), "Send the prompt again.", err) //errlint:ignore short leaves nothing that is secret
	case isDNS && dns.IsNotFound:
		return told(kind.Configuration.New(fmt.Sprintf("the host of BASE_URL, %s, cannot be found", m.host)), "See whether BASE_URL is right and this machine is online.", err)
	case isDNS:
		return told(kind.ServiceUnavailable.New(fmt.Sprintf("the name of %s cannot be looked up now", m.host)), "See whether this machine is online, and send the prompt again.", err)
	case errors.As(err, &timeout) && timeout.Timeout():
		return told(kind.Timeout.New(fmt.Sprintf("%s has not answered in time", m.host)), "Send the prompt again.", err)
	case badCertificate, unknownAuthority:
		return told(kind.Configuration.New(fmt.Sprintf("the certificate of %s is not valid: %v", m.host, short(err))), "See whether BASE_URL is right, and whether this machine knows who has signed the certificate.", err) //errlint:ignore short leaves nothing that is secret
	case noTLS, strings.Contains(err.Error(), http.ErrSchemeMismatch.Error()):
		return told(kind.Configuration.New(fmt.Sprintf("%s does not speak TLS", m.host)), "BASE_URL must begin with http:// for this server.", err)
	}
	return told(kind.ServiceUnavailable.New(fmt.Sprintf("%s cannot be reached: %v. Is the server running?", m.host, short(err))), "Start it, or set BASE_URL to another one.", err) //errlint:ignore short leaves nothing that is secret
}

// short returns the innermost error, whose text does not contain the URL.
func short(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
