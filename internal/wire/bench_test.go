package wire_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/envelope"
	"github.com/acpkit/go-sdk/internal/wire"
)

// texts are typical strings of the protocol, 1 MiB each: source code, with an escape about every 30
// bytes, and lines of 63 characters.
func texts(b *testing.B) map[string]string {
	var source strings.Builder
	files, err := filepath.Glob("*.go")
	require.NoError(b, err)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(b, err)
		for _, c := range raw {
			if c < 0x80 {
				source.WriteByte(c)
			}
		}
	}
	const size = 1 << 20
	repeat := func(s string) string { return strings.Repeat(s, size/len(s)+1)[:size] }
	return map[string]string{
		"go":    repeat(source.String()),
		"lines": repeat(strings.Repeat("0123456789abcde ", 4)[:63] + "\n"),
	}
}

func BenchmarkAppendString(b *testing.B) {
	for name, text := range texts(b) {
		b.Run(name, func(b *testing.B) {
			var buf []byte
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				buf = wire.AppendString(buf[:0], text)
			}
		})
	}
}

func BenchmarkReadString(b *testing.B) {
	for name, text := range texts(b) {
		raw := wire.AppendString(nil, text)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				d := wire.NewDecoder(raw)
				var s string
				_ = d.String(&s)
			}
		})
	}
}

func BenchmarkSkipString(b *testing.B) {
	for name, text := range texts(b) {
		raw := wire.AppendString(nil, text)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := envelope.SkipString(raw, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
