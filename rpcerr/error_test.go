package rpcerr_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/rpcerr"
)

// TestFactories has one row per factory: the wire form of its error, and the sentinel that matches.
func TestFactories(t *testing.T) {
	data := map[string]int{"x": 1}
	for _, c := range []struct {
		err      *rpcerr.RequestError
		sentinel error
		wire     string
	}{
		{rpcerr.ParseError(nil), rpcerr.ErrParse, `{"code":-32700,"message":"Parse error"}`},
		{rpcerr.InvalidRequest(nil), rpcerr.ErrInvalidRequest, `{"code":-32600,"message":"Invalid request"}`},
		{rpcerr.InvalidRequest(nil).WithDetail("batches"), rpcerr.ErrInvalidRequest, `{"code":-32600,"message":"Invalid request: batches"}`},
		{rpcerr.MethodNotFound("no/such"), rpcerr.ErrMethodNotFound, `{"code":-32601,"message":"Method not found: no/such","data":{"method":"no/such"}}`},
		{rpcerr.MethodNotFound(""), rpcerr.ErrMethodNotFound, `{"code":-32601,"message":"Method not found: ","data":{"method":""}}`},
		{rpcerr.InvalidParams(data), rpcerr.ErrInvalidParams, `{"code":-32602,"message":"Invalid params","data":{"x":1}}`},
		{rpcerr.InternalError(nil), rpcerr.ErrInternal, `{"code":-32603,"message":"Internal error"}`},
		{rpcerr.RequestCancelled("why"), rpcerr.ErrRequestCancelled, `{"code":-32800,"message":"Request cancelled","data":"why"}`},
		{rpcerr.AuthRequired(data), rpcerr.ErrAuthRequired, `{"code":-32000,"message":"Authentication required","data":{"x":1}}`},
		{rpcerr.ResourceNotFound("/missing"), rpcerr.ErrResourceNotFound, `{"code":-32002,"message":"Resource not found: /missing","data":{"uri":"/missing"}}`},
		{rpcerr.ResourceNotFound(""), rpcerr.ErrResourceNotFound, `{"code":-32002,"message":"Resource not found"}`},
		{rpcerr.SessionNotFound(""), rpcerr.ErrSessionNotFound, `{"code":-32002,"message":"Session not found: its id is empty","data":{"sessionId":""}}`},
		{rpcerr.SessionNotFound("s1"), rpcerr.ErrSessionNotFound, `{"code":-32002,"message":"Session not found: s1","data":{"sessionId":"s1"}}`},
		{rpcerr.UnsupportedProtocolVersion(3, 1, 2), rpcerr.ErrUnsupportedProtocolVersion, `{"code":-32022,"message":"Unsupported protocol version: 3","data":{"requested":3,"supported":[1,2]}}`},
		{rpcerr.UnsupportedProtocolVersion(3), rpcerr.ErrUnsupportedProtocolVersion, `{"code":-32022,"message":"Unsupported protocol version: 3","data":{"requested":3,"supported":[]}}`},
	} {
		t.Run(c.wire, func(t *testing.T) {
			b, err := json.Marshal(c.err)
			require.NoError(t, err)
			assert.JSONEq(t, c.wire, string(b))
			b, err = json.Marshal(c.err.ToResult())
			require.NoError(t, err)
			assert.JSONEq(t, `{"error":`+c.wire+`}`, string(b))

			var back rpcerr.RequestError
			require.NoError(t, json.Unmarshal([]byte(c.wire), &back))
			for _, e := range []error{c.err, &back, fmt.Errorf("calling: %w", &back)} {
				assert.ErrorIs(t, e, c.sentinel)
				code, ok := rpcerr.CodeOf(e)
				assert.True(t, ok)
				assert.Equal(t, c.err.Code, code)
			}
			again, err := json.Marshal(back)
			require.NoError(t, err)
			assert.JSONEq(t, c.wire, string(again))
		})
	}
}

func TestSessionNotFoundIsNarrow(t *testing.T) {
	for _, c := range []struct {
		data    string
		session bool
	}{
		{`{"sessionId":"s1"}`, true},
		{`{"sessionId":"s1","hint":"list them"}`, true},
		{`{"sessionId":"s1","uri":null}`, true},
		{`{"sessionId":"s1","uri":"/a"}`, false}, // a file, asked for by a session
		{`{"uri":"/a"}`, false},
		{`{"sessionId":null}`, false},
		{`{"sessionId":7}`, false},
		{`"s1"`, false},
		{``, false},
	} {
		e := rpcerr.New(rpcerr.CodeResourceNotFound, "gone", nil)
		if c.data != "" {
			e = e.WithData(json.RawMessage(c.data))
		}
		assert.Equal(t, c.session, errors.Is(e, rpcerr.ErrSessionNotFound), c.data)
		assert.ErrorIs(t, e, rpcerr.ErrResourceNotFound, c.data)
	}
	other := rpcerr.InvalidParams(map[string]string{"sessionId": "s1"})
	assert.NotErrorIs(t, other, rpcerr.ErrSessionNotFound)
	assert.ErrorIs(t, fmt.Errorf("loading: %w", rpcerr.ErrSessionNotFound), rpcerr.ErrSessionNotFound)
}

type quota struct{ limit int }

func (q *quota) Error() string { return "quota" }
func (q *quota) RequestError() *rpcerr.RequestError {
	if q.limit == 0 {
		return nil
	}
	return rpcerr.New(-31000, "quota used up", q.limit)
}

// caused is an error that does not reveal its cause in its text.
type caused struct{ cause error }

