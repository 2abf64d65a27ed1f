package toolcode_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
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
	"github.com/acpkit/go-sdk/rpcerr/toolcode"
)

// The codes of the reference.
var codes = []toolcode.Code{
	"invalid_input", "not_found", "not_a_file", "is_binary", "no_match", "ambiguous_match", "patch_failed",
	"timeout", "output_limit", "too_large", "path_escape", "io_error", "internal",
}

// Each code can be sent and received.
func TestCodes(t *testing.T) {
	for _, code := range codes {
		e := code.Newf(fs.ErrExist, "m")
		b, err := json.Marshal(rpcerr.From(fmt.Errorf("w: %w", e)))
		require.NoError(t, err)
		var received rpcerr.RequestError
		require.NoError(t, json.Unmarshal(b, &received))
		got := toolcode.Of(&received, slog.New(slog.DiscardHandler))
		want := toolcode.Envelope{Error: code, Message: "m"}
		if code == toolcode.Internal {
			want.Message = "internal error"
		}
		assert.Equal(t, want, got)
		assert.Equal(t, code == toolcode.Timeout, e.Retryable, code)
		assert.NotEmpty(t, toolcode.Envelope{Error: code}.Err().Message)
	}
}

func second[T any](_ T, err error) error { return err }

// strictly reads JSON that may have no other members than those of v.
func strictly(text string, v any) error {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

func TestOfGoErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	_, missing := os.Open(filepath.Join(dir, "none"))
	_, directory := os.ReadFile(dir)
	_, below := os.Open(filepath.Join(file, "x"))
	_, outside := root.Open("../x")
	_, long := os.Open(strings.Repeat("x", 5000))
	fileAsDirectory := toolcode.NotAFile
	if runtime.GOOS == "windows" {
		fileAsDirectory = toolcode.NotFound                       // the error of the system
		long = &fs.PathError{Op: "open", Err: syscall.Errno(206)} // wine says "file not found"
	}
	for name, c := range map[string]struct {
		err  error
		want toolcode.Code
	}{
		"missing":             {fmt.Errorf("w: %w", missing), toolcode.NotFound},
		"directory":           {directory, toolcode.NotAFile},
		"file as directory":   {below, fileAsDirectory},
		"outside":             {outside, toolcode.PathEscape},
		"long name":           {long, toolcode.InvalidInput},
		"deadline":            {context.DeadlineExceeded, toolcode.Timeout},
		"cancelled":           {context.Canceled, toolcode.Timeout},
		"lingering command":   {exec.ErrWaitDelay, toolcode.Timeout},
		"EFBIG":               {syscall.EFBIG, toolcode.TooLarge},
		"long line":           {bufio.ErrTooLong, toolcode.TooLarge},
		"huge buffer":         {bytes.ErrTooLarge, toolcode.OutputLimit},
		"no program":          {exec.Command("acpkit-no-such-program").Run(), toolcode.IOError},
		"failed program":      {exec.Command(os.Args[0], "-no-such-flag").Run(), toolcode.IOError},
		"permission":          {fs.ErrPermission, toolcode.IOError},
		"disk full":           {&fs.PathError{Op: "write", Err: syscall.ENOSPC}, toolcode.IOError},
		"cut off":             {io.ErrUnexpectedEOF, toolcode.IOError},
		"kind: validation":    {kind.Validation.New("m"), toolcode.InvalidInput},
		"kind: unauthorized":  {kind.Unauthorized.New("m"), toolcode.IOError},
		"classified, refined": {recordOf(fs.ErrNotExist).WithReason("no_match"), toolcode.NotFound},
		"classified, a word":  {recordOf(fs.ErrInvalid).WithReason("is_binary"), toolcode.IsBinary},
		"without a hint":      {kind.ContextRequired.New("m"), toolcode.Internal},
		"kind: bare":          {kind.NotFound, toolcode.NotFound},
		"peer: no such tool":  {rpcerr.MethodNotFound("x"), toolcode.NotFound},
		"peer: internal":      {rpcerr.InternalError("secret"), toolcode.Internal},
		"a word of ours":      {kind.NotFound.New("m").WithReason("no_match"), toolcode.NotFound},
		"bad JSON":            {json.Unmarshal([]byte("{"), new(any)), toolcode.InvalidInput},
		"wrong JSON":          {json.Unmarshal([]byte(`"x"`), new(int)), toolcode.InvalidInput},
		"large body":          {fmt.Errorf("w: %w", &http.MaxBytesError{Limit: 1}), toolcode.TooLarge},
		"network timeout":     {&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, toolcode.Timeout},
		"too large a prompt":  {kind.ContextTooLarge.New("m"), toolcode.TooLarge},
		"EAGAIN":              {syscall.EAGAIN, toolcode.IOError},
		"reason beats kind":   {kind.Conflict.New("m").WithReason("no_match"), toolcode.NoMatch},
		"reason of its kind":  {kind.Forbidden.New("m").WithReason("path_escape"), toolcode.PathEscape},
		"reason of another":   {kind.Forbidden.New("m").WithReason("timeout"), toolcode.IOError},
		"reason as a guess":   {kind.InvalidParams.New("m").WithReason("is_binary"), toolcode.IsBinary},
		"large body, joined":  {errors.Join(errors.New("w"), &http.MaxBytesError{Limit: 1}), toolcode.TooLarge},
		"unknown member":      {strictly(`{"x":1}`, new(struct{})), toolcode.InvalidInput},
		"bad base64":          {json.Unmarshal([]byte(`"!"`), new([]byte)), toolcode.InvalidInput},
		"bad time":            {json.Unmarshal([]byte(`"noon"`), new(time.Time)), toolcode.InvalidInput},
		"bad number":          {second(strconv.Atoi("x")), toolcode.InvalidInput},
		"broken rule":         {validator.New().Var("", "required"), toolcode.InvalidInput},
		"foreign reason":      {kind.Timeout.New("m").WithReason("queue_full"), toolcode.Timeout},
		"plain":               {errors.New("secret"), toolcode.Internal},
		"nil":                 {nil, toolcode.Internal},
	} {
		got := toolcode.Of(c.err, slog.New(slog.DiscardHandler))
		assert.Equal(t, c.want, got.Error, "%s: %v", name, c.err)
		assert.NotContains(t, got.Message, dir, "no path that the caller did not name")
		assert.NotEmpty(t, got.Message)
		if c.err != nil { // the order of toolcode and classify does not matter
			for _, classified := range []error{classify.Error(c.err), classify.Error(fmt.Errorf("w: %w", c.err)), recordOf(c.err).WithCode("C")} {
				assert.Equal(t, got, toolcode.Of(classified, slog.New(slog.DiscardHandler)), name)
				b, err := json.Marshal(rpcerr.From(classified))
				require.NoError(t, err)
				var received rpcerr.RequestError
				require.NoError(t, json.Unmarshal(b, &received))
				assert.Equal(t, got.Error, toolcode.Of(&received, slog.New(slog.DiscardHandler)).Error, "%s, at the other end: %s", name, b)
			}
		}
	}
}

