package work

import (
	"context"
	"fmt"
)

// An Agent is what a task needs of a contender's agent end.
type Agent interface {
	// Update sends update i of the corpus (modulo its length) to the session and
	// returns when the library has taken it.
	Update(ctx context.Context, kind, sessionID string, i int) error
	// ReadFile calls fs/read_text_file and returns the content's length.
	ReadFile(ctx context.Context, sessionID, path string) (int, error)
	// Sync calls SyncMethod.
	Sync(ctx context.Context, params SyncParams) error
}

// RunTask does what the text of a prompt says:
//
//	updates N SYNC    send N updates, calling the client after every SYNC (0: never)
//	mixed N SYNC      the same from the mixed corpus
//	spread N SESSIONS send N updates, to one of SESSIONS sessions after the other
//	read KIND SIZE N  read the file /bench/KIND-SIZE N times
//
// A session id of the form load-N, given to session/load, means "updates N 0".
func RunTask(ctx context.Context, a Agent, sessionID, task string) error {
	var kind string
	var n, every int
	if _, err := fmt.Sscanf(task, "%s %d %d", &kind, &n, &every); err == nil {
		if kind == "spread" {
			return spreadUpdates(ctx, a, n, every)
		}
		return sendUpdates(ctx, a, sessionID, kind, n, every)
	}
	var size int
	if _, err := fmt.Sscanf(task, "read %s %d %d", &kind, &size, &n); err == nil {
		return readFiles(ctx, a, sessionID, kind, size, n)
	}
	return fmt.Errorf("unknown task %q", task)
}

// RunLoad replays the updates that the session id of a session/load asks for.
func RunLoad(ctx context.Context, a Agent, sessionID string) error {
	var n int
	if _, err := fmt.Sscanf(sessionID, "load-%d", &n); err != nil {
		return fmt.Errorf("session %q: %w", sessionID, err)
	}
	return sendUpdates(ctx, a, sessionID, "updates", n, 0)
}

func sendUpdates(ctx context.Context, a Agent, sessionID, kind string, n, every int) error {
	for i := range n {
		if err := a.Update(ctx, kind, sessionID, i); err != nil {
			return fmt.Errorf("sending update %d: %w", i, err)
		}
		if every > 0 && (i+1)%every == 0 {
			if err := a.Sync(ctx, SyncParams{Sent: i + 1}); err != nil {
				return fmt.Errorf("calling the client after update %d: %w", i, err)
			}
		}
	}
	return nil
}

func spreadUpdates(ctx context.Context, a Agent, n, sessions int) error {
	ids := make([]string, sessions)
	for i := range ids {
		ids[i] = sessionID(i)
	}
	for i := range n {
		if err := a.Update(ctx, "updates", ids[i%sessions], i); err != nil {
			return fmt.Errorf("sending update %d: %w", i, err)
		}
	}
	return nil
}

func readFiles(ctx context.Context, a Agent, sessionID, kind string, size, n int) error {
	path := fmt.Sprintf("/bench/%s-%d", kind, size)
	for i := range n {
		got, err := a.ReadFile(ctx, sessionID, path)
		if err != nil {
			return fmt.Errorf("reading file %d: %w", i, err)
		}
		if got != size {
			return fmt.Errorf("reading file %d: %d bytes, want %d", i, got, size)
		}
	}
	return nil
}
