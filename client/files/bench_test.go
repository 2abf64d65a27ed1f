package files_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/files"
)

var benchTexts = []struct{ name, text string }{
	{"ASCII", strings.Repeat("The quick brown fox jumps over the dog.\n", 1<<20/40)},
	{"multi-byte", mixed(1 << 20)},
}

// mixed returns a text with letters of several scripts in random order, so that a processor cannot
// predict branches.
func mixed(size int) string {
	r := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	for b.Len() < size-3 {
		script := [][2]int{{'a', 26}, {0xe0, 32}, {0x430, 32}, {0xe01, 46}, {0x3041, 83}, {0x4e00, 20_000}}[r.IntN(6)]
		b.WriteRune(rune(script[0] + r.IntN(script[1])))
	}
	return b.String()
}

// BenchmarkRead compares a read with os.ReadFile. It takes at most 1.5 times as long for ASCII, and
// 6 times as long for other text, which must be checked.
func BenchmarkRead(b *testing.B) {
	h := newFixture(b, files.Options{}, nil)
	for i, tt := range benchTexts {
		path := h.at(fmt.Sprint(i))
		h.put(path, tt.text)
		req := &acp.ReadTextFileRequest{SessionID: "s", Path: path}
		b.Run(tt.name, func(b *testing.B) {
			compare(b, len(tt.text), func() {
				_, err := h.ReadTextFile(context.Background(), req)
				require.NoError(b, err)
			}, "os.ReadFile", func() {
				_, err := os.ReadFile(path)
				require.NoError(b, err)
			})
		})
	}
}

// BenchmarkWrite compares a write with os.WriteFile to another name and os.Rename.
func BenchmarkWrite(b *testing.B) {
	h := newFixture(b, files.Options{}, nil)
	text := benchTexts[0].text
	req := &acp.WriteTextFileRequest{SessionID: "s", Path: h.at("a"), Content: text}
	compare(b, len(text), func() {
		_, err := h.WriteTextFile(context.Background(), req)
		require.NoError(b, err)
	}, "WriteFile+Rename", func() {
		require.NoError(b, os.WriteFile(h.at("b.tmp"), []byte(text), 0o644))
		require.NoError(b, os.Rename(h.at("b.tmp"), h.at("b")))
	})
}

// compare runs groups of ours and theirs in turn, so that other load slows both, and each group
// pays for its own garbage. It reports the median ratio of their times.
func compare(b *testing.B, bytes int, ours func(), name string, theirs func()) {
	const group = 20
	timed := func(f func()) time.Duration {
		begun := time.Now()
		for range group {
			f()
		}
		return time.Since(begun)
	}
	var our, their time.Duration
	var times []float64
	for b.Loop() {
		o, t := timed(ours), timed(theirs)
		our, their = our+o, their+t
		times = append(times, o.Seconds()/t.Seconds())
	}
	slices.Sort(times)
	megabytes := float64(len(times)) * group * float64(bytes) / 1e6
	b.ReportMetric(megabytes/our.Seconds(), "MB/s")
	b.ReportMetric(megabytes/their.Seconds(), "MB/s-"+name)
	b.ReportMetric(times[len(times)/2], "times")
	b.ReportMetric(0, "ns/op") // it would be the time of both
}
