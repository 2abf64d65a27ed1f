package fold_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/fold"
)

// said is a message, a chunk of one, or another item of a conversation, which has no role.
type said struct{ role, id, text string }

// conversation joins chunks to messages.
type conversation struct {
	messages fold.Messages[int]
	items    []said
}

func (c *conversation) add(s said) {
	if s.role == "" {
		c.messages.Close()
		c.items = append(c.items, s)
		return
	}
	i, ok := c.messages.Find(s.role, s.id)
	if !ok {
		i = len(c.items)
		c.items = append(c.items, said{role: s.role, id: s.id})
		c.messages.Add(s.role, s.id, i)
	}
	c.items[i].text += s.text
}

// Messages do not depend on how their texts are cut. A replay of the items, each as one chunk, gives
// the items again.
func TestMessagesInAnyCut(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 2))
		var whole, pieces, again conversation
		for i := range 1 + r.IntN(20) {
			s := said{role: []string{"", "user", "agent", "thought"}[r.IntN(4)], text: fmt.Sprint("text ", i, " ")}
			if s.role != "" && r.IntN(2) == 0 {
				s.id = fmt.Sprint(r.IntN(3))
			}
			whole.add(s)
			for rest := s.text; rest != ""; {
				n := len(rest)
				if s.role != "" {
					n = 1 + r.IntN(n)
				}
				pieces.add(said{s.role, s.id, rest[:n]})
				rest = rest[n:]
			}
		}
		require.Equal(t, whole.items, pieces.items, "seed %d", seed)
		for _, s := range whole.items {
			again.add(s)
		}
		require.Equal(t, whole.items, again.items, "seed %d", seed)
	}
}
