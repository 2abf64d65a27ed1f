package stream_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/internal/seed"
	"github.com/acpkit/go-sdk/stream"
)

// naive reads lines in the most obvious way. A line beyond the limit is nil.
func naive(in []byte, limit int, tolerant bool) (want [][]byte, noise [][]byte) {
	lines := bytes.SplitSeq(in, []byte("\n"))
	for line := range lines {
		trimmed := bytes.TrimFunc(line, jsSpace)
		tooLong := len(bytes.TrimSuffix(line, []byte("\r"))) > limit
		switch {
		case len(trimmed) == 0:
		case tooLong:
			want = append(want, nil)
		case tolerant && (trimmed[0] != '{' || !json.Valid(trimmed)):
			noise = append(noise, trimmed)
		default:
			want = append(want, trimmed)
		}
	}
	return want, noise
}

// jsSpace reports whether JavaScript counts r as white space: U+FEFF is, U+0085 is not.
func jsSpace(r rune) bool { return r != 0x85 && unicode.IsSpace(r) || r == 0xFEFF }

// pieces returns its content in reads of the given lengths, repeatedly.
type pieces struct {
	data    []byte
	lengths []byte
	at      int
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.data) == 0 {
		return 0, io.EOF
	}
	n := len(p.data)
	if len(p.lengths) > 0 {
		n = min(n, 1+int(p.lengths[p.at%len(p.lengths)]))
		p.at++
	}
	n = copy(b, p.data[:n])
	p.data = p.data[n:]
	return n, nil
}

var fuzzSeeds = []string{
	"", "\n", "{}\n{}", "\ufeff{}\r\n\u00a0\n[1]\nnoise {\n", "{\"id\":1,\"method\":\"m\"}\n{\"result\":null,\"id\":\"x\"}\n",
	`{"a":[{},[],"\u00e9\\",-1.5e+3,true,false,null]}` + "\n" + `{"a":01}` + "\n" + `{"a":"` + "\x01" + `"}`,
	`{"id":7,"params":"` + strings.Repeat(`\"`, 40) + `","method":"x/y"}` + "\n{\"x\":\"\xe2\x80\"}",
	strings.Repeat("[", 70) + strings.Repeat("]", 70) + "\n", "{\"a\":1}}\n{\"a\"}\n{,}\n{\"a\":1,}\n{\"a\":1 \"b\":2}",
	"{\"a\":" + strings.Repeat("{\"a\":[", 80) + strings.Repeat("]}", 80) + "}\n",
}

// fuzzLines adds lines of the tests above and lines that real programs have written.
func fuzzLines(f *testing.F) (lines [][]byte) {
	for _, s := range fuzzSeeds {
		lines = append(lines, bytes.Split([]byte(s), []byte("\n"))...)
	}
	return append(lines, seed.Short(f, 1<<10)...)
}

func FuzzLines(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add([]byte(s), []byte{0}, uint16(1000), false)
		f.Add([]byte(s), []byte{3, 10, 0}, uint16(1000), true)
		f.Add([]byte(s), []byte{100}, uint16(20), false)
	}
	for i, s := range seed.Short(f, 1<<10) {
		f.Add(s, []byte{byte(i)}, uint16(200+i), i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, in, lengths []byte, limit uint16, tolerant bool) {
		max := int(limit)%2000 + 1
		want, wantNoise := naive(in, max, tolerant)
		var noise []string
		s := stream.Lines(&pieces{data: in, lengths: lengths}, nil, &stream.LinesOptions{
			MaxMessage: max, Tolerant: tolerant,
			OnNoise: func(line string) { noise = append(noise, line) },
		})
		for {
			msg, err := s.Read()
			if err == io.EOF {
				break
			}
			large, skipped := errors.AsType[*stream.TooLargeError](err)
			if tolerant {
				// A line that was not kept may be counted as noise or as a message.
				for skipped == false && len(want) > 0 && want[0] == nil {
					want = want[1:]
				}
				if skipped {
					continue
				}
			}
			require.NotEmpty(t, want, "message %q, error %v", msg, err)
			if want[0] == nil {
				require.True(t, skipped, "%q, %v", msg, err)
				require.Greater(t, large.Size, large.Limit)
			} else {
				require.NoError(t, err)
				require.Equal(t, string(want[0]), string(msg))
				require.NotEmpty(t, msg)
			}
			want = want[1:]
		}
		if !tolerant {
			require.Empty(t, want)
			require.Empty(t, noise)
			return
		}
		for _, left := range want {
			require.Nil(t, left)
		}
		var short []string
		for _, line := range noise {
			if len(line) <= max {
				short = append(short, line)
			}
		}
		for _, line := range wantNoise {
			require.NotEmpty(t, short)
			for len(short) > 1 && string(line) != short[0] {
				short = short[1:] // the rest of a line beyond the limit
			}
			require.Equal(t, string(line), short[0])
			short = short[1:]
		}
	})
}

// FuzzTooLarge compares what Skim finds in a message with what a parser finds.
func FuzzTooLarge(f *testing.F) {
	for _, line := range fuzzLines(f) {
		f.Add(line, []byte{0})
	}
	f.Add([]byte(`{"jsonrpc":"2.0","params":{"id":3,"x":"}{"},"id" : -1.5 , "method":"a\/b"}`), []byte{1})
	f.Add([]byte(`{"error":{"id":1},"id":"a\"b"}`), []byte{2, 0})
	f.Fuzz(func(t *testing.T, line, lengths []byte) {
		line = bytes.TrimFunc(bytes.ReplaceAll(line, []byte("\n"), nil), jsSpace)
		if len(line) < 2 {
			return // not beyond the limit
		}
		s := stream.Lines(&pieces{data: line, lengths: lengths}, nil, &stream.LinesOptions{MaxMessage: 1})
		_, err := s.Read()
		got, ok := errors.AsType[*stream.TooLargeError](err)
		require.True(t, ok, "%v", err)
		require.Equal(t, int64(len(line)), got.Size)
		_, err = s.Read()
		require.Equal(t, io.EOF, err)

		members, duplicate := topLevel(line)
		if members == nil || duplicate || len(line) > 1000 {
			return
		}
		var method string
		if raw := members["method"]; len(raw) > 0 && raw[0] == '"' {
			require.NoError(t, json.Unmarshal(raw, &method))
		}
		if len(method) <= 256 {
			assert.Equal(t, method, got.Method)
		}
		id := members["id"]
		if len(id) > 0 && strings.ContainsRune("{[tf", rune(id[0])) {
			id = nil
		}
		assert.Equal(t, string(id), string(got.ID))
		_, result := members["result"]
		_, failure := members["error"]
		assert.Equal(t, result || failure, got.HasResult)
	})
}

// topLevel returns the members of an object, or nil if line is not an object.
func topLevel(line []byte) (members map[string]json.RawMessage, duplicate bool) {
	if line[0] != '{' || !json.Valid(line) {
		return nil, false
	}
	members = map[string]json.RawMessage{}
	dec := json.NewDecoder(bytes.NewReader(line))
	_, _ = dec.Token()
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, false
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return nil, false
		}
		if _, ok := members[key.(string)]; ok {
			duplicate = true
		}
		members[key.(string)] = value
	}
	return members, duplicate
}
