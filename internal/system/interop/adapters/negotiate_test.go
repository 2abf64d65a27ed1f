package adapters_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/client"
	"github.com/acpkit/go-sdk/client/permission"
	model "github.com/acpkit/go-sdk/client/thread"
	client2 "github.com/acpkit/go-sdk/draft2/client"
	"github.com/acpkit/go-sdk/draft2/connect"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/stream"
)

// One program holds the same conversation in both versions, with version 1 chosen by the
// program, and what is shown of it is the same.
func TestEitherVersion(t *testing.T) {
	eachAdapter(t, func(t *testing.T, a *adapter) {
		shown := map[int][]string{}
		for _, only := range []int{0, 1} {
			version := max(1, 2-only)
			t.Run(fmt.Sprint("version ", version), func(t *testing.T) {
				e := &either{place: newWorkplace(t, a)}
				rec := &recording{place: e.place}
				var id string
				t.Run("first process", func(t *testing.T) {
					conn := e.connect(t, rec, only, version)
					id = e.converse(t, conn)
				})
				require.NotEmpty(t, id)
				t.Run("second process", func(t *testing.T) {
					conn := e.connect(t, rec, only, version)
					shown[version] = e.load(t, conn, id)
				})
				if version == 1 {
					rec.write(t, "transcripts", "")
				}
			})
		}
		assert.Equal(t, shown[1], shown[2])
	})
}

// either is a conversation in either version.
type either struct {
	place *workplace
	asked int
	pick  string
	live  []string // who said what, and the tool calls, before the history was loaded
}

func (e *either) connect(t *testing.T, rec *recording, only, version int) *connect.Conn {
	t.Helper()
	policy := permission.New(&permission.Options{Ask: func(_ context.Context, q *permission.Question) (string, error) {
		e.asked++
		return q.Pick(e.pick), nil
	}})
	ctx, cancel := context.WithTimeout(context.Background(), conversationTimeout)
	t.Cleanup(cancel)
	dropped := func(method string, err error) { t.Errorf("dropped %s: %v", method, err) }
	conn, err := connect.Connect(ctx, func(context.Context) (stream.Stream, error) {
		p, err := stream.Command(e.place.command(), &stream.CommandOptions{
			OnNoise: func(line string) { t.Errorf("the agent wrote what is no message: %s", line) },
		})
		if err != nil {
			return nil, err
		}
		return rec.tap(p, ""), nil
	}, &connect.Options{
		Permission: policy, Only: only, Logger: pairtest.StrictLogger(t),
		ConnV1: &client.Options{OnDropped: dropped}, ConnV2: &client2.Options{OnDropped: dropped},
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, conn.Close())
		assert.NoError(t, conn.Wait())
	})
	assert.Equal(t, version, conn.ProtocolVersion())
	info, ok := conn.Info()
	assert.True(t, ok)
	assert.Equal(t, "@agentclientprotocol/"+e.place.adapter.name, info.Name)
	assert.Equal(t, e.place.adapter.version, info.Version)
	f := conn.Features()
	assert.True(t, f.Load && f.Resume && f.List && f.Close && f.Delete, "%+v", f)
	return conn
}

// converse holds the conversation and returns the id of the session.
func (e *either) converse(t *testing.T, conn *connect.Conn) string {
	ctx := t.Context()
	s, err := conn.StartSession(ctx, &connect.SessionParams{Cwd: e.place.dir})
	require.NoError(t, err)
	require.NoError(t, s.SetOption(ctx, "mode", e.place.adapter.asking))
	prompt := func(word string) model.Turn {
		turn, err := s.Prompt(ctx, connect.Text(scriptMark+word)).Wait()
		require.NoError(t, err)
		assert.Equal(t, model.StateIdle, turn.State)
		return turn
	}
	assert.Equal(t, "end_turn", prompt("say").StopReason)
	assert.Equal(t, "end_turn", prompt("think").StopReason)
	e.pick = permission.AllowOnce
	assert.Equal(t, "end_turn", prompt(e.place.writing(t)).StopReason)
	assert.Equal(t, "new\n", e.place.text(t))
	assert.Equal(t, 1, e.asked)
	e.pick = permission.RejectOnce
	prompt(e.place.writing(t))
	assert.Equal(t, "old\n", e.place.text(t))
	assert.Equal(t, 2, e.asked)
	prompt("run")

	turn := s.Prompt(ctx, connect.Text(scriptMark+"wait"))
	for now := range s.Thread().Watch(ctx) {
		if all := told(now); all[len(all)-1] == "agent: I wait." {
			break
		}
	}
	require.NoError(t, s.Cancel(ctx))
	end, err := turn.Wait()
	require.NoError(t, err)
	assert.Equal(t, "cancelled", end.StopReason)
	assert.Equal(t, "end_turn", prompt("say").StopReason)
	e.live = told(s.Thread().Snapshot())

	found := false
	for info, err := range conn.Sessions(ctx, e.place.dir) {
		require.NoError(t, err)
		found = found || info.ID == s.ID()
	}
	assert.True(t, found)
	require.NoError(t, s.Close(ctx))
	return s.ID()
}

// load opens the session with its history and returns what the history shows.
func (e *either) load(t *testing.T, conn *connect.Conn, id string) []string {
	ctx := t.Context()
	s, err := conn.LoadSession(ctx, id, &connect.SessionParams{Cwd: e.place.dir})
	require.NoError(t, err)
	history := told(s.Thread().Snapshot())
	_, err = s.Prompt(ctx, connect.Text(scriptMark+"say")).Wait()
	require.NoError(t, err)
	require.NoError(t, s.Close(ctx))
	s, err = conn.ResumeSession(ctx, id, &connect.SessionParams{Cwd: e.place.dir})
	require.NoError(t, err)
	_, err = s.Prompt(ctx, connect.Text(scriptMark+"say")).Wait()
	require.NoError(t, err)
	require.NoError(t, conn.DeleteSession(ctx, id))
	return append(e.live, history...)
}

// told returns who said what, and what became of the tool calls.
func told(s *model.Snapshot) []string {
	var all []string
	for _, item := range s.Items.All() {
		switch item := item.(type) {
		case *model.Message:
			all = append(all, line(item))
		case *model.ToolCall:
			all = append(all, item.Kind+": "+item.Title+" "+item.Status)
		}
	}
	return all
}
