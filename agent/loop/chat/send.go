package chat

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/rpcerr"
)

const (
	attempts = 4
	maxWait  = 30 * time.Second // the longest Retry-After for which a request is repeated
)

// busy lists the response codes after which a request is repeated, because the answer has not
// begun.
var busy = []int{http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}

// retry sends a request for an answer. It repeats the request if the server is busy, but not if the
// server cannot be reached.
func (m *Model) retry(ctx context.Context, body []byte) (*http.Response, error) {
	wait := time.Second
	for n := 1; ; n++ {
		res, err := m.send(ctx, http.MethodPost, "/chat/completions", body)
		status, ok := errors.AsType[*statusError](err)
		if !ok || n == attempts || status.after > maxWait || !slices.Contains(busy, status.status) {
			return res, err
		}
		select {
		case <-time.After(max(status.after, wait)):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		wait *= 2
	}
}

// send sends one request. An error response of the server is a *statusError. If the server has
// nothing at the base URL, send tries once more with /v1 after it.
func (m *Model) send(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	if m.bad != nil {
		return nil, rpcerr.AuthRequired(nil).WithDetail(m.bad.Error())
	}
	m.mu.Lock()
	version := m.version
	m.mu.Unlock()
	res, err := m.sendTo(ctx, method, version+path, body)
	missing, ok := err.(*statusError)
	if !ok || missing.status != http.StatusNotFound || version != "" || path != "/models" && unknownModel(missing) || strings.HasSuffix(m.base, "/v1") {
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
	req, err := http.NewRequestWithContext(ctx, method, m.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "text/event-stream, application/json")
	}
	if m.opts.Key != "" {
		req.Header.Set("Authorization", "Bearer "+m.opts.Key)
	}
	res, err := m.opts.Client.Do(req)
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusOK {
		return res, nil
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(res.Body, maxError)) // a part of the text is enough
	return nil, newStatusError(res, text)
}
