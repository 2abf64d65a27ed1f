package classify_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

func response(status int, body string, header ...string) *http.Response {
	r := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return r
}

func TestFromResponse(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(429)
		_, _ = io.WriteString(w, "slow down, hunter2")
	}))
	defer server.Close()
	resp, err := http.Get(server.URL + "/search?key=hunter3")
	require.NoError(t, err)
	defer resp.Body.Close()
	e := classify.FromResponse(resp, &classify.ResponseOptions{Service: "NCBI"})
	assert.Equal(t, "NCBI answered 429 Too Many Requests", e.Message)
	assert.Equal(t, kind.RateLimited, e.Kind)
	assert.Equal(t, 429, e.Status)
	assert.True(t, e.Retryable)
	assert.Equal(t, 7*time.Second, e.RetryAfter)
	assert.Equal(t, "body: slow down, hunter2", e.Debug, "for the log")
	assert.Nil(t, e.Data, "and not for the peer")
	log := e.LogValue().String()
	assert.Contains(t, log, "/search")
	assert.NotContains(t, log, "hunter3", "the query often holds keys")
}

// answered and fields are errors of clients of web services.
type answered int

func (a answered) Error() string   { return "no" }
func (a answered) StatusCode() int { return int(a) }

type fields struct{ StatusCode int }

func (*fields) Error() string { return "no" }

// The kind of a status, and whether it is worth trying again, for each row of the
// reference's table.
func TestResponseStatus(t *testing.T) {
	for status := 400; status <= 599; status++ {
		e := classify.FromResponse(response(status, ""), nil)
		want := kind.FromStatus(status)
		if status == 500 || status == 501 { // a bug of another service
			want = kind.ServiceUnavailable
		}
		assert.Equal(t, want, e.Kind, status)
		assert.Equal(t, status, e.Status)
		transient := e.Kind == kind.ServiceUnavailable || e.Kind == kind.Timeout || e.Kind == kind.RateLimited
		assert.Equal(t, transient, e.Retryable, status)
		assert.NotEqual(t, rpcerr.CodeAuthRequired, wireOf(e).Code, status)

		// The error is the same whether it is built from the status, the response or the error of a
		// client.
		upstream, byMethod := kind.Upstream("m", status), recordOf(fmt.Errorf("calling: %w", answered(status)))
		byField := recordOf(&fields{StatusCode: status})
		for _, other := range []*kind.Error{upstream, byMethod, byField} {
			assert.Equal(t, e.Kind, other.Kind, status)
			assert.Equal(t, wireOf(e).Code, wireOf(other).Code, status)
			assert.Equal(t, e.Status, other.Status)
			if status == 429 || status >= 500 {
				assert.True(t, other.Retryable, status)
			}
		}
		assert.True(t, strings.HasPrefix(e.Message, "The service answered "), e.Message)
	}
	unexpected := classify.FromResponse(response(302, "", "Retry-After", "5"), nil)
	assert.Equal(t, kind.Unknown, unexpected.Kind)
	assert.Equal(t, "The service answered 302 Found", unexpected.Message)
	assert.False(t, unexpected.Retryable)
	assert.Zero(t, classify.FromResponse(response(999, ""), nil).Status)
	assert.ErrorIs(t, classify.FromResponse(nil, nil), kind.ErrBadUse)
}

func TestResponseBody(t *testing.T) {
	long := strings.Repeat("x", 5000)
	share := func(limit int, body string) *kind.Error {
		return classify.FromResponse(response(500, body), &classify.ResponseOptions{ShareBody: true, BodyLimit: limit})
	}
	assert.JSONEq(t, `{"body":"boom"}`, string(share(0, "boom").Data))
	assert.Empty(t, share(0, "boom").Debug)
	assert.Len(t, share(0, long).Data, 4096+len(`{"body":""}`))
	assert.JSONEq(t, `{"body":"xx"}`, string(share(2, long).Data))
	assert.JSONEq(t, `{"body":"a`+"\uFFFD"+`"}`, string(share(2, "aé").Data), "cut inside a character")
	assert.Nil(t, share(-1, long).Data)
	assert.Nil(t, share(0, "").Data)

	untouched := response(500, "boom")
	classify.FromResponse(untouched, &classify.ResponseOptions{BodyLimit: -1})
	rest, err := io.ReadAll(untouched.Body)
	require.NoError(t, err)
	assert.Equal(t, "boom", string(rest))

	broken := response(500, "")
	broken.Body = io.NopCloser(io.MultiReader(strings.NewReader("begin"), iotest.ErrReader(errors.New("reset"))))
	assert.Equal(t, "body: begin", classify.FromResponse(broken, nil).Debug)
	broken.Body = nil
	assert.NotPanics(t, func() { classify.FromResponse(broken, nil) })
}

func TestRetryAfter(t *testing.T) {
	told := func(value string) *kind.Error {
		return classify.FromResponse(response(403, "", "Retry-After", value), nil)
	}
	synctest.Test(t, func(t *testing.T) { // the clock stands at a whole second
		at := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
		for value, want := range map[string]time.Duration{
			"0": 0, "120": 2 * time.Minute, " 5 ": 5 * time.Second, "1.5": 1500 * time.Millisecond,
			at(time.Minute): time.Minute, at(-time.Minute): 0, "Fri, 31 Dec 1999 23:59:59 GMT": 0,
		} {
			e := told(value)
			assert.True(t, e.Retryable, value)
			assert.Equal(t, want, e.RetryAfter, value)
			assert.Equal(t, want == 0, e.NoDelay, value)
		}
		assert.Greater(t, told("1e300").RetryAfter, time.Duration(math.MaxInt64/4))
	})
	for _, value := range []string{"", "-1", "soon", "NaN", "Inf", "1 2"} {
		assert.False(t, told(value).Retryable, value)
	}
}
