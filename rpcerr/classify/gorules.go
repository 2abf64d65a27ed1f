package classify

import (
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"database/sql/driver"
	"net/http"
	"slices"

	"github.com/acpkit/go-sdk/rpcerr/internal/goerr"
	"github.com/acpkit/go-sdk/rpcerr/internal/inside"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// goRules is the table of package goerr with the rows of packages that only this one links.
var goRules = slices.Concat(goerr.First, []goerr.Rule{
	// Databases.
	goerr.Is("sql.ErrNoRows", sql.ErrNoRows, kind.NotFound, ""),
	goerr.Is("sql.ErrConnDone", sql.ErrConnDone, kind.ServiceUnavailable, ""),
	goerr.Is("driver.ErrBadConn", driver.ErrBadConn, kind.ServiceUnavailable, ""),
	goerr.Is("sql.ErrTxDone", sql.ErrTxDone, kind.Database, ""),
	{Name: "SQLSTATE", Match: sqlState},

	// Certificates: waiting does not mend them.
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

// sqlState reads the five characters that the drivers of several databases
// return, by class and where it matters by value.
func sqlState(err error) (f goerr.Finding, ok bool) {
	driver, ok := inside.As[interface{ SQLState() string }](err)
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
