package rpc

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/internal/envelope"
)

func TestIDKey(t *testing.T) {
	for _, same := range [][]string{
		{"1", "1.0", "1e0", "10e-1"}, {`"a"`, `"\u0061"`}, {"-7", "-7.0"}, {"0", "-0", "0.0"},
		{"null"}, {`"1"`}, {`"null"`}, {"9007199254740993"}, {"9007199254740992"}, {"1.5"}, {`""`}, {"1e300"}, {`"\ud800"`, `"\uD800"`},
	} {
		for _, id := range same {
			assert.Equal(t, envelope.IDKey(same[0]), envelope.IDKey(id), id)
		}
	}
	assert.NotEqual(t, envelope.IDKey("1"), envelope.IDKey(`"1"`))
	assert.NotEqual(t, envelope.IDKey("9007199254740993"), envelope.IDKey("9007199254740992"))
	for id, want := range map[string]uint64{"1": 1, "7.0": 7, "7e0": 7, "18446744073709551615": 1<<64 - 1, "0": 0, `"1"`: 0, "null": 0, "-1": 0, "1.5": 0, "": 0, "18446744073709551616": 0} {
		got, ok := callID([]byte(id))
		assert.Equal(t, want, got, id)
		assert.Equal(t, want != 0, ok, id)
	}
}
