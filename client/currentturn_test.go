package client_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/internal/endpoint/peertest"
)

func TestCurrentTurn(t *testing.T) {
	conn, peer := open(t, &peertest.Client{}, `{}`, nil)
	s := conn.Session("s1")
	assert.Zero(t, conn.CurrentTurn("s1"), "no turn runs")

	first := s.Prompt(t.Context(), acp.Text("hi"))
	m := peer.Expect("session/prompt")
	one := conn.CurrentTurn("s1")
	assert.NotZero(t, one)
	assert.Equal(t, one, conn.CurrentTurn("s1"))
	assert.Zero(t, conn.CurrentTurn("s2"), "another session")
	peer.Answer(m, endTurn)
	_, err := first.Wait()
	require.NoError(t, err)
	assert.Zero(t, conn.CurrentTurn("s1"), "the turn is over")

	second := s.Prompt(t.Context(), acp.Text("hi"))
	m = peer.Expect("session/prompt")
	assert.Greater(t, conn.CurrentTurn("s1"), one)
	peer.Answer(m, endTurn)
	_, err = second.Wait()
	require.NoError(t, err)
}

func TestTurnContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, peer := open(t, &peertest.Client{}, `{}`, nil)
		s := conn.Session("s1")
		free, stop := conn.TurnContext(t.Context(), "s1")
		require.NoError(t, free.Err(), "no turn runs")
		stop()
		assert.Error(t, free.Err())

		turn := s.Prompt(t.Context(), acp.Text("hi"))
		m := peer.Expect("session/prompt")
		one, stopOne := conn.TurnContext(t.Context(), "s1")
		defer stopOne()
		two, stopTwo := conn.TurnContext(t.Context(), "s1")
		stopTwo()
		synctest.Wait()
		require.NoError(t, one.Err())
		other, stopOther := conn.TurnContext(t.Context(), "s2")
		defer stopOther()

		require.NoError(t, s.Cancel(t.Context()))
		<-one.Done()
		assert.ErrorIs(t, context.Cause(one), acp.ErrTurnCancelled)
		assert.ErrorIs(t, context.Cause(two), context.Canceled)
		assert.NoError(t, other.Err(), "another session")
		late, stopLate := conn.TurnContext(t.Context(), "s1")
		defer stopLate()
		assert.ErrorIs(t, context.Cause(late), acp.ErrTurnCancelled)
		peer.Expect("session/cancel")
		peer.Answer(m, endTurn)
		_, err := turn.Wait()
		require.NoError(t, err)
		next, stopNext := conn.TurnContext(t.Context(), "s1")
		defer stopNext()
		assert.NoError(t, next.Err(), "the turn is over")
	})
}
