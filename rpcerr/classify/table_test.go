package classify_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"database/sql/driver"
	"encoding/base64"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-playground/validator/v10"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/rpcerr/kind"
	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/streamhttp"
)

// second returns the error of a call with two results.
func second[T any](_ T, err error) error { return err }

// unknown and text hide deliberate mistakes from analyzers.
func unknown(v any) any    { return v }
func text(s string) string { return s }

func recovered(f func()) (err error) {
	defer func() { err, _ = recover().(error) }()
	f()
	return nil
}

// TestGoErrors classifies errors of the standard library, made by the failing operation itself
// where possible.
func TestGoErrors(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	closed, err := os.Open(file)
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	expired, cancel := context.WithTimeout(t.Context(), -1)
	defer cancel()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	secure.Config.ErrorLog = quiet
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	var none map[string]int

	fileAsDirectory := kind.Validation
	if runtime.GOOS == "windows" {
		fileAsDirectory = kind.NotFound // the system does not distinguish it from a missing folder
	}
	for name, c := range map[string]struct {
		err  error
		want kind.Kind
	}{
		"cancelled":             {context.Canceled, kind.Cancelled},
		"turn cancelled":        {fmt.Errorf("w: %w", acp.ErrTurnCancelled), kind.Cancelled},
		"deadline":              {context.DeadlineExceeded, kind.Timeout},
		"deadline of a file":    {os.ErrDeadlineExceeded, kind.Timeout},
		"deadline of a request": {second(http.DefaultClient.Do(must(http.NewRequestWithContext(expired, "GET", plain.URL, nil)))), kind.Timeout},
		"nil map":               {recovered(func() { none["a"] = 1 }), kind.Internal},
		"index":                 {recovered(func() { _ = []int{}[len(none)] }), kind.Internal},
		"own params":            {&acp.InvalidError{Where: "session/new params", Fields: []acp.FieldError{{Path: "cwd", Message: "invalid"}}}, kind.Internal},
		"capability":            {&acp.CapabilityError{Method: "session/list", Capability: "x"}, kind.MethodNotFound},
		"turn running":          {acp.ErrTurnRunning, kind.Conflict},
		"handler stuck":         {acp.ErrHandlerStuck, kind.Internal},
		"connection closed":     {fmt.Errorf("w: %w", acp.ErrClosed), kind.ServiceUnavailable},
		"connection stalled":    {acp.ErrStalled, kind.ServiceUnavailable},
		"connection overloaded": {acp.ErrOverloaded, kind.ServiceUnavailable},
		"validator": {fmt.Errorf("w: %w", validator.New().Struct(struct {
			Name string `validate:"required"`
		}{})), kind.Validation},
		"request that may have run": {&stream.LostError{ID: json.RawMessage("1"), Err: fmt.Errorf("%w: %w", streamhttp.ErrUncertain, io.ErrUnexpectedEOF)}, kind.ServiceUnavailable},
		"request not accepted":      {&stream.LostError{ID: json.RawMessage("1"), Err: fmt.Errorf("%w: %w", streamhttp.ErrNotAccepted, errors.New("no token"))}, kind.ServiceUnavailable},
		"request lost":              {&stream.LostError{ID: json.RawMessage("1"), Err: io.ErrUnexpectedEOF}, kind.ServiceUnavailable},
		"session lost":              {fmt.Errorf("w: %w", &stream.LostError{SessionID: "s", Err: errors.New("gone")}), kind.ServiceUnavailable},
		"request refused":           {&stream.LostError{ID: json.RawMessage("1"), Err: &stream.StatusError{Code: 413}}, kind.InvalidRequest},
		"server refuses":            {&stream.StatusError{Code: 503}, kind.ServiceUnavailable},
		"server wants a login":      {&stream.StatusError{Code: 401}, kind.Unauthorized},
		"no program":                {exec.Command("acpkit-no-such-program").Run(), kind.NotFound},
		"program beside":            {exec.ErrDot, kind.Configuration},
		"program that lingers":      {exec.ErrWaitDelay, kind.Timeout},
		"program that failed":       {exec.Command(os.Args[0], "-no-such-flag").Run(), kind.Internal},
		"no rows":                   {sql.ErrNoRows, kind.NotFound},
		"database connection":       {sql.ErrConnDone, kind.ServiceUnavailable},
		"bad connection":            {driver.ErrBadConn, kind.ServiceUnavailable},
		"transaction over":          {sql.ErrTxDone, kind.Database},
		"unknown authority":         {second((&http.Client{}).Get(secure.URL)), kind.Configuration},
		"TLS to a plain server":     {second(http.Get(strings.Replace(plain.URL, "http:", "https:", 1))), kind.Configuration},
		"no TLS there":              {second(tls.Dial("tcp", plain.Listener.Addr().String(), nil)), kind.Configuration},
		"host name":                 {x509.HostnameError{Certificate: &x509.Certificate{}, Host: "h"}, kind.Configuration},
		"expired certificate":       {x509.CertificateInvalidError{Reason: x509.Expired}, kind.Configuration},
		"TLS alert":                 {tls.AlertError(40), kind.ServiceUnavailable},
		"server closed":             {http.ErrServerClosed, kind.ServiceUnavailable},
		"handler timeout":           {http.ErrHandlerTimeout, kind.Timeout},
		"body too long":             {second(io.ReadAll(http.MaxBytesReader(nil, io.NopCloser(strings.NewReader("long")), 1))), kind.Validation},
		"no upload":                 {http.ErrMissingFile, kind.Validation},
		"no cookie":                 {http.ErrNoCookie, kind.NotFound},
		"refused":                   {second(net.Dial("tcp", closedPort(t))), kind.ServiceUnavailable},
		"refused below HTTP":        {second(http.Get("http://" + closedPort(t))), kind.ServiceUnavailable},
		"missing file":              {second(os.Open(filepath.Join(dir, "none"))), kind.NotFound},
		"missing file, wrapped":     {fmt.Errorf("a: %w", errors.Join(io.EOF, fs.ErrNotExist)), kind.NotFound},
		"existing file":             {os.Mkdir(file, 0o700), kind.Conflict},
		"permission":                {fs.ErrPermission, kind.Forbidden},
		"EPERM":                     {syscall.EPERM, kind.Forbidden},
		"a directory":               {second(os.ReadFile(dir)), kind.Validation},
		"not a directory":           {second(os.Open(filepath.Join(file, "x"))), fileAsDirectory},
		"closed file":               {second(closed.Read(nil)), kind.Internal},
		"invalid":                   {fs.ErrInvalid, kind.Validation},
		"path escapes":              {second(root.Open("../x")), kind.Forbidden},
		"unsupported":               {errors.ErrUnsupported, kind.InvalidRequest},
		"ENOSYS":                    {syscall.ENOSYS, kind.InvalidRequest},
		"disk full":                 {&fs.PathError{Op: "write", Err: syscall.ENOSPC}, kind.ServiceUnavailable},
		"disk quota":                {&fs.PathError{Op: "write", Err: syscall.EDQUOT}, kind.ServiceUnavailable},
		"closed pipe":               {io.ErrClosedPipe, kind.ServiceUnavailable},
		"read-only":                 {&fs.PathError{Op: "write", Err: syscall.EROFS}, kind.Forbidden},
		"not empty":                 {&fs.PathError{Op: "remove", Err: syscall.ENOTEMPTY}, kind.Conflict},
		"ETIMEDOUT":                 {&net.OpError{Op: "read", Err: syscall.ETIMEDOUT}, kind.Timeout},
		"EADDRINUSE":                {syscall.EADDRINUSE, kind.Conflict},
		"ECONNRESET":                {syscall.ECONNRESET, kind.ServiceUnavailable},
		"broken pipe":               {syscall.EPIPE, kind.ServiceUnavailable},
		"timeout deep down":         {&url.Error{Op: "Get", URL: "u", Err: fmt.Errorf("w: %w", &net.DNSError{IsTimeout: true})}, kind.Timeout},
		"DNS":                       {&url.Error{Op: "Get", URL: "u", Err: &net.DNSError{IsNotFound: true, Name: "h"}}, kind.ServiceUnavailable},
		"closed socket":             {net.ErrClosed, kind.ServiceUnavailable},
		"address":                   {second(net.ResolveTCPAddr("tcp", "a:b:c")), kind.Validation},
		"CIDR":                      {third(net.ParseCIDR("x")), kind.Validation},
		"network":                   {second(net.Dial("nonet", "x")), kind.Validation},
		"other network failure":     {&net.OpError{Op: "read", Err: errors.New("x")}, kind.ServiceUnavailable},
		"JSON syntax":               {json.Unmarshal([]byte("{"), &none), kind.Serialization},
		"JSON type":                 {json.Unmarshal([]byte("7"), &none), kind.Serialization},
		"JSON target":               {&json.InvalidUnmarshalError{}, kind.Internal},
		"JSON unsupported":          {second(json.Marshal(unknown(func() {}))), kind.Serialization},
		"JSON value":                {second(json.Marshal([]float64{inf()})), kind.Serialization},
		"JSON marshaler":            {second(json.Marshal(badMarshaler{})), kind.Serialization},
		"XML":                       {xml.Unmarshal([]byte("<a>"), &struct{}{}), kind.Serialization},
		"XML unsupported":           {second(xml.Marshal(unknown(func() {}))), kind.Serialization},
		"CSV":                       {second(csv.NewReader(strings.NewReader(`a"b`)).Read()), kind.Serialization},
		"base64":                    {second(base64.StdEncoding.DecodeString("!")), kind.Serialization},
		"hex":                       {second(hex.DecodeString("xx")), kind.Serialization},
		"odd hex":                   {second(hex.DecodeString("a")), kind.Serialization},
		"cut off":                   {io.ErrUnexpectedEOF, kind.Serialization},
		"long line":                 {bufio.ErrTooLong, kind.Validation},
		"huge buffer":               {bytes.ErrTooLarge, kind.Validation},
		"number":                    {second(strconv.Atoi("x")), kind.Validation},
		"number out of range":       {second(strconv.ParseInt("99999999999999999999", 10, 64)), kind.Validation},
		"time":                      {second(time.Parse(time.RFC3339, "x")), kind.Validation},
		"regular expression":        {second(regexp.Compile(text("("))), kind.Validation},
		"URL":                       {second(url.Parse(text(":"))), kind.Validation},
		"URL escape":                {second(url.PathUnescape("%zz")), kind.Validation},
		"URL host":                  {url.InvalidHostError("h"), kind.Validation},
		"URL without a scheme":      {second(http.Get("api.example/v1")), kind.Configuration},
		"URL without a host":        {second(http.Get("http:///v1")), kind.Configuration},
		"JSON, unknown member":      {strictly(`{"x":1}`, new(struct{})), kind.Serialization},
		"HTTP without a reason":     {&url.Error{Op: "Get", URL: "u", Err: errors.New("x")}, kind.ServiceUnavailable},
		"plain":                     {errors.New("boom"), kind.Internal},
		"explicit":                  {kind.Conflict.New("m").WithCause(context.Canceled), kind.Conflict},
		"explicit below":            {fmt.Errorf("not found: %w", rpcerr.AuthRequired(nil)), kind.Unauthorized},
		"a bare kind":               {kind.Database, kind.Database},
		"status 404 by method":      {statusError(404), kind.NotFound},
		"status 500 by method":      {statusError(500), kind.ServiceUnavailable},
		"status 200 is no status":   {statusError(200), kind.Internal},
		"status 403 by field":       {fmt.Errorf("w: %w", &fieldError{StatusCode: 403}), kind.Forbidden},
		"status 302 by field":       {&fieldError{StatusCode: 302}, kind.Internal},
		"status of a response":      {responseError{Response: &http.Response{StatusCode: 429}}, kind.RateLimited},
		"no response":               {responseError{}, kind.Internal},
		"typed nil":                 {(*fieldError)(nil), kind.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			require.Error(t, c.err)
			e := recordOf(c.err)
			assert.Equal(t, c.want, e.Kind, "%v (%T), %s", c.err, c.err, e.Debug)
			assert.ErrorIs(t, e, c.err, "the cause is kept")
		})
	}
}

