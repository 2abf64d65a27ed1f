package classify

import (
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/acpkit/go-sdk/internal/errs"
	"github.com/acpkit/go-sdk/internal/panics"
	"github.com/acpkit/go-sdk/rpcerr"
	"github.com/acpkit/go-sdk/rpcerr/internal/goerr"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// pattern is one row of the tables that are tried last. They match texts for people. pick, if not
// nil, returns the kind for the text in the first group, or "".
type pattern struct {
	name string
	re   *regexp.Regexp
	kind kind.Kind
	pick func(group string) kind.Kind
}

func (p pattern) match(words string) kind.Kind {
	m := p.re.FindStringSubmatch(words)
	switch {
	case m == nil:
		return ""
	case p.pick != nil:
		return p.pick(m[1])
	}
	return p.kind
}

func text(re string, k kind.Kind) pattern {
	return pattern{name: "pattern " + re, re: regexp.MustCompile("(?i)" + re), kind: k}
}

// patterns: first what particular services write, then everyday language.
var patterns = []pattern{
	text(`ThrottlingException|TooManyRequestsException`, kind.RateLimited),
	text(`AccessDenied|UnauthorizedOperation`, kind.Forbidden),
	text(`ResourceNotFoundException`, kind.NotFound),
	{name: "gRPC code", re: regexp.MustCompile(`\bcode = ([A-Z][A-Za-z]+)`), pick: func(s string) kind.Kind { return grpcCodes[s] }},
	{name: "status code", re: regexp.MustCompile(`(?i)\b(?:http|status)[\s_-]*(?:code)?["':=\s]{0,3}([45]\d\d)\b`), pick: func(digits string) kind.Kind {
		status, _ := strconv.Atoi(digits) // the pattern matches only digits
		return kind.FromUpstreamStatus(status)
	}},
	text(`ECONNREFUSED|connection refused`, kind.ServiceUnavailable),
	text(`ETIMEDOUT|connection (?:timeout|timed out)`, kind.Timeout),
	text(`unique constraint|duplicate key`, kind.Conflict),
	text(`foreign key constraint`, kind.Validation),
	text(`JWT (?:is )?expired`, kind.Unauthorized),
	text(`row[\s-]level security`, kind.Forbidden),
	text(`insufficient_quota|quota exceeded`, kind.RateLimited),
	text(`model_not_found`, kind.NotFound),
	text(`context_length_exceeded`, kind.Validation),
	text(`ENOTFOUND|\bDNS\b`, kind.ServiceUnavailable),
	text(`ECONNRESET|connection reset`, kind.ServiceUnavailable),

	text(`unauthorized|unauthenticated|not\s+authorized|not.*logged.*in|invalid[\s_-]+token|expired[\s_-]+token|token[\s_-]+(?:is[\s_-]+)?expired`, kind.Unauthorized),
	text(`permission|forbidden|access.*denied|not.*allowed`, kind.Forbidden),
	text(`not[\s_-]?found|no such|does(?:n't| not) exist|could(?:n't| not) find`, kind.NotFound),
	text(`invalid|validation|malformed|bad request|wrong format|missing\s+(?:required|param|field|input|value|arg)`, kind.Validation),
	text(`conflict|already exists|duplicate|unique constraint`, kind.Conflict),
	text(`rate limit|too many requests|throttled`, kind.RateLimited),
	text(`time[\s-]?out|timed out|deadline exceeded`, kind.Timeout),
	text(`abort(?:ed)?|cancell?ed`, kind.Cancelled),
	text(`service unavailable|bad gateway|gateway time-?out|upstream error`, kind.ServiceUnavailable),
}

// grpcCodes are the names that gRPC errors carry in their text.
var grpcCodes = map[string]kind.Kind{
	"Canceled":           kind.Cancelled,
	"Unknown":            kind.Unknown,
	"InvalidArgument":    kind.InvalidParams,
	"DeadlineExceeded":   kind.Timeout,
	"NotFound":           kind.NotFound,
	"AlreadyExists":      kind.Conflict,
	"PermissionDenied":   kind.Forbidden,
	"ResourceExhausted":  kind.RateLimited,
	"FailedPrecondition": kind.Conflict,
	"Aborted":            kind.Conflict,
	"OutOfRange":         kind.Validation,
	"Unimplemented":      kind.InvalidRequest,
	"Internal":           kind.Internal,
	"Unavailable":        kind.ServiceUnavailable,
	"DataLoss":           kind.Database,
	"Unauthenticated":    kind.Unauthorized,
}

// maxWords bounds the text that the patterns read.
const maxWords = 8 << 10

// wordsOf returns what the patterns read: the text of err, the names of the types
// in its chain (clients of web services have one type per error), and the code
// that some of them return.
func wordsOf(err error) string {
	var b strings.Builder
	s := fmt.Sprint(err) // fmt.Sprint recovers a panic of the Error method
	b.WriteString(s[:min(len(s), maxWords)])
	errs.Walk(err, func(err error) bool {
		t := reflect.TypeOf(err)
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.PkgPath() != "fmt" && t.PkgPath() != "errors" {
			b.WriteString("\n" + t.Name())
		}
		if c, ok := err.(interface{ ErrorCode() string }); ok {
			b.WriteString("\n" + c.ErrorCode())
		}
		return b.Len() > maxWords
	})
	return b.String()
}

// tooLarge matches texts of services for language models. It is tried on the text alone: an
// unnecessary compaction of the context is better than none.
var tooLarge = regexp.MustCompile(`(?i)context_length_exceeded|maximum context length|context[\s_-]?(?:window|length|limit)[^.]{0,40}(?:exceed|too (?:long|large|small))|` +
	`exceed\w*[^.]{0,40}context[\s_-]?(?:window|length|limit|size)|(?:prompt|input|request)[^.]{0,20} (?:is )?too (?:long|large) for|prompt is too long|` +
	`input is too long for requested model|too many (?:input )?tokens|input token count[^.]{0,40}exceeds`)

// IsContextTooLarge reports whether err means that the input does not fit the context of
// the language model: an error of kind [kind.ContextTooLarge], on either end of a
// connection, or one with the words that model services use for it. The words are a guess.
func IsContextTooLarge(err error) bool {
	if err == nil {
		return false
	}
	if errs.Is(err, kind.ContextTooLarge) {
		return true
	}
	if _, panicked := errs.As[*panics.Panic](err); panicked { // a bug, whatever its text says
		return false
	}
	found := tooLarge.MatchString(rpcerr.Explain(err)) // includes the data of a peer
	errs.Walk(err, func(err error) bool {
		s := fmt.Sprint(err)
		found = found || tooLarge.MatchString(s[:min(len(s), maxWords)])
		return found
	})
	return found
}

// goRules is the table of package goerr with the rows of packages that only this one links.
var goRules = slices.Concat(goerr.First, []goerr.Rule{
	// Databases.
	goerr.Is("sql.ErrNoRows", sql.ErrNoRows, kind.NotFound, ""),
	goerr.Is("sql.ErrConnDone", sql.ErrConnDone, kind.ServiceUnavailable, ""),
	goerr.Is("driver.ErrBadConn", driver.ErrBadConn, kind.ServiceUnavailable, ""),
	goerr.Is("sql.ErrTxDone", sql.ErrTxDone, kind.Database, ""),
	{Name: "SQLSTATE", Match: sqlState},

	// Certificates: a later attempt fails too.
	goerr.As[*tls.CertificateVerificationError](kind.Configuration, ""),
	goerr.As[x509.UnknownAuthorityError](kind.Configuration, ""),
	goerr.As[x509.HostnameError](kind.Configuration, ""),
	goerr.As[x509.CertificateInvalidError](kind.Configuration, ""),
	goerr.As[tls.RecordHeaderError](kind.Configuration, ""), // the other end does not speak TLS
	goerr.As[tls.AlertError](kind.ServiceUnavailable, ""),

	// HTTP.
	goerr.Is("http.ErrSchemeMismatch", http.ErrSchemeMismatch, kind.Configuration, ""),
	goerr.Is("http.ErrServerClosed", http.ErrServerClosed, kind.ServiceUnavailable, ""),
	goerr.Is("http.ErrHandlerTimeout", http.ErrHandlerTimeout, kind.Timeout, ""),
	goerr.Is("http.ErrMissingFile", http.ErrMissingFile, kind.Validation, ""),
	goerr.Is("http.ErrNoCookie", http.ErrNoCookie, kind.NotFound, ""),
}, goerr.Then)

// sqlState reads the code of five characters that the drivers of several databases return. It
// decides by the class of the code, and in some cases by the code itself.
func sqlState(err error) (f goerr.Finding, ok bool) {
	driver, ok := errs.As[interface{ SQLState() string }](err)
	if !ok || len(driver.SQLState()) != 5 {
		return f, false
	}
	state := driver.SQLState()
	switch state {
	case "23505", "23P01":
		return goerr.Finding{Kind: kind.Conflict}, true
	case "42501":
		return goerr.Finding{Kind: kind.Forbidden}, true
	case "57014":
		return goerr.Finding{Kind: kind.Timeout}, true
	}
	switch state[:2] {
	case "08", "53", "57":
		return goerr.Finding{Kind: kind.ServiceUnavailable}, true
	case "22", "23":
		return goerr.Finding{Kind: kind.Validation}, true
	case "28":
		return goerr.Finding{Kind: kind.Configuration}, true // this program's own login was refused, not the caller's
	case "40", "55":
		return goerr.Finding{Kind: kind.Conflict}, true
	}
	return goerr.Finding{Kind: kind.Database}, true
}
