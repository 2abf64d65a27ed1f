package view

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/cmd/acp/internal/recording"
	"github.com/acpkit/go-sdk/stream/safetext"
)

// Text writes a recording as lines: each message with its faults below. It follows a recording that is
// being written until ctx ends. At last come the faults that only the end of the recording shows, and a
// line with the number of messages and faults.
func Text(ctx context.Context, w io.Writer, r *Recording) error {
	shown := []int{} // how many faults of each message are written, by position
	err := r.Read(ctx, func() error {
		if len(shown) == len(r.entries) {
			return nil // the record cannot be shown
		}
		shown = append(shown, 0)
		pos := len(shown) - 1
		return cmp.Or(r.line(w, int32(pos)), r.faultLines(w, pos, &shown[pos], ""))
	})
	if err != nil {
		return err
	}
	for pos := range shown {
		if err := r.faultLines(w, pos, &shown[pos], fmt.Sprint(r.entries[pos].Seq)); err != nil {
			return err
		}
	}
	damaged := strings.TrimSuffix("; "+r.damaged, "; ")
	_, err = fmt.Fprintf(w, "%s, %s%s\n", plural(len(r.entries), "record"), plural(r.all.faults, "fault"), line(damaged))
	return err
}

func (r *Recording) line(w io.Writer, pos int32) error {
	rows, err := r.rows([]int32{pos}, &filter{})
	if err != nil {
		return err
	}
	m := rows[0]
	arrow, what := "->", m.What // from the client
	switch m.Dir {
	case recording.Agent:
		arrow = "<-"
	case "":
		arrow = "  "
	}
	switch {
	case m.Latency != nil:
		what += fmt.Sprintf(" responded after %s", (time.Duration(*m.Latency) * time.Microsecond).Round(100*time.Microsecond))
	case m.Kind == recording.Response:
		what += " response"
	case m.Kind != recording.Request && m.Kind != recording.Notification:
		what = string(m.Kind)
	}
	if m.ID != "" {
		what += " id " + m.ID
	}
	if m.Failed {
		what += " error"
	}
	_, err = fmt.Fprintf(w, "%6d %10.3f %s %s  %s\n", m.Seq, float64(m.At)/1e6, arrow, line(what), line(m.Text))
	return err
}

// faultLines writes the faults of a message that are not written yet.
func (r *Recording) faultLines(w io.Writer, pos int, shown *int, where string) error {
	for _, f := range r.entries[pos].Faults[*shown:] {
		if _, err := fmt.Fprintf(w, "%6s %10s    %s %s: %s (%s)\n", where, "", f.Tier, f.Rule, line(f.Text), f.Fact); err != nil {
			return err
		}
		*shown++
	}
	return nil
}

// shownOfLine is the number of bytes of each text of a message in its line.
const shownOfLine = 1000

func line(text string) string { return safetext.OneLine(text, shownOfLine) }