func TestSQLState(t *testing.T) {
	for state, want := range map[string]kind.Kind{
		"23505": kind.Conflict, "23P01": kind.Conflict, "23503": kind.Validation, "22001": kind.Validation, "42501": kind.Forbidden,
		"28P01": kind.Configuration, "40001": kind.Conflict, "55P03": kind.Conflict, "08006": kind.ServiceUnavailable,
		"53300": kind.ServiceUnavailable, "57P01": kind.ServiceUnavailable, "57014": kind.Timeout, "42P01": kind.Database, "odd": kind.Internal,
	} {
		assert.Equal(t, want, kind.Of(classify.Error(fmt.Errorf("w: %w", stateError(state)))), state)
	}
}

type stateError string

func (e stateError) Error() string    { return "x" }
func (e stateError) SQLState() string { return string(e) }

type statusError int

func (e statusError) Error() string   { return "x" }
func (e statusError) StatusCode() int { return int(e) }

type fieldError struct{ StatusCode int }

func (*fieldError) Error() string { return "x" }

type responseError struct{ Response *http.Response }

func (responseError) Error() string { return "x" }

// The Retry-After of a response is used.
func TestRetryAfterOfAResponse(t *testing.T) {
	resp := &http.Response{StatusCode: 503, Header: http.Header{"Retry-After": {"7"}}}
	e := recordOf(fmt.Errorf("calling: %w", responseError{resp}))
	assert.Equal(t, kind.ServiceUnavailable, e.Kind)
	assert.Equal(t, 503, e.Status)
	assert.Equal(t, 7*time.Second, e.RetryAfter)
}

type badMarshaler struct{}

func (badMarshaler) MarshalJSON() ([]byte, error) { return nil, errors.New("x") }

func third[A, B any](_ A, _ B, err error) error { return err }

func inf() float64 { f, _ := strconv.ParseFloat("inf", 64); return f }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func closedPort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// strictly reads JSON that may have no other members than those of v.
func strictly(text string, v any) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(v)
}
