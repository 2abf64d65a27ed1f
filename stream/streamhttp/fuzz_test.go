package streamhttp_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/stream"
	"github.com/acpkit/go-sdk/stream/streamhttp"
)

// plainEvents reads events as the standard says, from the whole text at once. Only an event
// that the end cuts counts as well, if none has an id.
func plainEvents(text string) (all []string) {
	text = strings.TrimPrefix(text, "\ufeff")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	text = strings.TrimSuffix(text, "\n") // it ends a line and begins none
	var data []string
	numbered := false
	for line := range strings.SplitSeq(text, "\n") {
		field, value, _ := strings.Cut(line, ":")
		switch {
		case line == "" && data != nil:
			all, data = append(all, strings.Join(data, "\n")), nil
		case field == "data":
			data = append(data, strings.TrimPrefix(value, " "))
		case strings.HasPrefix(line, "id:"):
			numbered = strings.TrimPrefix(value, " ") != ""
		}
	}
	if data != nil && !numbered {
		all = append(all, strings.Join(data, "\n"))
	}
	return all
}

func FuzzEvents(f *testing.F) {
	for _, s := range []string{
		"data: a\n\n", "data: a\r\ndata: b\r\n\r\n", "data:a\r\rdata\r\r", "\ufeffdata: x\n\n", ":\n\nid: 1\nevent: e\ndata: x\n\n", "data: a", "datax: a\n\n",
		"\n\n\n", "data:\n\ndata: \n\n", "id: " + strings.Repeat("x", 2000) + "\ndata: y\n\n", "data: " + strings.Repeat("y", 9000) + "\n\n", "\xef\xbb", "\xef\xbbdata: x\n\n", "d", "data: x\r", "id: 1\ndata: a\n\ndata: b", "id: 1\ndata: a\nid:\ndata: b\n",
		"id: 1\ndata: a\nid:", "data: a\nid: 1",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		want := plainEvents(string(text))
		for name, r := range map[string]io.Reader{"whole": bytes.NewReader(text), "byte by byte": iotest.OneByteReader(bytes.NewReader(text))} {
			all, _, err := streamhttp.ReadEvents(r, 1<<20)
			require.ErrorIs(t, err, io.EOF, name)
			require.Len(t, all, len(want), name)
			for i := range want {
				require.Equal(t, want[i], string(all[i]), name)
			}
		}
		_, _, err := streamhttp.ReadEvents(bytes.NewReader(text), 3)
		var long *stream.TooLargeError
		require.True(t, errors.Is(err, io.EOF) || errors.As(err, &long))
	})
}
