package seed_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/internal/seed"
)

func TestSeeds(t *testing.T) {
	assert.Greater(t, len(seed.Recorded(t, 1)), 300)
	assert.Greater(t, len(seed.Recorded(t, 2)), 300)
	assert.Greater(t, len(seed.Vectors(t)), 100)
	assert.Greater(t, len(seed.Errors(t)), 30)
	for _, s := range seed.Short(t, 500) {
		assert.LessOrEqual(t, len(s), 500)
	}
}
