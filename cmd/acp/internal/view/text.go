package view

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/acpkit/go-sdk/cmd/acp/internal/recording"
	"github.com/acpkit/go-sdk/internal/passive"
)

// Text writes a recording as lines: each message, and its faults behind it. It follows a recording
// that is being written until ctx ends. Faults that only the end shows come last.
func Text(ctx context.Context, w io.Writer, r *Recording, reader *recording.Reader) error {
	done := make(chan error, 1)
	go func() { done <- r.Read(ctx, reader) }() // ends with the recording or ctx
	shown := map[int32]int{}                    // faults, by position
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for next, over := int32(0), false; ; {
		r.mu.RLock()
		count := int32(len(r.entries))
		r.mu.RUnlock()
		for ; next < count; next++ {
			if err := r.line(w, next); err != nil {
				return err
			}
			if err := r.faultLines(w, next, shown, ""); err != nil {
				return err
			}
		}
		if over {
			return r.summary(w, shown)
		}
		select {
		case err := <-done:
			if err != nil {
				return err
			}
			over = true
		case <-tick.C:
		}
	}
}

// summary writes the faults that are not written yet, and how many there are.
func (r *Recording) summary(w io.Writer, shown map[int32]int) error {
	total := 0
	for pos := range int32(len(r.entries)) {
		if err := r.faultLines(w, pos, shown, fmt.Sprintf("%6d", r.entries[pos].seq)); err != nil {
			return err
		}
		total += len(r.faults[pos])
	}
	damaged := ""
	if r.damaged != nil {
		damaged = "; " + r.damaged.Error()
	}
	_, err := fmt.Fprintf(w, "%s, %s%s\n", plural(int64(len(r.entries)), "record"), plural(int64(total), "fault"), plain(damaged))
	return err
}

func (r *Recording) line(w io.Writer, pos int32) error {
	rows, err := r.rows([]int32{pos})
	if err != nil {
		return err
	}
	m := rows[0]
	arrow := "->" // from the client
	if m.Dir == recording.Agent {
		arrow = "<-"
	}
	what := m.Method
	switch {
	case m.Kind == recording.Response && m.Latency != nil:
		what += fmt.Sprintf(" responded after %s", (time.Duration(*m.Latency) * time.Microsecond).Round(100*time.Microsecond))
	case m.Kind == recording.Response:
		what += " response"
	case m.Kind != recording.Request && m.Kind != recording.Notification:
		what = string(m.Kind)
	}
	if m.ID != "" {
		what += " id " + m.ID
	}
	_, err = fmt.Fprintf(w, "%6d %10.3f %s %s  %s\n", m.Seq, float64(m.At)/1e6, arrow, plain(what), plain(m.Text))
	return err
}

// faultLines writes the faults of a message that are not written yet.
func (r *Recording) faultLines(w io.Writer, pos int32, shown map[int32]int, where string) error {
	r.mu.RLock()
	faults := append([]passive.Fault(nil), r.faults[pos][shown[pos]:]...)
	r.mu.RUnlock()
	for _, f := range faults {
		if _, err := fmt.Fprintf(w, "%6s %10s    %s %s: %s (%s)\n", where, "", f.Tier, f.Rule, plain(f.Text), f.Fact); err != nil {
			return err
		}
		shown[pos]++
	}
	return nil
}

// plain returns a text without what a terminal would act on: control characters, and those that
// change the direction of text.
func plain(s string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c) || c == '\u2028' || c == '\u2029' {
			return '\uFFFD'
		}
		return c
	}, s)
}
