package endpoint_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/endpoint"
)

// piece is a text that a sequence yields after some time.
type piece struct {
	after time.Duration
	text  string
	err   error
}

func pieces(list ...piece) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, p := range list {
			time.Sleep(p.after)
			if !yield(p.text, p.err) {
				return
			}
		}
	}
}

// sent is a chunk and when it was sent, counted from the begin of the sequence.
type sent struct {
	at   time.Duration
	text string
}

// The first text is sent at once, the following ones are joined for 25 ms or up to 2 KiB,
// also while the sequence waits. No chunk ends inside a rune.
func TestJoinText(t *testing.T) {
	const ms = time.Millisecond
	broken := errors.New("the model failed")
	half := strings.Repeat("x", 1024)
	for name, tt := range map[string]struct {
		in   []piece
		want []sent
		err  error
	}{
		"nothing":             {nil, nil, nil},
		"one":                 {[]piece{{0, "a", nil}}, []sent{{0, "a"}}, nil},
		"joined at the end":   {[]piece{{0, "a", nil}, {1 * ms, "b", nil}, {1 * ms, "c", nil}}, []sent{{0, "a"}, {2 * ms, "bc"}}, nil},
		"joined for 25 ms":    {[]piece{{0, "a", nil}, {5 * ms, "b", nil}, {24 * ms, "c", nil}, {time.Second, "d", nil}}, []sent{{0, "a"}, {30 * ms, "bc"}, {1029 * ms, "d"}}, nil},
		"joined up to 2 KiB":  {[]piece{{0, "a", nil}, {1 * ms, half, nil}, {1 * ms, half, nil}, {1 * ms, "b", nil}}, []sent{{0, "a"}, {2 * ms, half + half}, {3 * ms, "b"}}, nil},
		"a rune in two":       {[]piece{{0, "\xc3", nil}, {5 * ms, "\xa4", nil}}, []sent{{5 * ms, "ä"}}, nil},
		"a rune in four":      {[]piece{{0, "a\xf0", nil}, {30 * ms, "\x9f", nil}, {30 * ms, "\x98", nil}, {1 * ms, "\x80b", nil}}, []sent{{0, "a"}, {61 * ms, "😀b"}}, nil},
		"half a rune at last": {[]piece{{0, "a\xf0\x9f", nil}}, []sent{{0, "a"}, {0, "\xf0\x9f"}}, nil},
		"not UTF-8":           {[]piece{{0, "\xff\x80", nil}}, []sent{{0, "\xff\x80"}}, nil},
		"empty texts":         {[]piece{{0, "", nil}, {1 * ms, "a", nil}, {1 * ms, "", nil}}, []sent{{1 * ms, "a"}}, nil},
		"error of the sequence": {[]piece{{0, "a", nil}, {1 * ms, "b", nil}, {1 * ms, "c", broken}, {1 * ms, "d", nil}},
			[]sent{{0, "a"}, {2 * ms, "bc"}}, broken},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []sent
				start := time.Now()
				err := endpoint.JoinText(t.Context(), pieces(tt.in...), func(text string) error {
					got = append(got, sent{time.Since(start), text})
					return nil
				})
				assert.Equal(t, tt.err, err)
				assert.Equal(t, tt.want, got)
				time.Sleep(time.Second)
				synctest.Wait()
				assert.Equal(t, tt.want, got, "nothing is sent after the return")
			})
		})
	}
}

// The sequence ends with the connection and with the ctx.
func TestJoinTextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed := errors.New("closed")
		n := 0
		endless := func(yield func(string, error) bool) {
			for yield("a", nil) {
				n++
				time.Sleep(10 * time.Millisecond)
			}
		}
		err := endpoint.JoinText(t.Context(), endless, func(string) error { return closed })
		require.ErrorIs(t, err, closed)
		assert.Zero(t, n, "after an error of the first chunk")
		first := true
		err = endpoint.JoinText(t.Context(), endless, func(string) error {
			if first {
				first = false
				return nil
			}
			return closed
		})
		require.ErrorIs(t, err, closed)
		ctx, cancel := context.WithTimeout(t.Context(), 95*time.Millisecond)
		defer cancel()
		text := ""
		err = endpoint.JoinText(ctx, endless, func(s string) error { text += s; return nil })
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, strings.Repeat("a", 11), text, "what had arrived is sent")
		assert.PanicsWithValue(t, "middleware", func() {
			first := true
			_ = endpoint.JoinText(t.Context(), endless, func(string) error {
				if first {
					first = false
					return nil
				}
				panic("middleware")
			})
		})
	})
}
