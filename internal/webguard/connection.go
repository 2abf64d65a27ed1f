package webguard

import (
	"crypto/rand"
	"errors"
	"strings"
)

// maxInstance is the longest name of an instance in bytes, as that of a host.
const maxInstance = 253

// ConnectionID returns a new id for a connection. It is a random text that cannot be guessed.
// Before it stand the name of the instance, if there is one, and a dot. The error reports a name
// that cannot stand in a header, or in the configuration of a load balancer.
func ConnectionID(instance string) (string, error) {
	if instance == "" {
		return rand.Text(), nil
	}
	bad := func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_.", c))
	}
	if len(instance) > maxInstance || strings.ContainsFunc(instance, bad) {
		return "", errors.New("the name of the instance must have letters, digits, '-', '_' and '.' alone, and at most 253 of them")
	}
	return instance + "." + rand.Text(), nil
}
