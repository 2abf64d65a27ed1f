package work

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

// SessionID is the session that every message of the corpus names.
const SessionID = "sess_0123456789abcdef"

// ModeID is the mode that the round trip works set.
const ModeID = "code"

//go:embed corpus
var corpus embed.FS

//go:embed *.go
var sources embed.FS

// Updates returns the params of the session/update notifications that an agent
// sends in turn, as JSON: kind is "updates" (message chunks of 100 characters)
// or "mixed" (chunks, thoughts, tool calls with diffs, plans).
func Updates(kind string) []json.RawMessage {
	b, err := corpus.ReadFile("corpus/" + kind + ".json")
	if err != nil {
		panic(fmt.Sprintf("work: no corpus %q", kind))
	}
	var all []json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		panic(fmt.Sprintf("work: corpus %q: %v", kind, err))
	}
	return all
}

// Decoded returns Updates as values of a contender's own type.
func Decoded[T any](kind string) []T {
	raw := Updates(kind)
	all := make([]T, len(raw))
	for i, r := range raw {
		if err := json.Unmarshal(r, &all[i]); err != nil {
			panic(fmt.Sprintf("work: update %d of corpus %q: %v", i, kind, err))
		}
	}
	return all
}

// Corpora returns a function for update i of a kind, modulo their number, as a contender's own type.
// It decodes the updates of a kind on the first call. The warm-up makes that call, so neither the
// start of a program nor an idle connection pays for it.
func Corpora[N, U any](update func(notification N) U) func(kind string, i int) U {
	all := map[string]func() []U{}
	for _, kind := range []string{"updates", "mixed"} {
		all[kind] = sync.OnceValue(func() (list []U) {
			for _, n := range Decoded[N](kind) {
				list = append(list, update(n))
			}
			return list
		})
	}
	return func(kind string, i int) U {
		corpus := all[kind]()
		return corpus[i%len(corpus)]
	}
}

// Lengths returns the length in bytes of the text that each update of the
// corpus carries, as the clients sum it up.
func Lengths(kind string) []int64 {
	type update struct {
		Update struct {
			Content json.RawMessage
			Entries []struct{ Content string }
		}
	}
	var all []int64
	for _, u := range Decoded[update](kind) {
		var n int
		var text struct{ Text string }
		var diffs []struct{ OldText, NewText string }
		switch c := u.Update.Content; {
		case len(c) > 0 && c[0] == '[':
			if err := json.Unmarshal(c, &diffs); err != nil {
				panic(err)
			}
		case len(c) > 0:
			if err := json.Unmarshal(c, &text); err != nil {
				panic(err)
			}
		}
		n += len(text.Text)
		for _, d := range diffs {
			n += len(d.OldText) + len(d.NewText)
		}
		for _, e := range u.Update.Entries {
			n += len(e.Content)
		}
		all = append(all, int64(n))
	}
	return all
}

// File returns the content of a file that fs/read_text_file asks for: kind
// "ascii" has a newline every 64 bytes, "go" is source code. Both are ASCII, so
// that size counts bytes and characters.
func File(kind string, size int) string {
	var unit string
	switch kind {
	case "ascii":
		unit = "The quick brown fox jumps over the lazy dog 0123456789 times !!\n"
	case "go":
		unit = goSource()
	default:
		panic(fmt.Sprintf("work: no file kind %q", kind))
	}
	return strings.Repeat(unit, size/len(unit)+1)[:size]
}

// goSource returns the source of this package.
func goSource() string {
	var b strings.Builder
	entries, err := sources.ReadDir(".")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		src, err := sources.ReadFile(e.Name())
		if err != nil {
			panic(err)
		}
		b.Write(src)
	}
	return strings.Map(func(r rune) rune {
		if r >= 0x80 {
			return '?'
		}
		return r
	}, b.String())
}
