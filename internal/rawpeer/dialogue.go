package rawpeer

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
)

// Dialogues runs each dialogue of a file as a test, in a synctest bubble. The file is in the txtar
// format: a comment, and then a named section for each dialogue. In a dialogue, a line after > is
// sent, and a line after < must be received. Several < in a row may be received in any order. Other
// lines are comments. Connect returns the peer of a new connection, and a function that ends it.
func Dialogues(t *testing.T, file string, connect func(t *testing.T) (p *Peer, end func())) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	names, dialogues := sections(string(text))
	if len(names) == 0 {
		t.Fatalf("%s has no dialogues", file)
	}
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, end := connect(t)
				p.Play(dialogues[i])
				end()
			})
		})
	}
}

// Play sends and expects the lines of a dialogue; see [Dialogues].
func (p *Peer) Play(dialogue string) {
	p.t.Helper()
	var want []string
	for line := range strings.Lines(dialogue + "\n>") {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "<"); ok {
			want = append(want, rest)
			continue
		}
		if want != nil {
			p.ExpectJSON(want...)
			want = nil
		}
		if rest, ok := strings.CutPrefix(line, ">"); ok && rest != "" {
			p.Send("%s", strings.TrimSpace(rest))
		}
	}
}

var section = regexp.MustCompile(`(?m)^-- (.+) --\n`)

// sections returns the sections of a txtar file. The tests need no more of the format, so the
// module does not require a parser for it.
func sections(text string) (names, contents []string) {
	heads := section.FindAllStringSubmatchIndex(text, -1)
	for i, head := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		names = append(names, text[head[2]:head[3]])
		contents = append(contents, text[head[1]:end])
	}
	return names, contents
}
