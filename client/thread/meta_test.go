package thread_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/acpkit/go-sdk/client/thread"
)

// An agent may send new keys with each update. The Meta of an item holds at most 1000 keys,
// and the value of a key that it has can still be replaced.
func TestMetaIsBounded(t *testing.T) {
	th := thread.New()
	chunk := func(meta thread.Meta) thread.Meta {
		th.AddChunk(thread.MessageChunk{Role: thread.RoleAgent, ID: "1", Content: thread.Block{Type: thread.BlockText, Text: "x"}, Meta: meta})
		return th.Snapshot().Items.At(0).(*thread.Message).Meta
	}
	before := chunk(thread.Meta{"first": 1})
	for i := range 3000 {
		chunk(thread.Meta{strconv.Itoa(i): i})
	}
	all := chunk(thread.Meta{"first": 2, "last": 1})
	assert.Len(t, all, 1000)
	assert.Equal(t, 2, all["first"])
	_, there := all["last"]
	assert.False(t, there)
	assert.Equal(t, thread.Meta{"first": 1}, before)
	big := thread.Meta{}
	for i := range 2000 {
		big[strconv.Itoa(i)] = i
	}
	th = thread.New()
	assert.Len(t, chunk(big), 1000)
	assert.Len(t, big, 2000)
}
