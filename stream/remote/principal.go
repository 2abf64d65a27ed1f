package remote

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
)

// Principal is the sender of a request.
type Principal struct {
	// ID names the principal. It must not be empty.
	ID string

	// Revoked, if not nil, is closed when the principal loses its rights. Its connections
	// end then.
	Revoked <-chan struct{}
}

type principalKey struct{}

// PrincipalFrom returns the principal that opened the connection of ctx.
// There is none if Options.Authorize is not set.
func PrincipalFrom(ctx context.Context) (*Principal, bool) {
	p, ok := ctx.Value(principalKey{}).(*Principal)
	return p, ok
}

// BearerToken returns a function for Options.Authorize that accepts the requests whose
// Authorization header is "Bearer" and the secret. It accepts nothing if the secret is empty.
// All share the principal "bearer", and with it the limit of connections of one principal:
// set Options.MaxPrincipalConnections for more than 256.
func BearerToken(secret string) func(*http.Request) (*Principal, error) {
	return func(r *http.Request) (*Principal, error) {
		if secret == "" {
			return nil, errors.New("remote: the configured token is empty")
		}
		scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
		if !ok || !strings.EqualFold(scheme, "Bearer") || !EqualSecrets(token, secret) {
			return nil, errors.New("remote: the token is missing or wrong")
		}
		return &Principal{ID: "bearer"}, nil
	}
}

// EqualSecrets reports whether two secrets are equal, in a time that does not depend on
// how much of them is equal. Empty secrets are never equal.
func EqualSecrets(got, want string) bool {
	a, b := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && want != ""
}