// A reason that a program uses with another kind does not make the failure retryable.
func TestReasonDoesNotChangeTheKind(t *testing.T) {
	for _, k := range kind.All() {
		plain := toolcode.Of(k.New("m").WithHint("h"), slog.New(slog.DiscardHandler)).Err()
		for _, code := range codes {
			back := toolcode.Of(k.New("m").WithHint("h").WithReason(string(code)), slog.New(slog.DiscardHandler)).Err()
			if back.Kind != k {
				assert.Equal(t, plain.Kind, back.Kind, "%s with the reason %s", k, code)
				assert.Equal(t, plain.Retryable, back.Retryable, "%s with the reason %s", k, code)
			}
		}
	}
}

// The details that the envelope omits are logged once, whatever the order of the calls.
func TestHiddenTextsAreLoggedOnce(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string // in the log
	}{
		{&fs.PathError{Op: "open", Path: "/canary", Err: syscall.EACCES}, "canary"},
		{&fs.PathError{Op: "write", Path: "/canary", Err: syscall.ENOSPC}, "canary"},
		{fmt.Errorf("canary: %w", exec.Command(os.Args[0], "-no-such-flag").Run()), "canary: exit status"},
		{errors.New("canary"), "canary"},
		{kind.NotFound.Newf(errors.New("canary"), "no such file"), "canary"},
		{kind.NotFound.New("no such file"), ""},
		{fmt.Errorf("loading: %w", kind.NotFound.Newf(errors.New("canary"), "no such file")), "canary"},
		{kind.ContextRequired.New("canary"), "call WithHint"},
		{&url.Error{Op: "Get", URL: "https://api.example/v1?key=hunter2", Err: errors.New("canary")}, "canary"},
		{fmt.Errorf("loading: %w", kind.NotFound.New("m")), ""},
	} {
		var log bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&log, nil))
		toolcode.Of(c.err, logger)
		assert.Equal(t, c.want != "", log.Len() > 0, "%v", c.err)
		assert.Contains(t, log.String(), c.want)
		assert.NotContains(t, log.String(), "hunter2")

		log.Reset()
		op := func() (err error) {
			defer classify.Op{Name: "op", Logger: logger}.Catch(t.Context(), &err)
			return c.err
		}
		toolcode.Of(op(), logger)
		assert.Equal(t, 1, strings.Count(log.String(), "\n"), "%v: %s", c.err, log.String())
	}
}