func (*caused) Error() string { return "caused" }
func (c *caused) RequestError() *rpcerr.RequestError {
	return rpcerr.InternalError(nil).WithCause(c.cause)
}

func TestFrom(t *testing.T) {
	assert.NoError(t, rpcerr.From(nil))

	auth := rpcerr.AuthRequired(nil)
	assert.Same(t, auth, rpcerr.From(auth))
	assert.Same(t, auth, rpcerr.From(fmt.Errorf("a: %w", fmt.Errorf("b: %w", auth))))
	assert.Same(t, auth, rpcerr.From(errors.Join(fs.ErrExist, auth)))

	own := fmt.Errorf("saving: %w", &quota{5})
	got := wireOf(own)
	assert.Equal(t, rpcerr.Code(-31000), got.Code)
	assert.Equal(t, 5, got.Data)
	var q *quota
	assert.ErrorAs(t, got, &q, "the value stays reachable")

	assert.Equal(t, rpcerr.CodeInternalError, wireOf(&quota{}).Code, "declined")
	assert.Same(t, auth, rpcerr.From(errors.Join(&quota{}, auth)), "declined, the next one decides")
	assert.ErrorIs(t, got, own, "and so is what was wrapped around it")
	assert.Equal(t, rpcerr.Code(-31000), wireOf(errors.Join(&quota{}, fs.ErrExist, &quota{5})).Code, "declined, another type decides")
	inner := errors.New("inner")
	assert.ErrorIs(t, rpcerr.From(fmt.Errorf("w: %w", &caused{inner})), inner, "a cause that only the wire form has")
	outer := rpcerr.InvalidParams(nil).WithCause(&quota{5})
	assert.Same(t, outer, rpcerr.From(outer), "the outer one is not overruled by its cause")
	var typedNil *rpcerr.RequestError
	assert.Equal(t, rpcerr.CodeInternalError, wireOf(error(typedNil)).Code)

	for _, c := range []struct {
		err  error
		code rpcerr.Code
	}{
		{context.Canceled, rpcerr.CodeRequestCancelled},
		{fmt.Errorf("reading: %w", context.Canceled), rpcerr.CodeRequestCancelled},
		{context.DeadlineExceeded, rpcerr.CodeInternalError},
		{errors.New("secret"), rpcerr.CodeInternalError},
	} {
		e := wireOf(c.err)
		assert.Equal(t, c.code, e.Code)
		assert.ErrorIs(t, e, c.err)
		b, err := json.Marshal(e)
		require.NoError(t, err)
		assert.JSONEq(t, fmt.Sprintf(`{"code":%d,"message":%q}`, int(c.code), c.code.String()), string(b), "nothing of the cause")
		_, ok := rpcerr.CodeOf(c.err)
		assert.False(t, ok, "no peer said it")
	}
}

func TestCopiesLeaveTheOriginalAlone(t *testing.T) {
	e := rpcerr.InvalidParams("a")
	_ = e.WithDetail("d").WithData("b").WithCause(fs.ErrExist)
	assert.Equal(t, rpcerr.InvalidParams("a"), e)
	assert.Equal(t, "Invalid params: d: e", e.WithDetail("d").WithDetail("e").Message)
	assert.Equal(t, "Invalid params", e.WithDetail("").Message)
	assert.Equal(t, "code -31000: d", rpcerr.New(-31000, "", nil).WithDetail("d").Message)
}

func TestNilReceiver(t *testing.T) {
	var e *rpcerr.RequestError
	assert.Equal(t, "<nil>", e.Error())
	assert.NoError(t, e.Unwrap())
	assert.False(t, e.Is(rpcerr.ErrInternal))
	assert.Equal(t, rpcerr.CodeInternalError, e.WithDetail("x").Code)
	assert.Equal(t, rpcerr.CodeInternalError, e.ToErrorResponse().Code)
	assert.EqualError(t, e.DecodeData(new(any)), "rpcerr: the error carries no data")
	b, err := json.Marshal(e)
	require.NoError(t, err)
	assert.Equal(t, "null", string(b))
	assert.NotPanics(t, func() { slog.New(slog.DiscardHandler).Info("x", "err", e) })
}

func TestDecodeData(t *testing.T) {
	type fields struct{ URI string }
	var f fields
	require.NoError(t, rpcerr.ResourceNotFound("/a").DecodeData(&f))
	assert.Equal(t, fields{"/a"}, f)
	assert.EqualError(t, rpcerr.InternalError(nil).DecodeData(&f), "rpcerr: the error carries no data")
	assert.ErrorContains(t, rpcerr.InternalError(make(chan int)).DecodeData(&f), "encoding error data")
	assert.ErrorContains(t, rpcerr.InternalError("x").DecodeData(&f), "decoding error data")
}

func TestLogHoldsNoData(t *testing.T) {
	var buf bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&buf, nil))
	log.Info("x", "err", rpcerr.InvalidParams(map[string]string{"token": "hunter2"}).WithCause(fs.ErrExist))
	assert.NotContains(t, buf.String(), "hunter2")
	assert.Contains(t, buf.String(), `"err":{"code":-32602,"message":"Invalid params","name":"Invalid params","cause":"file already exists"}`)
}

func TestCodes(t *testing.T) {
	assert.Equal(t, "Internal error", rpcerr.CodeInternalError.String())
	assert.Equal(t, "code 7", rpcerr.Code(7).String())
}

// wireOf returns the error that the peer receives for err.
func wireOf(err error) *rpcerr.RequestError {
	r, _ := errors.AsType[*rpcerr.RequestError](rpcerr.From(err))
	return r
}
