package classify_test

import (
	"errors"
	"testing"

	"github.com/acpkit/go-sdk/rpcerr/classify"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// The worst case: no rule fits.
func BenchmarkNoRule(b *testing.B) {
	err := errors.New("something went wrong while the thing was being done")
	for b.Loop() {
		classify.Error(err)
	}
}

func BenchmarkExplicit(b *testing.B) {
	err := error(kind.Conflict.New("taken"))
	for b.Loop() {
		classify.Error(err)
	}
}