func TestInternalTellsTheLogOnly(t *testing.T) {
	var log bytes.Buffer
	got := toolcode.Of(errors.New("secret"), slog.New(slog.NewTextHandler(&log, nil)))
	assert.Equal(t, `{"error":"internal","message":"internal error"}`, got.String())
	assert.Contains(t, log.String(), "secret")
	log.Reset()
	explicit := toolcode.Internal.Newf(fs.ErrClosed, "table %s is broken", "users")
	got = toolcode.Of(explicit, slog.New(slog.NewTextHandler(&log, nil)))
	assert.Equal(t, `{"error":"internal","message":"internal error"}`, got.String())
	assert.Contains(t, log.String(), "table users is broken")
	assert.ErrorIs(t, explicit, fs.ErrClosed)
	assert.ErrorIs(t, explicit, kind.Internal)
	for _, leaves := range []any{rpcerr.From(explicit), explicit.FailedToolCall()} {
		b, err := json.Marshal(leaves)
		require.NoError(t, err)
		assert.NotContains(t, string(b), "users", "nor in the other forms")
	}
	log.Reset()
	toolcode.Of(toolcode.NoMatch.New("m"), slog.New(slog.NewTextHandler(&log, nil)))
	assert.Empty(t, log.String())
}

func recordOf(err error) *kind.Error {
	e, _ := errors.AsType[*kind.Error](classify.Error(err))
	return e
}

// The content of a failed tool call is for a person. Its raw output has the code.
func TestTextOfAFailedToolCall(t *testing.T) {
	e := toolcode.NoMatch.New("old_string was not found")
	update := acp.FailToolCall("c1", e)
	assert.Equal(t, []acp.ToolCallContent{acp.ToolText("Error: old_string was not found")}, update.Content)
	record, ok := kind.FromToolCall(update)
	require.True(t, ok)
	assert.Equal(t, "no_match", record.Reason)
}

func TestErr(t *testing.T) {
	var e toolcode.Envelope
	require.NoError(t, json.Unmarshal([]byte(`{"error":"not_found","message":"m","more":1}`), &e))
	assert.ErrorIs(t, e.Err(), kind.NotFound)
	assert.Equal(t, "not_found", e.Err().Reason)
	other := toolcode.Envelope{Error: "odd"}.Err()
	assert.ErrorIs(t, other, kind.Unknown)
	assert.Equal(t, "odd", other.Reason)
	assert.Equal(t, "It does not exist.", toolcode.Envelope{Error: toolcode.NotFound}.Err().Message)
}

func TestBadUse(t *testing.T) {
	for _, e := range []*kind.Error{toolcode.Code("typo").New("m"), toolcode.Code("typo").Newf(nil, "m"), toolcode.NotFound.New(""), toolcode.Timeout.Newf(nil, " ")} {
		assert.ErrorIs(t, e, kind.ErrBadUse)
		assert.Empty(t, e.Reason)
		assert.False(t, e.Retryable)
	}
}

// The envelope keeps the code and the message and loses exactly the fields it has no
// room for: Retryable, RetryAfter, Hint, Status, Code, Number and Data, of
// which Kind, Reason and Retryable come back as the code implies them.
func FuzzRoundTrip(f *testing.F) {
	f.Add(uint8(0), "m", "h", int64(5), `{"a":1}`)
	f.Add(uint8(12), "\xff\u2028<", "", int64(0), `7`)
	f.Fuzz(func(t *testing.T, n uint8, message, hint string, after int64, data string) {
		code := codes[int(n)%len(codes)]
		if strings.TrimSpace(message) == "" || code == toolcode.Internal {
			return
		}
		plain := code.New(message)
		e := plain.WithHint(hint).WithRetryAfter(time.Duration(after)).WithCode("C").WithStatus(400)
		if json.Valid([]byte(data)) {
			e = e.WithData(json.RawMessage(data))
		}
		var back toolcode.Envelope
		require.NoError(t, json.Unmarshal([]byte(toolcode.Of(e, nil).String()), &back))
		assert.Equal(t, plain, back.Err())
	})
}

func Example() {
	_, err := os.ReadFile("/no/such/file")
	fmt.Println(toolcode.Of(err, nil))
	fmt.Println(toolcode.Of(toolcode.NoMatch.Newf(nil, "old_string was not found in %s", "main.go"), nil))

	var e toolcode.Envelope
	_ = json.Unmarshal([]byte(`{"error":"ambiguous_match","message":"old_string was found 3 times"}`), &e)
	if e.Error == toolcode.AmbiguousMatch {
		fmt.Println("widen the text")
	}
	// Output:
	// {"error":"not_found","message":"It does not exist."}
	// {"error":"no_match","message":"old_string was not found in main.go"}
	// widen the text
}
