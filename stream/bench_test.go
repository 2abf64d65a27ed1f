package stream_test

import (
	"bytes"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/stream"
)

// oneWay moves b.N messages from one end to the other, batch at a time.
func oneWay(b *testing.B, w, r stream.Stream, size, batch int) {
	msg := append(append([]byte(`{"x":"`), bytes.Repeat([]byte("y"), size-8)...), `"}`...)
	msgs := make([][]byte, batch)
	for i := range msgs {
		msgs[i] = msg
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	errs := make(chan error, 1)
	go func() { // ends after b.N messages
		for left := b.N; left > 0; left -= batch {
			if batch == 1 {
				if err := w.Write(msg); err != nil {
					errs <- err
					return
				}
				continue
			}
			if err := stream.FeaturesOf(w).WriteBatch(msgs[:min(batch, left)]); err != nil {
				errs <- err
				return
			}
		}
		errs <- nil
	}()
	for i := 0; i < b.N; i++ {
		if _, err := r.Read(); err != nil {
			b.Fatal(err)
		}
	}
	require.NoError(b, <-errs)
}

func pingPong(b *testing.B, near, far stream.Stream) {
	msg := []byte(`{"jsonrpc":"2.0","id":1,"method":"session/set_mode","params":{}}`)
	b.ReportAllocs()
	go func() { // ends with the close of near
		for {
			m, err := far.Read()
			if err != nil {
				return
			}
			_ = far.Write(m)
		}
	}()
	for i := 0; i < b.N; i++ {
		require.NoError(b, near.Write(msg))
		if _, err := near.Read(); err != nil {
			b.Fatal(err)
		}
	}
	_ = near.Close()
}

var sizes = []struct {
	name        string
	size, batch int
}{{"250B", 250, 1}, {"250Bx32", 250, 32}, {"64KiB", 64 << 10, 1}, {"1MiB", 1 << 20, 1}, {"10MiB", 10 << 20, 1}}

func BenchmarkPipe(b *testing.B) {
	for _, s := range sizes {
		b.Run(s.name, func(b *testing.B) {
			near, far := stream.Pipe()
			oneWay(b, near, far, s.size, s.batch)
		})
	}
	b.Run("pingpong", func(b *testing.B) {
		near, far := stream.Pipe()
		pingPong(b, near, far)
	})
}

// osPipeLines connects two ends by pipes of the operating system.
func osPipeLines(b testing.TB, opts *stream.LinesOptions) (near, far stream.Stream) {
	r1, w1, err := os.Pipe()
	require.NoError(b, err)
	r2, w2, err := os.Pipe()
	require.NoError(b, err)
	return stream.Lines(r1, w2, opts), stream.Lines(r2, w1, opts)
}

func BenchmarkLines(b *testing.B) {
	for _, mode := range []struct {
		name string
		opts *stream.LinesOptions
	}{{"strict", nil}, {"tolerant", &stream.LinesOptions{Tolerant: true}}} {
		for _, s := range sizes {
			b.Run(mode.name+"/"+s.name, func(b *testing.B) {
				near, far := osPipeLines(b, mode.opts)
				defer near.Close()
				defer far.Close()
				oneWay(b, near, far, s.size, s.batch)
			})
		}
	}
	b.Run("pingpong", func(b *testing.B) {
		near, far := osPipeLines(b, nil)
		defer far.Close()
		pingPong(b, near, far)
	})
}

// BenchmarkLinesRead reads from memory, so that the framing alone is measured.
func BenchmarkLinesRead(b *testing.B) {
	for _, tolerant := range []bool{false, true} {
		name := map[bool]string{false: "strict", true: "tolerant"}[tolerant]
		b.Run(name, func(b *testing.B) {
			msg := []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"sess_0123456789abcdef","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` +
				string(bytes.Repeat([]byte("t"), 100)) + `"}}}}` + "\n")
			src := &repeat{line: msg}
			s := stream.Lines(src, io.Discard, &stream.LinesOptions{Tolerant: tolerant})
			b.SetBytes(int64(len(msg)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// repeat is a reader that gives the same line for ever.
type repeat struct {
	line []byte
	at   int
}

func (r *repeat) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		k := copy(p[n:], r.line[r.at:])
		n += k
		r.at = (r.at + k) % len(r.line)
	}
	return n, nil
}

// BenchmarkLinesSkip passes over lines beyond the limit.
func BenchmarkLinesSkip(b *testing.B) {
	for name, unit := range map[string]string{
		"string": `x`, "escapes": `\n\"`, "numbers": `"],["",1.5,{"a":[]}],["`,
	} {
		b.Run(name, func(b *testing.B) {
			line := append(bytes.Repeat([]byte(unit), (1<<20)/len(unit)), "\"]}\n"...)
			line = append([]byte(`{"id":1,"result":["`), line...)
			s := stream.Lines(&repeat{line: line}, io.Discard, &stream.LinesOptions{MaxMessage: 1000})
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Read(); err == nil {
					b.Fatal("was not skipped")
				}
			}
		})
	}
}
