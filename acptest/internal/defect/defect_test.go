package defect

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acptest/internal/check"
)

// What a check reads of a connection that it closes is what the peer has sent first, without gaps.
func TestNothingArrivesBehindWhatIsLost(t *testing.T) {
	for range 100 {
		peer := &talking{more: make(chan struct{})}
		target := Wrap(check.Target{Open: func(context.Context, string) (check.Link, error) { return peer, nil }}, &Defect{}, nil)
		link, err := target.Open(t.Context(), "")
		require.NoError(t, err)
		require.NoError(t, link.Close())
		close(peer.more)
		for want := 0; ; want++ {
			line, err := link.Read()
			if err != nil {
				break
			}
			require.Equal(t, fmt.Sprint(want), string(line))
		}
		assert.Equal(t, 20, peer.sent)
	}
}

// talking is a peer that sends the numbers below 20.
type talking struct {
	check.Link
	more chan struct{}
	sent int
}

func (p *talking) Read() ([]byte, error) {
	<-p.more
	if p.sent == 20 {
		return nil, io.EOF
	}
	p.sent++
	return fmt.Append(nil, p.sent-1), nil
}

func (p *talking) Close() error { return nil }
